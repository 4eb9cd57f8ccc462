"""Complex numbers in compiled graphs: our kernels ran, with eager's values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import quern
import torch

X = torch.linspace(-2, 3, 30).reshape(5, 6)
INF, NAN = float("inf"), float("nan")
C = torch.complex(X.sin() * 2, X.cos() + 0.25)

CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "fourier": (lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, 6), (X,)),
    "numbers": (lambda c: c * 2 + (1 - 0.5j), (C,)),
    "promotion": (lambda c, x: (c + x.double(), c * x, x.int() - c, x + 1j), (C, X)),
    "parts": (lambda c: (c.real + c.imag, torch.view_as_real(c) * 2), (C,)),
    "polar": (lambda c: (c.abs(), c.angle(), c.sgn(), torch.polar(c.abs(), c.angle())), (C,)),
    "functions": (lambda c: c.exp() + c.log() / c.sqrt() - c.tanh() * c.cos(), (C,)),
    "between": (
        lambda c: (
            c.lerp(c.sin(), 0.25),
            c.lerp(c.sin(), 0.5 + 2j),
            c.lerp(c.sin(), c * 0.2),
            c.lerp(c.sin(), c[0] * 3),
        ),
        (C,),
    ),
    "powers": (lambda c: (c**2, c**0.5, c ** (1 + 2j), 2**c), (C,)),
    "casts": (lambda c: (c.to(torch.complex128) * (1 + 2j), X.to(torch.complex64) + c), (C,)),
    "to real": (lambda c: (c * 2).to(torch.float64), (C,)),
    "fill": (lambda c: c + torch.full_like(c, 1 + 2j), (C,)),
    "joined": (lambda c: torch.cat([c + 1, c.conj() * 2]), (C,)),
    "compared": (lambda c: (c == c.conj(), torch.where(c.real > 0, c, 0)), (C,)),
    "reduced": (lambda c: (c.sum(0), c.mean(1), c.conj().prod()), (C,)),
    "variances": (
        lambda c: (c.var(1), c.std(0, keepdim=True), torch.var_mean(c, correction=3), c[:2].std(0)),
        (C,),
    ),
    "log-sums": (lambda c: (c.logsumexp(0), torch.logsumexp(c * 100, (0, 1))), (C,)),
    "norms": (
        lambda c: [torch.linalg.vector_norm(c, p, dim=1) for p in (0, 1, 2, 3, INF, -INF)],
        (C,),
    ),
    "products": (
        lambda c: (
            torch.addmm(c[:, :5], c, c.mT, beta=0.5j, alpha=2),
            torch.baddbmm(c[None, :, :5], c[None], c.mT[None], alpha=1 - 2j),
        ),
        (C,),
    ),
    "infinite": (lambda c: (c / 0).isinf(), (torch.tensor([1 + 2j, 0, complex(1, NAN)]),)),
    "moved": (lambda c: c.conj().t()[1:3].flip(0) * 2, (C,)),
    "marked": (lambda c: (c * 2 + 1, c.sum(0)), (C.conj(),)),
    "marked part": (lambda x: x * 2, (C.conj().imag,)),
    "marked, spread": (
        lambda c: (c.conj() * 2, c.expand(4, 5, 6).conj() + 1),
        (C[:, :1].expand(5, 6),),
    ),
    "marked and spread": (lambda c: c * 2 + 1, (C[:, :1].expand(5, 6).conj(),)),
    "marked part, spread": (lambda x: x * 2, (C[:, :1].expand(5, 6).conj().imag,)),
    "parts, spread": (
        lambda c: torch.view_as_complex(torch.view_as_real(c).flip(0).expand(4, 5, 6, 2)) * 2,
        (C[:, :1].expand(5, 6),),
    ),
    "windows marked": (lambda c: c.flatten().unfold(0, 4, 2).conj() * 2, (C,)),
}


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, arguments = CASES[name]
    explained = quern.explain(function, *arguments)
    torch.testing.assert_close(explained.output, function(*arguments), rtol=1e-4, atol=1e-5)
    assert not explained.fallbacks


LOGARITHMS = (torch.exp2, torch.expm1, torch.log1p, torch.log2, torch.log10)
CIRCULAR = (torch.sin, torch.cos, torch.tan, torch.sinh, torch.cosh, torch.tanh)
INVERSE = (torch.asin, torch.acos, torch.atan, torch.asinh, torch.acosh, torch.atanh)


@pytest.mark.parametrize("function", [*LOGARITHMS, *INVERSE])
@pytest.mark.parametrize("scale", [1e-25, 1e-6, 1e-2, 1, 30])
def test_functions_beside_doubles(
    function: Callable[[torch.Tensor], torch.Tensor], scale: float
) -> None:
    x = C * scale
    explained = quern.explain(function, x)
    exact = function(x.to(torch.complex128)).to(torch.complex64)
    torch.testing.assert_close(explained.output, exact, rtol=1e-6, atol=0)
    assert not explained.fallbacks


POWERS = [partial(torch.pow, exponent=e) for e in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2 + 0j)]


@pytest.mark.parametrize(
    "function", [torch.exp, torch.exp2, torch.sqrt, *CIRCULAR, *INVERSE, *POWERS]
)
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_infinite_and_zero_parts(
    function: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype
) -> None:
    parts = torch.tensor([0.0, -0.0, 1, -1, 0.5, -2, torch.inf, -torch.inf, torch.nan])
    # As they are: 0 + inf * 1j would have no real part.
    x = torch.stack(torch.meshgrid(parts, parts, indexing="ij"), dim=-1).to(dtype.to_real())
    z = torch.view_as_complex(x).flatten()
    explained = quern.explain(function, z)
    ours, theirs = (torch.view_as_real(y) for y in (explained.output, function(z)))
    torch.testing.assert_close(ours, theirs, equal_nan=True)
    assert not explained.fallbacks


@pytest.mark.parametrize("exponent", [1.5, -1.5, 4, 1j, 1 + 1j, -1 + 0.5j])
def test_powers_of_zero(exponent: complex) -> None:
    z = torch.zeros(3, dtype=torch.complex64)
    for other in (exponent, torch.full_like(z, exponent)):
        explained = quern.explain(torch.pow, z, other)
        torch.testing.assert_close(explained.output, torch.pow(z, other), equal_nan=True)
        assert not explained.fallbacks


@pytest.mark.parametrize("length", [8, 12, 15, 17, 62, 67, 134])
def test_what_is_real_by_symmetry_has_no_imaginary_part(length: int) -> None:
    """So that its angle is not of a rounding error's sign."""
    x = torch.linspace(-2, 3, 5 * length).sin().reshape(5, length)
    found = torch.compile(torch.fft.rfft, backend="quern")(x)
    assert not found[:, 0].imag.any()
    assert length % 2 or not found[:, -1].imag.any()


