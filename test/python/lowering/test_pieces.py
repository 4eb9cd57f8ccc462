"""Reads at positions that bend, wrap or fall, complex pairs, dear branches: against PyTorch."""

from __future__ import annotations

import itertools

import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
rowwise mirrored[T: Any](x: T[R, W], left: int, right: int) -> T[R, Q = W + left + right]:
    let place = -(index(Q) - left) if index(Q) < left else index(Q) - left
    return x.at(W = 2 * (size(W) - 1) - place if place >= size(W) else place)

rowwise nearest[T: Any](x: T[R, W], left: int, right: int) -> T[R, Q = W + left + right]:
    return x.at(W = max(min(index(Q) - left, size(W) - 1), 0))

rowwise turned[T: Any](x: T[R, W]) -> T[R, W]:
    return x.at(W = size(W) - 1 - index(W))

rowwise repeated[T: Any](x: T[R, W], n: int) -> T[R, Q = W * n]:
    return x.at(W = index(Q) % size(W))

rowwise rolled[T: Any](x: T[R, W], by: int) -> T[R, W]:
    return x.at(W = (index(W) - by) % size(W))

rowwise wrapped[T: Any](x: T[R, W], by: int) -> T[R, W]:
    let place = index(W) - by % size(W)
    return x.at(W = int(min(u64(place), u64(place + size(W)))))

rowwise farther[T: Any](x: T[R, W], by: int) -> T[R, W]:
    return x.at(W = int(max(u64(index(W) - by), u64(by))), outside = 0)

