"""Nested tensors with ragged parts: their lengths pass through graphs, and kernels do the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def ragged(lengths: tuple[int, ...], width: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(lengths))
    parts = [torch.randn(length, width, generator=generator) for length in lengths]
    nested: torch.Tensor = torch.nested.nested_tensor(parts, layout=torch.jagged)
    return nested


def check_parts(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    assert ours.is_nested
    torch.testing.assert_close(list(ours.unbind()), list(theirs.unbind()), rtol=1e-4, atol=1e-5)


WEIGHT = torch.linspace(-1, 1, 20).view(4, 5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.sin() @ WEIGHT).cos(),
        lambda x: functional.layer_norm(x + x.mean(-1, keepdim=True), (4,)) * 2,
        lambda x: x.transpose(1, 2) * 3,
    ],
)
def test_values(function: Callable[..., torch.Tensor]) -> None:
    compiled = torch.compile(function, backend="quern")
    quern.reset_counters()
    for lengths in ((2, 3), (4, 1, 3), (5, 5)):
        x = ragged(lengths, 4)
        check_parts(compiled(x), function(x))
    assert quern.counters()["launches"] > 0
    assert quern.counters()["fallbacks"] == {}


@pytest.mark.filterwarnings("ignore")
def test_gradients() -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.LayerNorm(6))
    compiled = torch.compile(layers, backend="quern")
    for lengths in ((2, 3), (4, 1, 3)):
        outcomes: list[Any] = []
        for call in (compiled, layers):
            layers.zero_grad()
            x = ragged(lengths, 4).requires_grad_()
            y = call(x)
            y.values().sin().sum().backward()
            assert x.grad is not None
            gradients = [p.grad for p in layers.parameters()]
            outcomes.append([y.values().detach(), x.grad.values(), gradients])
        torch.testing.assert_close(outcomes[0], outcomes[1], rtol=1e-4, atol=1e-5)


def padded(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).to_padded_tensor(-1.0).cos()


@pytest.mark.filterwarnings("ignore")
def test_padding() -> None:
    compiled = torch.compile(padded, backend="quern")
    quern.reset_counters()
    for lengths in ((3, 5), (1, 4, 0, 2), (6, 6)):
        outcomes = []
        for call in (compiled, padded):
            x = ragged(lengths, 4).requires_grad_()
            y = call(x)
            y.sin().sum().backward()
            assert x.grad is not None
            outcomes.append([y.detach(), x.grad.values()])
        torch.testing.assert_close(outcomes[0], outcomes[1])
    assert quern.counters()["fallbacks"] == {}


OFFSETS = torch.tensor([0, 2, 2, 7, 9])


def test_between_parts_and_padding() -> None:
    """What lies past the padded length is left out; a part that has no room is refused."""
    into = torch.ops.aten._jagged_to_padded_dense_forward
    out_of = torch.ops.aten._padded_dense_to_jagged_forward
    options = {"fallback": "error"}
    values = torch.randn(9, 3)
    for length in (3, 5, 7):

        def pad(values: torch.Tensor, ends: torch.Tensor, n: int = length) -> torch.Tensor:
            return into(values, [ends], [n], 0.5)

        ours = torch.compile(pad, backend="quern", options=options)(values, OFFSETS)
        torch.testing.assert_close(ours, pad(values, OFFSETS))

    def take(dense: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        return out_of(dense, [ends], 9)

    compiled = torch.compile(take, backend="quern", options=options)
    dense = torch.randn(4, 5, 3)
    torch.testing.assert_close(compiled(dense, OFFSETS), take(dense, OFFSETS))
    with pytest.raises(RuntimeError, match="length 5"):
        take(dense[:, :3], OFFSETS)
    with pytest.raises(IndexError, match="out of range"):
        compiled(dense[:, :3].contiguous(), OFFSETS)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_repeats_of_a_known_sum(dtype: torch.dtype) -> None:
    def repeated(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        return torch.repeat_interleave(x, counts, 0, output_size=7).sin()

    options = {"fallback": "error"}
    compiled = torch.compile(repeated, backend="quern", fullgraph=True, options=options)
    places = torch.compile(
        lambda counts: torch.repeat_interleave(counts, output_size=7),
        backend="quern",
        options=options,
    )
    x = torch.randn(4, 3)
    for counts in ([1, 2, 0, 4], [7, 0, 0, 0], [0, 0, 0, 7]):
        given = torch.tensor(counts, dtype=dtype)
        torch.testing.assert_close(compiled(x, given), repeated(x, given))
        torch.testing.assert_close(places(given), torch.repeat_interleave(given, output_size=7))
    # Eager refuses these too, of the last one after it has written past the end.
    for counts in ([1, 2, 0, 3], [1, 2, 0, 5], [9, -1, -1, 0]):
        with pytest.raises(RuntimeError, match="must not be negative and sum to"):
            compiled(x, torch.tensor(counts, dtype=dtype))
