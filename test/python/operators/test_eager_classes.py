"""Values, refusals and layouts of single operators for which eager has an answer of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import opinfo
import pytest
import quern
import torch
from torch.nn import functional

aten = torch.ops.aten
CHANNELS = torch.channels_last
Call = Callable[..., Any]


def compiled(function: Call, *args: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(function, backend="quern", fullgraph=True)(*args)


@pytest.mark.parametrize("power", [18, 19, 20, 25])
def test_spread_of_large_numbers(power: int) -> None:
    """No mean of a part that has no elements meets the square of another's."""
    for length in (3, 16, 37, 300):
        x = torch.tensor([1.0, -1.0, 0.5, 0.0]).repeat(length)[: 3 * length] * 10.0**power
        rows = x.view(3, length)

        def function(x: torch.Tensor) -> list[torch.Tensor]:
            return [
                torch.var(x, 1),
                torch.std(x, 1),
                torch.var_mean(x)[1],
                functional.batch_norm(x.t(), None, None, training=True),
                functional.instance_norm(x[None]),
                functional.layer_norm(x, (x.shape[1],)),
                functional.group_norm(x[None], 1),
            ]

        for ours, theirs in zip(compiled(function, rows), function(rows), strict=True):
            assert not (ours.isnan() & ~theirs.isnan()).any()