def test_derivative() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        z = torch.fft.fft(x) * (0.5 + 1j)
        return (z.abs() + (z * z.conj()).real + torch.view_as_real(z.exp()).sum(-1)).sum()

    x = X.clone().requires_grad_()
    torch._dynamo.reset()
    quern.reset_counters()
    (ours,) = torch.autograd.grad(torch.compile(function, backend="quern")(x), x)
    counters = quern.counters()
    (theirs,) = torch.autograd.grad(function(x), x)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert not counters["fallbacks"]


@pytest.mark.parametrize("function", [torch.log, torch.log10, torch.tanh, torch.sigmoid])
@pytest.mark.parametrize("spread", [(5, 6), (2, 5, 6)])
def test_derivative_of_spread_numbers(
    function: Callable[..., torch.Tensor], spread: tuple[int, ...]
) -> None:
    """ATen's conjugate of a tensor whose elements share memory shares them as well."""
    x = C[:, :1].expand(spread).requires_grad_()
    torch._dynamo.reset()
    ours = torch.compile(function, backend="quern")(x)
    theirs = function(x)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(
        torch.autograd.grad(ours.abs().sum(), x), torch.autograd.grad(theirs.abs().sum(), x)
    )


def test_marked_results_of_aten() -> None:
    """What ATen only marks as a conjugate is computed before a kernel reads it."""
    quern_sum = torch.compile(lambda c: c.mH @ c + 1, backend="quern")
    torch.testing.assert_close(quern_sum(C), C.mH @ C + 1)
