"""Values spread from smaller ones, which are made in slices where only slices are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from peak_memory import peak_bytes
from quern.torch_backend.slices import sliced
from torch._higher_order_ops.associative_scan import associative_scan
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


def wave(*shape: int) -> torch.Tensor:
    return torch.linspace(-1.0, 1.0, torch.Size(shape).numel()).reshape(shape).sin()


def traced(function: Callable[..., Any], *inputs: torch.Tensor) -> GraphModule:
    return make_fx(function, tracing_mode="fake")(*inputs)


def largest(module: GraphModule) -> int:
    """Elements of the largest value that is no view."""
    values = [node.meta.get("val") for node in module.graph.nodes]
    return max(v.numel() for v in values if isinstance(v, torch.Tensor) and 0 not in v.stride())


def columns(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """An outer product, a sum of which is of neighbours."""
    x = (a[:, None] * b).exp()
    return x[:, ::2] + x[:, 1::2]


def turned(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = (a[:, None] * b).permute(1, 0)
    return x[::2].relu() - x[1::2]


def halves(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    first, second = (a[:, None] + b).tanh().chunk(2, 1)
    return first * second


def rows(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    return x[0] + x[-1]


def typed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b * torch.tensor(2.0, dtype=torch.float64)
    return x[:, ::2] + x[:, 1::2]


APART = [columns, turned, halves, rows, typed]


@pytest.mark.parametrize("function", APART)
def test_readers_of_slices_make_them(function: Callable[..., torch.Tensor]) -> None:
    inputs = wave(16), wave(12)
    module = traced(function, *inputs)
    other = sliced(module)
    assert largest(module) == 16 * 12
    assert largest(other) < 16 * 12
    torch.testing.assert_close(other(*inputs), function(*inputs), rtol=0, atol=0)
    for old, new in zip(outputs(module), outputs(other), strict=True):
        assert (new.dtype, new.stride()) == (old.dtype, old.stride())


def outputs(module: GraphModule) -> list[torch.Tensor]:
    return [node.meta["val"] for node in module.graph.output_node().all_input_nodes]


def whole(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    return x[:, ::2].sum() + x.sum()


def given_out(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x = a[:, None] * b
    return x, x[:, ::2] + x[:, 1::2]


def slice_given_out(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x = a[:, None] * b
    return x[0], x[1].exp()


def often(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    return x[:, 2:] + x[:, 1:-1] + x[:, :-2]


def many(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    return torch.stack([x[:, i].exp() for i in range(12)])


def as_large(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = torch.mm(a[:, None], b[None]).exp()
    return x[:, ::2] + x[:, 1::2]


def drawn(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = torch.bernoulli((a[:, None] * b).sigmoid())
    return x[:, ::2] + x[:, 1::2]


def reshaped(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    return x[:8].view(-1) * x[8:].sum() + x[0, 0]


def written(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    x = a[:, None] * b
    a.add_(1)
    return x[:, ::2] + x[:, 1::2]


LEFT = [whole, given_out, slice_given_out, often, many, as_large, reshaped]
CHANGING = [drawn, written]


@pytest.mark.parametrize("function", LEFT + CHANGING)
def test_others_are_left_alone(function: Callable[..., torch.Tensor]) -> None:
    module = traced(function, wave(16), wave(12))
    before = str(module.graph)
    assert sliced(module) is module
    assert str(module.graph) == before


@pytest.mark.filterwarnings("error:Raw SymInt")
@pytest.mark.parametrize("function", APART + LEFT)
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_as_eager(function: Callable[..., Any], dynamic: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="quern", fullgraph=True, dynamic=dynamic)
    for n in (16, 24):
        inputs = wave(n), wave(12)
        ours, eager = compiled(*inputs), function(*inputs)
        torch.testing.assert_close(ours, eager)
        if isinstance(eager, torch.Tensor):
            assert ours.stride() == eager.stride()


def test_gradients_as_eager() -> None:
    def gradients(call: Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        a, b = wave(16).requires_grad_(), wave(12).requires_grad_()
        call(a, b).square().sum().backward()
        return [a.grad, b.grad]  # type: ignore[list-item]

    for ours, eager in zip(
        gradients(torch.compile(columns, backend="quern")), gradients(columns), strict=True
    ):
        torch.testing.assert_close(ours, eager)


def test_a_scan_needs_no_more_memory_than_its_levels() -> None:
    def step(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    def function(gate: torch.Tensor, x: torch.Tensor, width: torch.Tensor) -> torch.Tensor:
        gates = (gate[:, :, None] * width).sigmoid()
        _, states = associative_scan(
            step, (gates, x[:, :, None] * width), dim=1, combine_mode="generic"
        )
        return states.sum(-1)

    inputs = wave(16, 64), wave(16, 64), wave(256)
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    torch.testing.assert_close(compiled(*inputs), function(*inputs))
    spread = 16 * 64 * 256 * 4
    assert peak_bytes(lambda: compiled(*inputs)) < 3 * spread
