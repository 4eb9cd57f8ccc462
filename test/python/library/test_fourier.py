"""Fourier transforms against eager's on doubles: every kind of length, few and many lanes."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch
from tree import ROOT

WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
NAMES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "c64",
    torch.complex128: "c128",
}
#: Passes, primes of one pass, chirps; as they are and as halves.
LENGTHS = (1, 2, 3, 4, 7, 15, 16, 22, 34, 35, 61, 67, 68, 134, 210)
SHAPES = (((), ()), ((3,), ()), ((2,), (5,)), ((2, 1), (17,)))
KERNELS = quern.load(ROOT / "stdlib-kernels" / "fft.qn")


def numbers(length: int, shape: tuple[tuple[int, ...], ...], dtype: torch.dtype) -> torch.Tensor:
    maker = torch.Generator().manual_seed(length)
    return torch.randn((*shape[0], length, *shape[1]), dtype=dtype, generator=maker)


def agree(name: str, x: torch.Tensor, *arguments: Any) -> None:
    """No farther from exact values than a few roundings of the largest one."""
    op = getattr(torch.ops.aten, f"_{name}")
    axis, *rest = arguments
    exact = op(x.to(WIDE.get(x.dtype, x.dtype)), [axis], *rest)
    expected = op(x.clone(), [axis], *rest)
    named = {} if name == "fft_c2c" else {"U": NAMES[expected.dtype]}
    found = getattr(KERNELS, name)(x, *arguments, **named)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    bound = 8 * torch.finfo(x.dtype).eps * exact.abs().max()
    assert (found - exact).abs().max() <= bound, (name, tuple(x.shape), arguments)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("length", LENGTHS)
def test_length(length: int, dtype: torch.dtype) -> None:
    for shape in SHAPES:
        x, axis = numbers(length, shape, dtype), len(shape[0])
        z = numbers(length, shape, dtype.to_complex())
        for norm, flag in ((0, True), (1, False), (2, True)):
            agree("fft_c2c", z, axis, norm, flag)
            agree("fft_r2c", x, axis, norm, flag)
        for extent in (2 * length - 2, 2 * length - 1):
            if extent:
                agree("fft_c2r", z, axis, extent % 3, extent)


def test_more_lanes_than_the_caches_hold() -> None:
    """A convolution with chirps goes by some lanes at a time, the last ones being fewer."""
    agree("fft_c2c", numbers(134, ((), (2100,)), torch.complex64), 0, 2, True)
    agree("fft_c2c", numbers(67, ((3,), (1500,)), torch.complex128), 1, 0, False)


@pytest.mark.parametrize("length", [6, 35, 68])
def test_strides(length: int) -> None:
    """Every second number, and an axis that lies elsewhere."""
    x = numbers(length, ((4,), (6,)), torch.float32)
    z = numbers(length, ((4,), (6,)), torch.complex64)
    for more in (lambda v: v[..., ::2], lambda v: v.permute(2, 1, 0), lambda v: v.transpose(0, 1)):
        axis = 0 if more(x).shape[0] == length else 1
        agree("fft_c2c", more(z), axis, 0, True)
        agree("fft_r2c", more(x), axis, 0, True)
        agree("fft_c2r", more(z), axis, 0, 2 * length - 2)


def test_rows_keep_to_themselves() -> None:
    """What is no number in one row is none in others."""
    x = numbers(34, ((5,), ()), torch.float32)
    x[1, 3] = float("nan")
    found = KERNELS.fft_r2c(x, 1, 0, True, U="c64")
    assert found[1].isnan().any()
    assert not found[[0, 2, 3, 4]].isnan().any()


def test_no_rows() -> None:
    z = torch.zeros(0, 6, 3, dtype=torch.complex64)
    assert KERNELS.fft_c2c(z, 1, 0, True).shape == (0, 6, 3)
    assert KERNELS.fft_r2c(z.real, 1, 0, True, U="c64").shape == (0, 4, 3)
    assert KERNELS.fft_c2r(z, 1, 0, 10, U="f32").shape == (0, 10, 3)