rowwise halves[T: Any](x: T[R, W], k: int) -> T[R, Q = W]:
    return x.at(W = index(Q) // k, outside = 0) if index(Q) < size(W) else 0

rowwise bounced[T: Any](x: T[R, W], n: int) -> T[R, Q = n]:
    return x.at(W = abs(index(Q) - size(W) + 1), outside = 7)

rowwise picked[T: Any](x: T[R, W], i: i64[Q]) -> T[R, Q]:
    return x.at(W = i, outside = 1)

rowwise every[T: Any](x: T[R, W], start: int) -> T[R, W]:
    return x.at(W = index(W) + start)

rowwise joined[T: Float](x: T[R, W], left: int, into: mut T[R, Q]):
    into = into + x.at(W = abs(index(Q) - left))

elementwise swapped[T: Complex](x: T, y: T) -> T:
    return x * y + conj(x)

elementwise bent[T: Float](x: T, y: T) -> T:
    return x + y if x > 0 else exp(x) * log(2 - x) + sin(y) * tanh(x)
"""

WIDTHS = (1, 2, 15, 16, 17, 33, 64, 65, 130, 1000)
DTYPES = (torch.float32, torch.float64, torch.int8, torch.bfloat16, torch.bool)


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE)


def rows(width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    x = torch.arange(3 * width).reshape(3, width) % 251 - 100
    return (x % 3 == 0) if dtype is torch.bool else x.to(dtype)


def equal(got: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_moved(kernels: quern.Module, width: int, dtype: torch.dtype) -> None:
    x = rows(width, dtype)
    equal(kernels.turned(x), x.flip(1))
    for by in (0, 1, width - 1, width, -3, 5 * width + 2):
        equal(kernels.rolled(x, by), x.roll(by, 1))
        equal(kernels.wrapped(x, by), x.roll(by, 1))
    for by in (0, 1, width // 2, width - 1):
        places = torch.arange(width) - by
        places = torch.where(places >= 0, places.clamp(min=by), -1)
        equal(kernels.farther(x, by), torch.where(places < 0, 0, x[:, places]).to(dtype))
    for n in (1, 2, 5):
        equal(kernels.repeated(x, n), x.repeat(1, n))
    for k in (1, 2, 20, 2 * width):
        places = torch.arange(width) // k
        equal(kernels.halves(x, k), x[:, places])


@pytest.mark.parametrize("width", WIDTHS)
def test_borders(kernels: quern.Module, width: int) -> None:
    x = rows(width)
    for left, right in itertools.product((0, 1, 7, 40), repeat=2):
        wanted = functional.pad(x[None], (left, right), mode="replicate")[0]
        equal(kernels.nearest(x, left, right), wanted)
        if max(left, right) < width:
            wanted = functional.pad(x[None], (left, right), mode="reflect")[0]
            equal(kernels.mirrored(x, left, right), wanted)
    places = (torch.arange(3 * width) - width + 1).abs()
    wanted = torch.where(places < width, x[:, places.clamp(max=width - 1)], 7)
    equal(kernels.bounced(x, 3 * width), wanted)


@pytest.mark.parametrize("count", [1, 4, 6, 7, 19, 200_003])
def test_rows_are_changed_once(kernels: quern.Module, count: int) -> None:
    """Four rows share places; the last four may be three, of which one is made twice."""
    x, y = torch.randn(count, 8), torch.randn(count, 11)
    wanted = y + x[:, (torch.arange(11) - 3).abs()]
    kernels.joined(x, 3, y)
    equal(y, wanted)


@pytest.mark.parametrize("layout", ["columns", "steps", "expanded"])
def test_layouts(kernels: quern.Module, layout: str) -> None:
    x = rows(99)
    if layout == "columns":
        x = x.T.contiguous().T
    elif layout == "steps":
        x = rows(198)[:, ::2]
    else:
        x = rows(1).expand(3, 99)
    equal(kernels.turned(x), x.flip(1))
    equal(kernels.rolled(x, 40), x.roll(40, 1))
    equal(kernels.nearest(x, 20, 3), functional.pad(x[None], (20, 3), mode="replicate")[0])


@pytest.mark.parametrize("start", [-1, 1, 40, -64])
def test_bad_places_are_named(kernels: quern.Module, start: int) -> None:
    x = rows(64)
    with pytest.raises(quern.Error, match="W"):
        kernels.every(x, start)
    equal(kernels.every(x, 0), x)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("count", [0, 1, 3, 16, 31, 64, 1000])
def test_pairs(kernels: quern.Module, dtype: torch.dtype, count: int) -> None:
    x, y = torch.randn(2, count, dtype=dtype)
    for a, b in ((x, y), (x[::2], y[::2]), (x, y[:1].expand(count) if count else y)):
        torch.testing.assert_close(kernels.swapped(a, b), a * b + a.conj().resolve_conj())


@pytest.mark.parametrize("signs", ["positive", "negative", "mixed", "one"])
@pytest.mark.parametrize("count", [1, 16, 67, 1000])
def test_dear_branches(kernels: quern.Module, signs: str, count: int) -> None:
    x, y = torch.rand(2, count, dtype=torch.float64) + 0.25
    if signs == "negative":
        x = -x
    elif signs == "mixed":
        x = x * (torch.arange(count) % 3 - 1)
    elif signs == "one":
        x[count // 2] = -1
    other = x.exp() * (2 - x.clamp(max=0)).log() + y.sin() * x.tanh()
    wanted = torch.where(x > 0, x + y, other)
    torch.testing.assert_close(kernels.bent(x, y), wanted)
    torch.testing.assert_close(kernels.bent(x.float(), y.float()), wanted.float())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int16, torch.int8])
@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_gathers_of_less_than_a_word(
    kernels: quern.Module, dtype: torch.dtype, offset: int
) -> None:
    x = (torch.arange(3 * 70 + offset) % 251 - 100).to(dtype)[offset:].view(3, 70)
    places = torch.randint(-3, 74, (101,), generator=torch.Generator().manual_seed(0))
    inside = (places >= 0) & (places < 70)
    wanted = torch.where(inside, x[:, places.clamp(0, 69)], torch.ones((), dtype=dtype))
    equal(kernels.picked(x, places), wanted)
    equal(kernels.picked(x.T.contiguous().T, places), wanted)
