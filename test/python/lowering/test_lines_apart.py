"""Images with a few channels side by side, read into images of one channel after the other."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch

SOURCE = """
elementwise copied[T: Number](x: T) -> T:
    return x

elementwise scaled[T: Number](x: T, mean: f32, deviation: f32) -> f32:
    return (f32(x) / 255 - mean) / deviation

elementwise added(x: f32, y: f32, z: f32) -> f32:
    return x + 2 * y - z
"""

TYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
]  # fmt: skip


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def images(channels: int, size: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    """Channels side by side in memory, though not the last axis."""
    return torch.randint(0, 100, (2, *size, channels)).to(dtype).permute(0, 3, 1, 2)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_copies(kernels: quern.Module, channels: int, dtype: torch.dtype) -> None:
    for size in ((1, 1), (3, 5), (8, 16), (17, 67), (1, 700)):
        x = images(channels, size, dtype)
        for part in (x, x[:, :, :, 1:], x[:, 1:], x[:, :, ::2], x[1:]):
            out = torch.full(part.shape, 111, dtype=dtype)
            assert torch.equal(kernels.copied(part, out=out), part)


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_what_channels_have_in_common(kernels: quern.Module, channels: int) -> None:
    x = images(channels, (19, 45), torch.uint8)
    mean, deviation = torch.rand(2, channels, 1, 1).double()
    out = torch.empty(x.shape)
    exact = (x.double() / 255 - mean) / deviation
    kernels.scaled(x, mean.float(), deviation.float(), out=out)
    torch.testing.assert_close(out, exact.float(), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("channels", [2, 3, 4])
def test_operands_in_other_layouts(kernels: quern.Module, channels: int) -> None:
    size = (13, 70)
    x, y = images(channels, size, torch.float32), images(channels, size, torch.float32)
    wider = images(channels + 1, size, torch.float32)[:, :channels]
    plain = torch.randn(2, channels, *size)
    for given in ((x, y, plain), (plain, x, x), (x, wider, y), (wider, x, plain), (x, y, x)):
        out = torch.empty(plain.shape)
        first, second, third = given
        torch.testing.assert_close(kernels.added(*given, out=out), first + 2 * second - third)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 90])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_named_axes_however_short(channels: int, count: int) -> None:
    """The first call of a session decides what its code has ways for."""
    own = _quern.Session(threads=1, cache="-", target="")
    text = "rowwise k(x: f32[C, N]) -> (f32[C, N], f32[C]):\n    return x + 1, sum(x over N)\n"
    kernel = own.compile(text, "named.qn").k
    for size in (count, 1, 70):
        x = torch.randn(size, channels).t()
        out = torch.empty(channels, size), torch.empty(channels)
        kernel(x, out=out)
        torch.testing.assert_close(out, (x + 1, x.sum(1)))
