"""Calls for which eager has an answer of its own: nothing to reduce, numbers that do not fit, empty
results beside full ones. Compiled graphs must give the same, in kernels where there is a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from torch.nn import functional

Call = Callable[..., Any]


def compiled(function: Call, *args: Any) -> Any:
    torch._dynamo.reset()
    quern.reset_counters()
    return torch.compile(function, backend="quern", fullgraph=True)(*args)


def same(function: Call, *args: Any) -> None:
    """Equal to eager, in type too, without a call of ATen."""
    ours, eager = compiled(function, *args), function(*args)
    torch.testing.assert_close(ours, eager, rtol=1e-5, atol=1e-5)
    assert not quern.counters()["fallbacks"]


REFUSED: dict[str, Call] = {
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max_dim": lambda x: x.max(0),
    "min_dim": lambda x: x.min(0),
    "median": lambda x: x.median(0),
    "nanmedian": lambda x: x.nanmedian(0),
    "mode": lambda x: x.mode(0),
    "amax": lambda x: (x + 1).amax(0),
    "argmax": lambda x: x.argmax(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_has_no_extremum(name: str) -> None:
    x = torch.empty(0, 3)
    with pytest.raises((IndexError, RuntimeError)) as eager:
        REFUSED[name](x)
    with pytest.raises((IndexError, RuntimeError)) as ours:
        compiled(REFUSED[name], x)
    if "fake tensor" not in str(ours.value):  # which tracing refuses in words of its own
        assert type(ours.value) is type(eager.value)
        assert str(eager.value).partition("(")[0] in str(ours.value)


@pytest.mark.parametrize("name", ["max_dim", "median", "mode"])
def test_no_rows_of_nothing(name: str) -> None:
    function = REFUSED[name]
    values, places = compiled(function, torch.empty(2, 0))
    assert (values.shape, places.shape, places.dtype) == ((0,), (0,), torch.int64)


NUMBERS: dict[str, Call] = {
    "add": lambda x: x + 300,
    "subtract": lambda x: 300 - x,
    "multiply": lambda x: x * -70000,
    "divide": lambda x: x // 300,
    "rest": lambda x: x % 300,
    "compare": lambda x: (x > 300, x == 300, x < -1),
    "bits": lambda x: (x & 300, x ^ -1, x | 2**40),
    "fused": lambda x: (x + 2**33) * 2 + 1000,
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_wrap(name: str, dtype: torch.dtype) -> None:
    same(NUMBERS[name], torch.tensor([1, 3, 44, 100, 0], dtype=dtype))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.clamp(max=300),
        lambda x: torch.full_like(x, 300),
        lambda x: torch.add(x, 1, alpha=300),
        lambda x: torch.where(x > 3, x, 300),
    ],
)
def test_bounds_and_factors_must_fit(function: Call) -> None:
    with pytest.raises(RuntimeError, match="without overflow"):
        compiled(function, torch.tensor([1, 3], dtype=torch.uint8))


@pytest.mark.parametrize("repeats", [(2,), (2, 3), (3, 1, 2), (2, 0), ()])
def test_repeats_of_more_axes(repeats: tuple[int, ...]) -> None:
    for shape in ((), (4,)):
        if len(repeats) >= len(shape) and 0 not in repeats:
            same(lambda x: x.repeat(repeats) + 1, torch.randn(shape))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("include_last", [False, True])
def test_bags_with_weights(dtype: torch.dtype, include_last: bool) -> None:
    """One of four results is empty."""
    table = torch.randn(10, 3).to(dtype)
    weights = torch.randn(8).to(dtype)
    places, offsets = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4, 4, 8])

    def bags(w: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        return functional.embedding_bag(
            places,
            w,
            offsets,
            mode="sum",
            per_sample_weights=p,
            include_last_offset=include_last,
        )

    def results(function: Call, w: torch.Tensor, p: torch.Tensor) -> Any:
        w, p = w.requires_grad_(), p.requires_grad_()
        y = function(w, p)
        return y, torch.autograd.grad(y.float().square().sum(), (w, p))

    bound = 1e-5 if dtype == torch.float32 else 2e-2
    torch._dynamo.reset()
    quern.reset_counters()
    function = torch.compile(bags, backend="quern", fullgraph=True)
    torch.testing.assert_close(function(table, weights), bags(table, weights))
    ours, eager = results(function, table, weights), results(bags, table, weights)
    torch.testing.assert_close(ours, eager, rtol=bound, atol=bound)
    assert not quern.counters()["fallbacks"]


def test_integers_times_vector() -> None:
    c, a, b = (torch.randint(-9, 9, shape) for shape in ((4,), (4, 5), (5,)))
    same(lambda c, a, b: torch.addmv(c, a, b, beta=2, alpha=3), c, a, b)


def test_results_of_another_type_than_traced() -> None:
    """ATen gives running values of the input's type where the tracer says f32."""
    x = torch.randn(3, 2, 4).bfloat16()
    mean, variance = torch.randn(2).bfloat16(), torch.rand(2).bfloat16() + 0.5

    def norm(x: torch.Tensor) -> torch.Tensor:
        given = (mean.clone(), variance.clone())
        y: torch.Tensor = torch._native_batch_norm_legit(x, None, None, *given, False, 0.1, 1e-5)[0]
        return y

    def derived(function: Call) -> torch.Tensor:
        own = x.clone().requires_grad_()
        (grad,) = torch.autograd.grad(function(own).float().square().sum(), own)
        return grad

    torch._dynamo.reset()
    ours = derived(torch.compile(norm, backend="quern"))
    torch.testing.assert_close(ours, derived(norm), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("target", [torch.uint8, torch.int8, torch.int16])
def test_floats_wrap_in_short_integers(source: torch.dtype, target: torch.dtype) -> None:
    numbers = [-300, -5.7, 300, 200, 1e6, -1e6, 3e9, -3e9, 255.9, -0.5, 1e19]
    x = torch.tensor([*numbers, torch.inf, -torch.inf, torch.nan] * 3).to(source)

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.zeros(x.shape, dtype=target)
        return x.to(target), y.copy_(x * 0.5)

    same(function, x)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.float64, torch.complex64])
