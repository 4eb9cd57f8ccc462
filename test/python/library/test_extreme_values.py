"""Rows at the ends of their types: infinities, NaN, the lowest integers, against PyTorch eager."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_types import overload

INF, NAN = float("inf"), float("nan")
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 2.5, INF, -INF, NAN, 3e38, -3e38, 1e-38]
DEGREES = [0.0, 1.0, 2.0, 5.5, -1.0, INF, -INF, NAN, 3e38]
SHARES = [0.0, 1.0, 0.5, 0.3, 1e-38, -1e-38, 1e-20, 1e-5, 0.02, 0.0200001, 0.99999, 1.5, -1.0, NAN]


def pairs(*values: list[Any], dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    """All combinations."""
    columns = zip(*itertools.product(*values), strict=True)
    return tuple(torch.tensor(column, dtype=dtype) for column in columns)


def divisors(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    limits = torch.iinfo(dtype)
    values = [0, 1, 2, 3, 5, 6, -1, -4, limits.max, limits.min, limits.min + 1]
    return pairs(values, values, dtype=dtype)


POLYNOMIALS = [
    "special_chebyshev_polynomial_t",
    "special_chebyshev_polynomial_w",
    "special_shifted_chebyshev_polynomial_u",
    "special_hermite_polynomial_h",
    "special_hermite_polynomial_he",
    "special_laguerre_polynomial_l",
    "special_legendre_polynomial_p",
]
CASES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "nan_to_num": lambda: (torch.tensor(FLOATS), 2.0, None, 7.0),
    "lerp.Scalar": lambda: (*pairs([0.0, 1.0], [3.4e38, -3.4e38, 2.0]), -1.0),
    "lerp.Tensor": lambda: pairs([0.0, 1.0], [3.4e38, -3.4e38, 2.0], [-1.0, 0.2, 0.7]),
    "native_dropout_backward": lambda: (*truths(), 2.0),
    "rrelu_with_noise_backward": lambda: (*pairs([1.0], [-1.0, 2.0], [0.5]), 2, 2, True, False),
    "special_ndtri": lambda: (torch.tensor(SHARES),),
    "special_zeta": lambda: pairs([INF, 2.0], [1.0, 0.5, -0.5, 0.0, -2.0, 2.0, 9.0, NAN]),
    **{name: lambda: pairs([1.0, -1.0, 0.3], DEGREES) for name in POLYNOMIALS},
}


BOUNDS: dict[str, list[tuple[Any, ...]]] = {
    "clamp": [(NAN, 1.0), (-1.0, NAN), (None, NAN), (NAN, None), (INF, -INF), (1.0, -1.0)],
    "clamp_min": [(NAN,), (INF,), (-INF,)],
    "clamp_max": [(NAN,), (INF,), (-INF,)],
    "hardtanh": [(NAN, 1.0), (-1.0, NAN), (-INF, INF)],
    "nan_to_num": [(NAN, None, None), (0.0, NAN, None), (0.0, None, NAN), (INF, -INF, INF)],
    "threshold": [(NAN, 2.0), (0.0, NAN), (INF, 1.0)],
}


def truths() -> tuple[torch.Tensor, torch.Tensor]:
    grad, mask = pairs(FLOATS, [0.0, 1.0])
    return grad, mask.bool()


def both(name: str, args: tuple[Any, ...], **named: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Ours and eager's."""
    op = overload(f"aten::{name}")
    row = next(row for row in quern.operators() if row["overload"] == f"aten::{name}")
    expected = op(*args, **named)
    (found,) = Call(row, op, args, named).run([expected])
    return found, expected


def compare(name: str, args: tuple[Any, ...], **options: Any) -> None:
    found, expected = both(name, args)
    torch.testing.assert_close(found, expected, equal_nan=True, **options)


@pytest.mark.parametrize("name", CASES)
def test_floats(name: str) -> None:
    compare(name, CASES[name]())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(name: str, dtype: torch.dtype) -> None:
    for numbers in BOUNDS[name]:
        compare(name, (torch.tensor(FLOATS, dtype=dtype), *numbers))


def test_bounds_as_tensors() -> None:
    x, low, high = pairs(FLOATS, [-1.0, NAN, INF], [1.0, NAN, -INF])
    for name, args in (("clamp.Tensor", (low, high)), ("clamp.Tensor", (None, high))):
        compare(name, (x, *args))
    compare("clamp_min.Tensor", (x, low))
    compare("clamp_max.Tensor", (x, high))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_divisors(dtype: torch.dtype) -> None:
    compare("gcd", divisors(dtype))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_infinities_of_other_types(dtype: torch.dtype) -> None:
    compare("nan_to_num", (torch.tensor([INF, -INF, NAN, 1.5], dtype=dtype),), rtol=0, atol=0)


def test_quantiles_far_out() -> None:
    places = torch.tensor(
        [1e-300, 1e-200, 1e-30, 1e-10, 0.019, 0.4, 1 - 1e-12], dtype=torch.float64
    )
    compare("special_ndtri", (places,), rtol=1e-13, atol=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64, torch.float32])
def test_medians_of_nothing(dtype: torch.dtype) -> None:
    for name in ("median", "nanmedian"):
        compare(name, (torch.empty(0, dtype=dtype),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_signs_of_zeros(dtype: torch.dtype) -> None:
    dividends, divisors = [0.0, -0.0, 1.0, -1.0, 6.0, -6.0, 2.5], [1.0, -1.0, 0.5, -3.0, INF, -INF]
    for name, args in (
        ("remainder.Tensor", pairs(dividends, divisors, dtype=dtype)),
        ("fmod.Tensor", pairs(dividends, divisors, dtype=dtype)),
        ("log_sigmoid", (torch.tensor([INF, 1e4, 0.0, -0.0, -INF], dtype=dtype),)),
    ):
        found, expected = both(name, args)
        torch.testing.assert_close(found, expected)
        assert torch.equal(found.signbit(), expected.signbit()), name


def test_order_of_factors() -> None:
    """What is large meets what is small before it meets what is large."""
    zeros, a, b = pairs([0.0], [3e38, 1.0], [INF, 4.0, 1e-38])
    torch.testing.assert_close(*both("addcdiv", (zeros, a, b), value=2.0), equal_nan=True)
    grad, x = pairs([3e38, -3e38], [0.0, -1.0, 1.0])
    torch.testing.assert_close(*both("elu_backward", (grad, 0.5, 2.0, 1.0, False, x)))


@pytest.mark.parametrize("kind", ["chebyshev_polynomial_u", "chebyshev_polynomial_w"])
def test_degrees_far_out(kind: str) -> None:
    compare(f"special_{kind}", pairs([1.0, -1.0], [1e4, 12345.0]), rtol=1e-3, atol=0)
    compare("special_legendre_polynomial_p", pairs([1.0, -1.0, 0.5], [1e4]), rtol=1e-3, atol=0)
