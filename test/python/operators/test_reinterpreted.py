"""Memory read as another type, and 8-bit floats, in compiled graphs: kernels and views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
Function = Callable[..., Any]


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(7)
    x = 4 * torch.randn(shape, generator=generator, dtype=torch.float64)
    if dtype.is_floating_point or dtype.is_complex:
        return x.to(dtype)
    return (x * 20).to(torch.int64).to(dtype)


def bits(value: Any) -> Any:
    """Tensors as integers: every bit counts, but for those of what is no number."""
    if isinstance(value, (tuple, list)):
        return [bits(each) for each in value]
    if value.dtype == torch.bool or value.is_complex():
        return value
    words = value.detach().reshape(-1).contiguous().view(WORDS[value.element_size()])
    return words.masked_fill(value.detach().reshape(-1).to(torch.float64).isnan(), 1)


def check(function: Function, *inputs: Any, launches: int | None = None, **options: Any) -> None:
    """Eager's bits, types, shapes and strides, and no computation of ATen's."""
    twins = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    compiled = torch.compile(function, backend="quern", fullgraph=True, **options)
    wanted = function(*inputs)
    compiled(*[value.clone() if isinstance(value, torch.Tensor) else value for value in twins])
    quern.reset_counters()
    got = compiled(*twins)
    counts = quern.counters()
    pairs = zip(*([v] if isinstance(v, torch.Tensor) else v for v in (got, wanted)), strict=True)
    for own, other in pairs:
        assert (own.dtype, own.shape, own.stride()) == (other.dtype, other.shape, other.stride())
        torch.testing.assert_close(bits(own), bits(other), rtol=0, atol=0)
    torch.testing.assert_close(bits(twins), bits(list(inputs)), rtol=0, atol=0)
    assert counts["fallbacks"] == {}
    assert launches is None or counts["launches"] == launches


PAIRS = [
    (torch.float32, torch.int32),
    (torch.int32, torch.float32),
    (torch.float64, torch.int64),
    (torch.float16, torch.int16),
    (torch.bfloat16, torch.uint16),
    (torch.int16, torch.bfloat16),
    (torch.float16, torch.bfloat16),
    (torch.int8, torch.uint8),
    (torch.uint8, E5M2),
    (E4M3, torch.uint8),
    (torch.int64, torch.float64),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_argument_is_read(source: torch.dtype, target: torch.dtype) -> None:
    check(lambda x: x.view(target).to(torch.float32) + 1, numbers(5, 8, dtype=source), launches=1)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_result_is_read_in_its_kernel(source: torch.dtype, target: torch.dtype) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        made = (x * 3 + 1).to(source)
        return made.view(target).to(torch.float64)

    check(f, numbers(5, 8), launches=1)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (torch.float32, torch.uint8),
        (torch.float32, torch.int16),
        (torch.int16, torch.float32),
        (torch.uint8, torch.int64),
        (torch.float64, torch.float16),
        (torch.bool, torch.int32),
    ],
)
def test_elements_of_another_width(source: torch.dtype, target: torch.dtype) -> None:
    x = numbers(3, 16, dtype=torch.uint8)
    x = (x > 20) if source == torch.bool else x.view(source)
    words = WORDS[torch.empty((), dtype=target).element_size()]
    check(lambda t: t.view(target).view(words) ^ 3, x)
    check(lambda t: t.clone().view(target).view(words)[:, 1:] + 1, x)


def test_elements_of_another_width_made_in_the_graph() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made = x * 3
        halves = made.view(torch.int16)
        return (halves & 0x7F).to(torch.float32).sum(-1), made

    check(f, numbers(4, 8), launches=2)


def test_bools() -> None:
    check(lambda x: (x > 0).view(torch.uint8) * 3, numbers(4, 5), launches=1)
    check(lambda x: (x > 0).view(torch.int8).view(torch.bool) | (x < -1), numbers(4, 5))


def test_complex_numbers() -> None:
    x = torch.view_as_complex(numbers(4, 5, 2))
    check(lambda z: z.view(torch.float32) * 2, x)
    check(lambda r: r.view(torch.complex64) * 2j, numbers(4, 6))
    check(lambda z: (z * 2).view(torch.int64) >> 3, x)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x.t(),
        lambda x: x[1:, 2:],
        lambda x: x[::2],
        lambda x: x[2],
        lambda x: x[1, 3],
        lambda x: x[0].expand(3, 8),
        lambda x: x.flatten()[5:29],
    ],
)
def test_strides_and_offsets(part: Function) -> None:
    check(lambda x: part(x).view(torch.int32) + 1, numbers(6, 8))
    check(lambda x: part(x.view(torch.int32)).view(torch.float32) * 2, numbers(6, 8))


def test_offsets_of_another_width() -> None:
    base = numbers(6, 8)
    check(lambda x: x[2:, 2:6].view(torch.int16) + 1, base)
    check(lambda x: x.view(torch.int16)[2:, 2:6].view(torch.float32) * 2, base)
    check(lambda x: x.view(torch.int16).flatten()[8:].view(torch.int64) + 1, base)
    check(lambda x: x.view(torch.int16) + 1, base.flatten()[3:])


def test_empty_and_one_element() -> None:
    check(lambda x: x.view(torch.int32) + 1, torch.empty(0, 4))
    check(lambda x: x.view(torch.int16) + 1, numbers(1))
    check(lambda x: (x * 2).view(torch.int32) + 1, torch.tensor(1.5))


def test_sizes_that_change() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x + 1).view(torch.int32) >> 23, x.view(torch.uint8) ^ 1

    compiled = torch.compile(f, backend="quern", fullgraph=True, dynamic=True)
    for rows in (3, 7, 20):
        x = numbers(rows, 4)
        for own, other in zip(compiled(x), f(x), strict=True):
            assert torch.equal(own, other)


def test_views_that_are_given_away() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made = x * 2
        return made.view(torch.int32), x.view(torch.uint8)

    check(f, numbers(4, 6))
    compiled = torch.compile(f, backend="quern")
    x = numbers(4, 6)
    assert compiled(x)[1].data_ptr() == x.data_ptr()


def test_arguments_are_written_through_views() -> None:
    def flip(x: torch.Tensor) -> torch.Tensor:
        x.view(torch.int32).bitwise_xor_(-0x80000000)
        return x + 1

    check(flip, numbers(4, 6))

    def halves(x: torch.Tensor) -> torch.Tensor:
        x.view(torch.int16)[:, ::2] = 0
        return x * 2

    check(halves, numbers(4, 6))


def test_a_concatenation_of_bits() -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([(x * 2).view(torch.int32), y, (y + 1).view(torch.float32).view(y.dtype)])

    check(f, numbers(3, 4), numbers(2, 4, dtype=torch.int32))


def test_rows_of_bits() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1).view(torch.int32).amax(-1)

    compiled = torch.compile(f, backend="quern", fullgraph=True)
    assert (compiled(numbers(4, 40)) - f(numbers(4, 40))).abs().max() <= 4

    def keys(x: torch.Tensor) -> torch.Tensor:
        """Integers in the order of the floats."""
        word = x.view(torch.int32)
        return (word ^ ((word >> 31) & 0x7FFFFFFF)).amax(-1)

    check(keys, numbers(4, 40), launches=1)


@pytest.mark.parametrize("small", [E4M3, E5M2])
@pytest.mark.parametrize(
    "other",
    [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.bool],
)
def test_casts_of_small_floats(small: torch.dtype, other: torch.dtype) -> None:
    x = numbers(9, 31) * 40
    most = 1e3 if other == torch.int32 else 1e9  # an infinity is no integer
    x[0, :6] = torch.tensor([0.0, -0.0, 1e-3, most, -most, 300.0])
    check(lambda t: t.to(small), x.to(other))
    check(lambda t: t.to(other), x.to(small), launches=1)
    check(lambda t: (t.to(small).to(torch.float32) * 2).to(small), x.to(other), launches=1)


def test_small_floats_that_are_not_finite() -> None:
    x = torch.tensor([float("inf"), float("-inf"), float("nan"), 448.0, 464.0, 465.0, 57344.0, 7e4])
    for small in (E4M3, E5M2):
        check(lambda t, small=small: (t * 1).to(small), x)
        check(lambda t, small=small: t.to(small).to(torch.float32) * 1, x)
    every = torch.arange(256, dtype=torch.uint8)
    for small in (E4M3, E5M2):
        check(lambda t, small=small: t.view(small).to(torch.float32) + 0, every)
    check(lambda t: t.view(E4M3).to(E5M2), every)


def test_small_floats_are_moved() -> None:
    x = numbers(6, 8).to(E4M3)
    rows = torch.tensor([3, 0, 5])
    check(lambda t: torch.cat([t, t[:2]]), x)
    check(lambda t: t.t().contiguous(), x)
    check(lambda t: torch.full_like(t, 1.5), x)
    check(lambda t: t[rows], x)
    check(lambda t: torch.where(t.to(torch.float32) > 0, t, torch.zeros_like(t)), x)
    check(lambda t: t == t.flip(0) if t.dtype != E4M3 else t == t, x)


def test_scaled_products_of_small_floats() -> None:
    def f(x: torch.Tensor, w: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return (x.to(torch.float32) @ w.to(torch.float32).t()) * scale

    x, w = numbers(8, 16).to(E4M3), numbers(12, 16).to(E4M3)
    check(f, x, w, torch.tensor(0.25), options={"preferred": "own"})


@pytest.mark.parametrize("small", [E4M3, E5M2])
def test_gradients_through_small_floats(small: torch.dtype) -> None:
    def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ((x * w).to(small).to(torch.float32) * w).sin().sum()

    compiled = torch.compile(f, backend="quern", fullgraph=True)
    outcomes = []
    for call in (compiled, f):
        leaves = [numbers(5, 8).requires_grad_(), numbers(8).requires_grad_()]
        outcomes.append(torch.autograd.grad(call(*leaves), leaves))
    torch.testing.assert_close(outcomes[0], outcomes[1])
    assert quern.counters()["fallbacks"] == {}


def test_gradients_beside_a_view() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        exponent = (x.detach().view(torch.int32) >> 23) & 0xFF
        return (x * exponent).sum()

    compiled = torch.compile(f, backend="quern", fullgraph=True)
    x = numbers(5, 8).requires_grad_()
    (own,) = torch.autograd.grad(compiled(x), x)
    (other,) = torch.autograd.grad(f(x), x)
    torch.testing.assert_close(own, other)
    assert quern.counters()["fallbacks"] == {}