INTEGERS = (torch.uint8, torch.int32, torch.int64, torch.bool)
PLACE = torch.ones(1, 1, 6, 6)
REFUSED: dict[str, tuple[Call, tuple[torch.dtype, ...]]] = {
    "reflect": (lambda x: functional.pad(x, (1, 2), mode="reflect"), (torch.bool,)),
    "reflect 2d": (lambda x: functional.pad(x, (1, 2, 2, 1), mode="reflect"), (torch.bool,)),
    "replicate": (lambda x: functional.pad(x, (1, 2), mode="replicate"), (torch.bool,)),
    "adaptive 1d": (lambda x: functional.adaptive_max_pool1d(x[0], 3), INTEGERS),
    "adaptive 2d": (lambda x: functional.adaptive_max_pool2d(x, 3), INTEGERS),
    "adaptive 3d": (lambda x: functional.adaptive_max_pool3d(x, 1), INTEGERS),
    "max 2d": (lambda x: functional.max_pool2d(x, 2), (torch.bool,)),
    "max 3d": (lambda x: functional.max_pool3d(x, 1), (torch.bool,)),
    "or of nothing": (lambda x: x[:, :, :0] | x[:, :, :0], (torch.float32, torch.float16)),
    "and of nothing": (lambda x: x[:, :, :0] & x[:, :, :0], (torch.float32, torch.bfloat16)),
    "xor of nothing": (lambda x: x[:, :, :0] ^ x[:, :, :0], (torch.float32,)),
    "or with a number": (lambda x: x[:, :, :0] | 1, (torch.float64,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_types_that_eager_refuses(name: str) -> None:
    function, dtypes = REFUSED[name]
    for dtype in dtypes:
        x = (PLACE if "dim" not in name else PLACE[0]).to(dtype)
        x = x[0] if name in ("reflect", "replicate") else x
        with pytest.raises((RuntimeError, TypeError)) as theirs:
            function(x)
        with pytest.raises((RuntimeError, TypeError)) as ours:
            compiled(function, x)
        assert isinstance(ours.value, type(theirs.value)) or "not implemented" in str(ours.value)


@pytest.mark.parametrize("index", [[-1], [0, -2, 3], [-4, 3]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_fills_at_negative_indices(index: list[int], dtype: torch.dtype) -> None:
    x, i = torch.ones(2, 4, 3).to(dtype), torch.tensor(index)
    for dim, size in ((1, 4), (-1, 3), (0, 2)):
        kept = i[(i >= -size) & (i < size)]
        function = lambda x, i, dim=dim: x.index_fill(dim, i, 0)  # noqa: E731
        torch.testing.assert_close(compiled(function, x, kept), function(x, kept))


def test_fills_out_of_range() -> None:
    for place in (-5, 4):
        with pytest.raises((IndexError, RuntimeError)):
            compiled(lambda x, i: x.index_fill(0, i, 3), torch.ones(4), torch.tensor([place]))


def test_second_bessel_function_of_order_one() -> None:
    """Against more digits: near its second zero eager is off by 2e-6."""
    spread = torch.logspace(-300, 15, 300, dtype=torch.float64)
    x = torch.cat([spread, torch.linspace(0.01, 30, 900, dtype=torch.float64)])
    ours = compiled(torch.special.bessel_y1, x)
    with mpmath.workdps(40):
        values = [float(mpmath.bessely(1, mpmath.mpf(v))) for v in x.tolist()]
    exact = torch.tensor(values, dtype=torch.float64)
    amplitude = torch.maximum(exact.abs(), (2 / (torch.pi * x)).sqrt())
    assert ((ours - exact).abs() <= amplitude * 2**-49)[exact.isfinite()].all()
    edges = torch.tensor([0.0, -0.0, -1.0, torch.inf, -torch.inf, torch.nan]).double()
    theirs = torch.special.bessel_y1(edges)
    torch.testing.assert_close(compiled(torch.special.bessel_y1, edges), theirs, equal_nan=True)


FUNCTIONS = """exp exp2 expm1 sigmoid softplus log log2 log10 log1p rsqrt cbrt sin cos tan asin acos
atan sinc sinh cosh tanh asinh acosh atanh erf erfc erfcx erfinv lgamma digamma bessel_i0 bessel_i0e
bessel_i1 bessel_i1e"""


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_no_rounding_within_an_expression(dtype: torch.dtype) -> None:
    """What a text computes of a function of small floats is not rounded to their type: it is what
    the function of f32 gives."""
    names = FUNCTIONS.split()
    text = "\n".join(
        f"elementwise of_{name}[T: Float](x: T) -> f32:\n    return f32({name}(x))\n"
        for name in names
    )
    module: Any = quern.compile(text)
    x = torch.linspace(0.11, 0.96, 64).to(dtype)
    for name in names:
        narrow, wide = (
            getattr(module, f"of_{name}")(v, out=torch.empty(64)) for v in (x, x.float())
        )
        torch.testing.assert_close(narrow, wide, rtol=1e-5, atol=1e-6, equal_nan=True)


BASES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.3, 1e-4, -1e-4, 6e-8, 300.0, -300.0, 6e4, -6e4]
EXPONENTS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, -0.5, -2.0, 5.0, 0.3, 1e-4, -1e-4, 6e-8]
EDGES = [torch.inf, -torch.inf, torch.nan]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("exponent", [*EXPONENTS, None])
def test_gradients_of_powers(exponent: float | None, dtype: torch.dtype) -> None:
    """None that is no number, and none that is infinite, where eager's are; by a number and by a
    tensor: the exponent less 1 is rounded, so that it may be whole."""

    def derived(function: Call) -> tuple[torch.Tensor, ...]:
        x = torch.tensor([*BASES, *EDGES]).to(dtype).repeat_interleave(17).requires_grad_()
        y = torch.tensor([*EXPONENTS, *EDGES]).to(dtype).repeat(17).requires_grad_()
        z = function(x, y if exponent is None else exponent)
        wanted = (x, y) if exponent is None else (x,)
        return torch.autograd.grad(z, wanted, torch.ones_like(z))

    torch._dynamo.reset()
    ours = derived(torch.compile(torch.pow, backend="quern", dynamic=False))
    for one, other in zip(ours, derived(torch.pow), strict=True):
        assert one.isnan().equal(other.isnan())
        assert not (one.isinf() & ~other.isinf()).any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["_softmax_backward_data", "_log_softmax_backward_data"])
def test_softmax_derivative(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    y, grad = torch.randn(5, 33).softmax(-1).to(dtype), (torch.randn(5, 33) * 100).to(dtype)

    def derivative(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = getattr(aten, name)(grad, y, 1, dtype)
        return result

    ours, theirs = compiled(derivative, grad, y), derivative(grad, y)
    torch.testing.assert_close(ours, theirs, rtol=2e-2, atol=2e-2)


def turned(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(rows * columns).view(columns, rows).t()


LAID_OUT: dict[str, Call] = {
    "isin": lambda: (lambda x: torch.isin(x, torch.tensor([1, 4])), (turned(4, 3),)),
    "index": lambda: (lambda x, i: x[i], (torch.rand(12), turned(4, 3))),
    "rows at": lambda: (lambda x, i: x[i], (torch.rand(12, 2), turned(4, 3))),
    "columns at": lambda: (lambda x, i: x[:, i], (torch.rand(2, 12), turned(4, 3))),
    "places": lambda: (lambda x, i: x[i, i], (torch.rand(12, 12), turned(4, 3))),
    "unique": lambda: (lambda x: torch.unique(x, return_inverse=True)[1], (turned(4, 3),)),
    "runs": lambda: (
        lambda x: torch.unique_consecutive(x, return_inverse=True)[1],
        (turned(4, 3),),
    ),
    "unpool": lambda: (
        lambda x, i: functional.max_unpool2d(x, i, 2),
        functional.max_pool2d(
            torch.rand(1, 2, 4, 6).contiguous(memory_format=CHANNELS), 2, return_indices=True
        ),
    ),
}


@pytest.mark.parametrize("name", LAID_OUT)
def test_layouts(name: str) -> None:
    function, args = LAID_OUT[name]()
    torch._dynamo.reset()
    ours, theirs = torch.compile(function, backend="quern")(*args), function(*args)
    torch.testing.assert_close(ours, theirs)
    assert opinfo.real_strides(ours) == opinfo.real_strides(theirs)
