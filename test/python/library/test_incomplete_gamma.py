"""The incomplete gamma functions against mpmath, and eager on the border of their domain."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import mpmath
import pytest
import quern
import torch
from tree import ROOT

KERNELS = ROOT / "stdlib-kernels"
SHARES = [0.01, 0.3, 0.71, 0.95, 1.0, 1.02, 1.29, 1.31, 2.0, 7.0]
SIZES = [1e-5, 0.02, 0.5, 1.0, 3.7, 19.9, 20.1, 64.0, 300.0, 5000.0]
POINTS = [(a, a * share) for a, share in itertools.product(SIZES, SHARES)]
POINTS += [(a, x) for a in (1e-6, 0.1, 0.9, 2.5) for x in (1e-4, 0.4, 0.51, 1.05, 1.2, 30.0)]


@pytest.fixture(scope="module")
def rows() -> quern.Module:
    return quern.load(KERNELS / "incomplete_gamma.qn")


def exact(a: float, x: float) -> tuple[float, float]:
    """P and Q, each without loss."""
    with mpmath.workdps(40):
        upper = mpmath.gammainc(a, x, mpmath.inf, regularized=True)
        lower = mpmath.gammainc(a, 0, x, regularized=True)
        return float(lower), float(upper)


def places(dtype: torch.dtype) -> Iterator[tuple[float, float]]:
    for a, x in POINTS:
        yield float(torch.tensor(a, dtype=dtype)), float(torch.tensor(x, dtype=dtype))


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-13), (torch.float32, 1.2e-7)])
def test_values(rows: quern.Module, dtype: torch.dtype, bound: float) -> None:
    a, x = (torch.tensor(column, dtype=dtype) for column in zip(*places(dtype), strict=True))
    expected = torch.tensor([exact(*place) for place in places(dtype)], dtype=torch.float64)
    for ours, wanted in zip(
        (rows.lower_gamma(a, x), rows.upper_gamma(a, x)), expected.T, strict=True
    ):
        known = wanted > 1e-30
        error = (ours.double() - wanted).abs() / wanted
        assert error[known].max() <= bound


def test_border(rows: quern.Module) -> None:
    ends = [0.0, -0.0, -1.0, 1.0, 25.0, float("inf"), float("-inf"), float("nan")]
    a, x = (t.flatten() for t in torch.meshgrid(*[torch.tensor(ends)] * 2, indexing="ij"))
    torch.testing.assert_close(rows.lower_gamma(a, x), torch.igamma(a, x), equal_nan=True)
    torch.testing.assert_close(rows.upper_gamma(a, x), torch.igammac(a, x), equal_nan=True)


def test_in_a_graph() -> None:
    quern.reset_counters()
    a, x = torch.rand(40) * 9, (torch.rand(40) * 9).requires_grad_()

    def function(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.special.gammainc(a, x) * 2 + torch.special.gammaincc(a, x)

    ours, eager = torch.compile(function, backend="quern")(a, x), function(a, x)
    torch.testing.assert_close(ours, eager)
    (mine,), (other,) = (torch.autograd.grad(y.sum(), x) for y in (ours, eager))
    torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
    assert not quern.counters()["fallbacks"]
