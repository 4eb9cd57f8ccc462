"""Graphs that once gave something else than eager, in their smallest form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from quern.torch_backend.state import state

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def check(function: Callable[..., Any], *inputs: Any, **options: Any) -> None:
    """Values and, of the inputs that want them, gradients equal eager's."""
    compiled = torch.compile(function, backend="quern", **options)
    outcomes = []
    for call in (compiled, function):
        own = [_twin(value) for value in inputs]
        output = call(*own)
        leaves = [i for i in own if isinstance(i, torch.Tensor) and i.requires_grad]
        gradients = torch.autograd.grad(output.sum(), leaves, allow_unused=True) if leaves else ()
        outcomes.append((output, gradients))
    torch.testing.assert_close(outcomes[0], outcomes[1], rtol=1e-4, atol=1e-5)


def _twin(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def wanting(*shape: int) -> torch.Tensor:
    return torch.linspace(-1, 2, torch.Size(shape).numel()).sin().view(shape).requires_grad_()


@pytest.mark.parametrize("name", ["std", "var"])
def test_float_made_of_a_symbolic_size(name: str) -> None:
    """The backward multiplies by `2.0 / (float(s0) - 1)`."""
    check(getattr(torch, name), wanting(5, 7), dynamic=True)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_kernel_chosen_by_a_number(p: float) -> None:
    """`[P: match p {…}]` of a kernel that is written into a group."""
    check(lambda x: torch.linalg.vector_norm(x * 2 + 5, p, dim=1) + 1, wanting(5, 7))
    check(lambda x, y: torch.cdist(x, y, p) + 1, wanting(4, 3), wanting(6, 3) + 9)


def test_kernel_chosen_by_a_number_known_when_it_runs() -> None:
    def norm(x: torch.Tensor, p: float) -> torch.Tensor:
        return torch.linalg.vector_norm(x * 2, p, dim=1)

    compiled = torch.compile(norm, backend="quern", dynamic=True)
    x = wanting(5, 7).detach()
    for p in (3.0, 2.0, 1.0, float("inf"), 1.5):
        torch.testing.assert_close(compiled(x, p), norm(x, p))


@pytest.mark.parametrize("dim", [0, 1])
def test_indices_cover_a_part(dim: int) -> None:
    """The other axes of the index are shorter than those of what is indexed."""
    x, index = wanting(10, 5), torch.tensor([[0, 3], [4, 1], [2, 2]])
    source = wanting(4, 3).detach()
    check(lambda x: x.gather(dim, index), x)
    check(lambda x, source: x.scatter_add(dim, index, source), x, source)
    check(lambda x: x.detach().scatter(dim, index, 0.5), x.detach())


def test_condition_on_a_size_that_data_decide() -> None:
    """`nonzero` brings `u0`, and an assertion is given `u0 >= 0`, not `u0`."""
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(torch.nonzero, backend="quern", fullgraph=True)
        for x in (torch.zeros(2, 3), torch.eye(4), torch.tensor(2.0)):
            assert torch.equal(compiled(x), x.nonzero())


def test_numbers_of_the_host_keep_their_types() -> None:
    def numbers(x: torch.Tensor) -> tuple[Any, ...]:
        number = x.sum().item()
        return (x > 0).any().item(), number, x.long().max().item(), x * number

    x = torch.tensor([2.0, -1.0])
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        ours = torch.compile(numbers, backend="quern", fullgraph=True)(x)
    assert repr(ours) == repr(numbers(x))


def test_window_along_an_expanded_axis() -> None:
    """The lanes of `y.at(C = i)` read one element where `C` is stepped over by 0."""

    def centred(x: torch.Tensor) -> torch.Tensor:
        pooled = torch.nn.functional.avg_pool2d(x, 3, 1, 1)
        return (pooled - pooled.mean(3, keepdim=True)) * 2

    check(lambda x: centred(x).square(), wanting(2, 3, 5, 9))
    check(lambda x: x.expand(7, 9).flip(1) + 1, wanting(7, 1))


def test_mask_of_an_indexed_read_lies_along_the_last_axes() -> None:
    """Where the indices are of the first axis, a mask of their shape is not for them."""
    read = torch.ops.aten._unsafe_masked_index
    x, index = torch.arange(9.0).view(3, 3), torch.tensor([2, 0, 1])
    mask = torch.tensor([True, False, True])
    check(lambda x: read(x, mask, [index, None], 7), x)
    check(lambda x: read(x, mask, [None, index], 7), x)


def test_nothing_is_computed_where_there_is_no_element() -> None:
    """Memory is taken, with eager's strides, and no operator of ATen's is called."""
    quern.reset_counters()
    check(lambda x: (x.sin(), x.t().frac() + 1, torch.igamma(x, x)), torch.rand(0, 3))
    check(lambda x: x[3:].cumsum(1).sum(0), torch.rand(3, 4))
    assert quern.counters()["fallbacks"] == {}


def test_memory_alone_is_no_call_of_aten() -> None:
    def taken(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        made = torch.empty_permuted((2, 3, 4), (2, 0, 1)), x.new_empty_strided((2, 5), (1, 2))
        return *made, torch.empty_like(x.t()).fill_(3)

    quern.reset_counters()
    ours = torch.compile(taken, backend="quern", fullgraph=True)(torch.ones(3, 5))
    assert [t.stride() for t in ours] == [t.stride() for t in taken(torch.ones(3, 5))]
    assert bool((ours[2] == 3).all())
    assert quern.counters()["fallbacks"] == {}


def test_shifts_by_numbers_have_kernels() -> None:
    quern.reset_counters()
    x = torch.tensor([5, -7, 1 << 40])
    check(lambda x: (x << 3, x >> 2, torch.bitwise_left_shift(x, 1), torch.true_divide(x, 2)), x)
    check(lambda x: (x.to(torch.uint8) << 1, x.to(torch.int8) >> 1), x)
    assert quern.counters()["fallbacks"] == {}


def test_results_as_large_as_values_say() -> None:
    def places(x: torch.Tensor) -> torch.Tensor:
        return (x > 0).nonzero() * 2

    # An operator is named once in a process.
    state().warned.clear()
    with (
        torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True),
        pytest.warns(UserWarning, match="how large its result is depends on values"),
    ):
        check(places, torch.linspace(-1, 2, 12).sin().view(3, 4), fullgraph=True)


@pytest.mark.parametrize(
    "function",
    [
        torch.clone,
        lambda x: x.to(torch.float64),
        lambda x: x[:, 1:3].contiguous(),
        lambda x: x[:, None].expand(-1, 70, -1).contiguous(),
        lambda x: x.to(torch.bfloat16).to(torch.int32),
        lambda x: x.t().contiguous(),
    ],
)
def test_copies_are_kernels(function: Callable[..., Any]) -> None:
    quern.reset_counters()
    check(function, torch.linspace(-100, 100, 300).view(60, 5))
    assert quern.counters()["launches"] == 1
    assert quern.counters()["preferred"] == {}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * -1,
        lambda x: x + -3,
        lambda x: torch.rsub(x, -1),
        lambda x: (x > -1) & (x != -2),
        lambda x: (x | -8) ^ (x & -2),
        lambda x: x.clamp_min(-5),
        lambda x: x // -3 + x % -7,
        lambda x: x.masked_fill(x > 9, -1),
    ],
)
def test_negative_numbers_wrap_in_bytes(function: Callable[..., Any]) -> None:
    quern.reset_counters()
    check(function, torch.arange(256, dtype=torch.uint8), fullgraph=True)
    assert quern.counters()["launches"] == 1


