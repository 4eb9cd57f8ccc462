"""`flex_attention` in compiled functions: one kernel with the functions given to it inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
]

SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])
DOCUMENTS = torch.arange(70) // 25


def tensors(batch: int = 2, rows: int = 70, pairs: int = 4) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows)
    shapes = (batch, 4, rows, 16), (batch, pairs, 70, 16), (batch, pairs, 70, 16)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def slopes(score: Any, batch: Any, head: Any, row: Any, column: Any) -> Any:
    return score + SLOPES[head] * (column - row)


def capped(score: Any, batch: Any, head: Any, row: Any, column: Any) -> Any:
    return 20 * torch.tanh(score / 20)


def window(batch: Any, head: Any, row: Any, column: Any) -> Any:
    return (row >= column) & (row - column < 9)


def documents(batch: Any, head: Any, row: Any, column: Any) -> Any:
    return (DOCUMENTS[row] == DOCUMENTS[column]) & (row >= column)


def nothing_for_some(batch: Any, head: Any, row: Any, column: Any) -> Any:
    return (row % 3 > 0) & (column < row)


def masked(mask: Callable[..., Any], **options: Any) -> Callable[..., torch.Tensor]:
    block = create_block_mask(mask, None, None, 70, 70, device="cpu")
    return lambda q, k, v: flex_attention(q, k, v, block_mask=block, **options)


CASES: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "plain": (flex_attention, tensors()),
    "slopes": (lambda q, k, v: flex_attention(q, k, v, score_mod=slopes), tensors(rows=33)),
    "capped, in a window": (masked(window, score_mod=capped, scale=0.5), tensors()),
    "documents": (masked(documents), tensors()),
    "rows of nothing": (masked(nothing_for_some), tensors(batch=1)),
    "heads share": (masked(window, enable_gqa=True), tensors(pairs=2)),
    "permuted": (
        masked(window),
        [x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors()],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, inputs = CASES[name]
    explained = quern.explain(function, *inputs)
    exact = function(*(x.double() for x in inputs))
    theirs = function(*inputs)
    assert not explained.fallbacks
    assert explained.output.stride() == theirs.stride()
    torch.testing.assert_close(explained.output.double(), exact, rtol=1e-5, atol=2e-6)


def test_is_one_kernel() -> None:
    function, inputs = CASES["capped, in a window"]
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    compiled(*inputs)
    quern.reset_counters()
    compiled(*inputs)
    assert (quern.counters()["launches"], quern.counters()["preferred"]) == (2, {})


def test_log_sums_and_narrow_types() -> None:
    def function(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        out, sums = flex_attention(q, k, v, score_mod=slopes, return_aux=AuxRequest(lse=True))
        return out, sums.lse

    compiled = torch.compile(function, backend="quern", fullgraph=True)
    inputs = [x.bfloat16() for x in tensors()]
    for mine, exact in zip(compiled(*inputs), function(*(x.double() for x in inputs)), strict=True):
        torch.testing.assert_close(mine.double(), exact.double(), rtol=2e-2, atol=2e-2)


def test_other_sizes_need_no_other_kernel() -> None:
    compiled = torch.compile(CASES["slopes"][0], backend="quern", fullgraph=True, dynamic=True)
    for rows in (9, 33, 64):
        inputs = tensors(rows=rows)
        theirs = flex_attention(*inputs, score_mod=slopes)
        torch.testing.assert_close(compiled(*inputs), theirs, rtol=1e-4, atol=1e-5)
