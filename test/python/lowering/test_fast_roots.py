"""What `@fastmath` makes of a division by a root: infinities and NaN stay, and the error bound."""

from __future__ import annotations

import quern
import torch

TEXT = """
@fastmath
elementwise divided[T: Float](x: T, y: T) -> T:
    return x / sqrt(y)

@fastmath
elementwise reciprocal[T: Float](x: T, y: T) -> T:
    return rsqrt(y)

@fastmath
elementwise both[T: Float](x: T, y: T) -> T:
    return 1 / sqrt(y) + sqrt(y)
"""
SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 1e-40, 3e38, 1e-45]


def ulps(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """Distance of finite numbers, in steps of the numbers wanted."""
    below = torch.nextafter(wanted.to(got.dtype), torch.zeros((), dtype=got.dtype))
    step = (wanted.to(got.dtype).double() - below.double()).abs()
    return ((got.double() - wanted).abs() / step).max().item()


def test_zero_and_infinity_stay() -> None:
    module = quern.compile(TEXT)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x, y = torch.cartesian_prod(*[torch.tensor(SPECIAL, dtype=dtype)] * 2).unbind(1)
        for count in (len(y), 5):
            a, b = x[:count].contiguous(), y[:count].contiguous()
            divided = (a.float() if dtype.itemsize == 2 else a) / b.to(a.dtype).sqrt()
            for got, wanted in (
                (module.divided(a, b), divided),
                (module.reciprocal(a, b), b.rsqrt()),
                (module.both(a, b), b.rsqrt() + b.sqrt()),
            ):
                assert torch.equal(got.isnan(), wanted.isnan())
                assert torch.equal(got.isinf(), wanted.to(dtype).isinf())
                assert torch.equal(got == 0, wanted.to(dtype) == 0)


def test_the_error() -> None:
    module = quern.compile(TEXT)
    torch.manual_seed(0)
    y32 = torch.randint(1, 0x7F800000, (1 << 20,), dtype=torch.int32).view(torch.float32)
    y64 = torch.randint(1, 0x7FE0 << 48, (1 << 16,), dtype=torch.int64).view(torch.float64)
    for y in (y32, y64):
        x = torch.randn(y.shape, dtype=y.dtype)
        exact = y.double().rsqrt() if y.dtype == torch.float32 else y.rsqrt()
        slack = 0.0 if y.dtype == torch.float32 else 1.5  # the reference's own
        assert ulps(module.reciprocal(x, y), exact) <= 1.5 + slack
        assert ulps(module.divided(x, y), x.double() * exact) <= 2.0 + slack