def test_identities(dtype: torch.dtype) -> None:
    same(lambda: (torch.eye(3, dtype=dtype), torch.eye(2, 4, dtype=dtype)))


TENSORS = (torch.tensor([0.05]), torch.tensor([3], dtype=torch.int32))
CHANNELS = (torch.linspace(0.02, 0.2, 7), torch.arange(7, dtype=torch.int32))
BETWEEN = (CHANNELS[0], CHANNELS[1] + 0.5)
QUANTISED: dict[str, Call] = {
    "numbers": lambda x: torch.fake_quantize_per_tensor_affine(x, 0.07, -3, -128, 127),
    "tensors": lambda x: torch.fake_quantize_per_tensor_affine(x, *TENSORS, 0, 15),
    "channels": lambda x: torch.fake_quantize_per_channel_affine(x, *CHANNELS, 1, -8, 7),
    "zeros between": lambda x: torch.fake_quantize_per_channel_affine(x, *BETWEEN, 1, -8, 7),
}


@pytest.mark.parametrize("name", QUANTISED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_fake_quantisation(name: str, dtype: torch.dtype) -> None:
    """Bit by bit, and the gradient, which is that of what was in range."""
    values = torch.linspace(-3, 3, 35).mul(1.7).view(5, 7).to(dtype)
    values[0, :4] = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e4])
    x, y = values.clone().requires_grad_(), values.clone().requires_grad_()
    ours, eager = compiled(QUANTISED[name], x), QUANTISED[name](y)
    torch.testing.assert_close(ours, eager, rtol=0, atol=0, equal_nan=True)
    for result in (ours, eager):
        result.sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=0, atol=0)
    assert not quern.counters()["fallbacks"]
