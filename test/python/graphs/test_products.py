"""Products of compiled graphs: own ones where they were measured to win, ATen's elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from targets import has_tiles, is_wide, vendor
from torch.nn import functional


def run(function: Callable[..., torch.Tensor], *inputs: Any, **options: str) -> dict[str, Any]:
    torch._dynamo.reset()
    quern.reset_counters()
    compiled = torch.compile(function, backend="quern", options=options)
    torch.testing.assert_close(compiled(*inputs), function(*inputs), rtol=1e-4, atol=1e-4)
    counts: dict[str, Any] = quern.counters()
    assert not counts["fallbacks"]
    return counts


def block(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The operators stand around a product that sees two of the three axes as one."""
    return functional.gelu(functional.linear(x * 2, w, b))


def test_product_with_what_is_around_it() -> None:
    inputs = torch.randn(3, 37, 96), torch.randn(70, 96), torch.randn(70)
    counts = run(block, *inputs, preferred="own")
    assert (counts["launches"], counts["preferred"]) == (1, {})


@pytest.mark.parametrize("shape", [(5, 96, 70), (111, 13, 70), (111, 96, 7), (12000, 96, 70)])
def test_classes_that_aten_is_given(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    inputs = torch.randn(rows, depth), torch.randn(columns, depth), torch.randn(columns)
    assert run(block, *inputs)["preferred"] == {"aten::mm": 1}
    assert run(block, *inputs, preferred="own")["preferred"] == {}


def test_narrow_types_round_once() -> None:
    inputs = [torch.randn(64, 64, dtype=torch.bfloat16) for _ in range(2)]
    bias = torch.randn(64, dtype=torch.bfloat16)
    counts = run(functional.linear, *inputs, bias)
    assert counts["preferred"] == {"aten::addmm": 1}


def test_layouts_and_batches() -> None:
    a, b = torch.randn(128, 72), torch.randn(128, 80)
    given = {} if is_wide() else {"aten::mm": 1}
    assert run(lambda x, y: x.t() @ y + 1, a, b)["preferred"] == given
    a, b = a.t().contiguous(), b.t().contiguous()
    assert run(lambda x, y: x @ y.t() + 1, a, b)["preferred"] == given
    q, k = torch.randn(2, 3, 66, 64), torch.randn(2, 3, 70, 64)
    assert run(lambda x, y: x @ y.mT + 1, q, k)["preferred"] == {}


def test_who_makes_a_product_follows_the_machine() -> None:
    inputs = torch.randn(128, 72), torch.randn(72, 80)
    given = {"aten::mm": 1}
    alone = {} if is_wide() and vendor() != "GenuineIntel" else given
    assert run(torch.mm, *inputs)["preferred"] == alone
    assert run(torch.mm, *inputs, preferred="own")["preferred"] == {}
    joined = {} if is_wide() else given
    assert run(lambda x, y: torch.relu(x @ y), *inputs)["preferred"] == joined


@pytest.mark.parametrize(("depth", "columns"), [(16, 1), (1, 16)])
def test_thin_products_of_a_batch(depth: int, columns: int) -> None:
    counts = run(torch.bmm, torch.randn(6, 40, depth), torch.randn(6, depth, columns))
    assert (counts["launches"], counts["preferred"]) == (1, {})


FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def is_ours(call: Callable[..., torch.Tensor], inputs: list[torch.Tensor]) -> bool:
    """Whether the library makes the attention of a call, whose values must be right."""
    torch._dynamo.reset()
    quern.reset_counters()
    compiled = torch.compile(call, backend="quern")
    exact = call(*(each.double() for each in inputs))
    room = 4 * torch.finfo(inputs[0].dtype).eps
    torch.testing.assert_close(compiled(*inputs).double(), exact, rtol=room, atol=room)
    preferred = quern.counters()["preferred"]
    assert preferred in ({}, {FLASH: 1})
    return not preferred


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("form", ["full", "causal", "masked"])
def test_who_makes_attention(dtype: torch.dtype, form: str) -> None:
    """Ours was measured where vectors have 64 bytes and no registers of tiles help ATen."""

    def heads(*given: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(*given, is_causal=form == "causal")

    inputs = [torch.randn(2, 3, 40, 32).to(dtype) for _ in range(3)]
    if form == "masked":
        inputs.append(torch.randn(40, 40).to(dtype))
    assert is_ours(heads, inputs) == (is_wide() and not has_tiles())


@pytest.mark.parametrize(("queries", "keys"), [(1, 80), (33, 80), (32, 2000), (40, 1000), (40, 20)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_who_makes_attention_of_few_queries(dtype: torch.dtype, queries: int, keys: int) -> None:
    """Few read the keys in place; packing these pays for many, against ATen's speed in the type."""
    ours = queries <= 32 or 4 * queries >= keys or (keys <= 1024 and dtype == torch.float16)
    inputs = [torch.randn(2, 3, size, 32).to(dtype) for size in (queries, keys, keys)]
    call = functional.scaled_dot_product_attention
    assert is_ours(call, inputs) == (ours and is_wide() and not has_tiles())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shared", [1, 3])
def test_who_makes_derivatives_of_attention(dtype: torch.dtype, causal: bool, shared: int) -> None:
    """Few keys: ours but for those of f32 that no causal mask halves. So many heads share keys."""
    heads_of = (6, 6 // shared, 6 // shared, 6)
    inputs = [torch.randn(2, count, 40, 32).to(dtype) for count in heads_of]
    room = max(4 * torch.finfo(dtype).eps, 4e-6)

    def heads(*given: torch.Tensor) -> torch.Tensor:
        call = functional.scaled_dot_product_attention
        return call(*given, is_causal=causal, enable_gqa=True)

    def gradients(call: Callable[..., torch.Tensor], given: list[torch.Tensor]) -> Any:
        leaves = [each.detach().requires_grad_() for each in given[:3]]
        return torch.autograd.grad(call(*leaves), leaves, given[3])

    known = gradients(heads, [each.double() for each in inputs])
    torch._dynamo.reset()
    own = torch.compile(heads, backend="quern", options={"preferred": "own", "fallback": "error"})
    for mine, exact in zip(gradients(own, inputs), known, strict=True):
        torch.testing.assert_close(mine.double(), exact, rtol=room, atol=room)
    torch._dynamo.reset()
    quern.reset_counters()
    gradients(torch.compile(heads, backend="quern"), inputs)
    ours = is_wide() and (causal or dtype != torch.float32)
    ours &= dtype == torch.float16 or not has_tiles()
    assert (FLASH + "_backward" not in quern.counters()["preferred"]) == ours