def test_what_layers_compute_alike_is_computed_once() -> None:
    """Each makes its own mask, of fills of its own; results are memory of their own."""

    def layers(x: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, ...]:
        place = torch.arange(8)
        rows = []
        for _ in range(3):
            mask = torch.where(place[:, None] >= place, 0.0, float("-inf")) + bias
            rows.append((x + mask).softmax(-1))
        return sum(rows, torch.zeros(())), x.sin(), x.sin()

    x, bias = torch.randn(3, 8, 8), torch.randn(8, 8)
    with torch.no_grad():
        explanation = quern.explain(layers, x, bias)
        torch.testing.assert_close(explanation.output, layers(x, bias))
    [graph] = explanation.graphs
    assert graph.program.count("= softmax[") == 1
    assert graph.program.count("= choose(") == 1
    assert explanation.output[1].data_ptr() != explanation.output[2].data_ptr()


def test_a_running_extreme_joins_what_it_reads() -> None:
    """A row of the library that is an `op` would be a kernel of its own."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * 2 + 1).cummax(1).values

    x = torch.randn(3, 40)
    compiled = torch.compile(f, backend="quern")
    compiled(x)
    quern.reset_counters()
    torch.testing.assert_close(compiled(x), f(x))
    assert quern.counters()["launches"] == 1
