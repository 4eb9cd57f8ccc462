"""Operands that lie across the result, of all types, sizes and strides, against PyTorch."""

from __future__ import annotations

import random

import _quern
import pytest
import torch
from targets import LEVELS, runnable

SOURCE = """
elementwise copied[T: Any](x: T) -> T:
    return x

elementwise added[T: Number](x: T, y: T) -> T:
    return x + y

elementwise mixed(x: f64, y: i8, z: bf16) -> f64:
    return x + f64(y) * f64(z) if y > 0 else x

elementwise doubled[T: Number](x: mut T, y: T):
    x = x + y + y

rowwise beside[T: Float](x: T[R, C], y: T[C, R], z: T[C]) -> (T[R, C], T[C, R]):
    return x * y + z, y

rowwise picked(x: f32[C, R], at: i64[C, R]) -> f32[R, C]:
    return x.at(C = at)

rowwise spread(x: f32[C, R], n: i64[C, R]) -> i64[R, C]:
    return size(R) // n + n % size(C)
"""

#: Around the sides of squares and tiles: vectors, lines of a cache, runs.
EXTENTS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130, 255, 256, 257, 300, 515)
DTYPES = (
    torch.bool,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
)


@pytest.fixture(scope="module", params=[(1, ""), *((2, level) for level in LEVELS)])
def module(request: pytest.FixtureRequest) -> _quern.Module:
    threads, target = request.param
    if target and runnable(target).marks[0].args[0]:
        pytest.skip("this machine has no such vectors")
    return _quern.Session(threads=threads, cache="-", target=target).compile(SOURCE, "turned.qn")


def filled(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    values = torch.randint(-100, 100, shape)
    return values > 0 if dtype == torch.bool else values.to(dtype)


def placed(x: torch.Tensor, generator: random.Random) -> torch.Tensor:
    """The same values in a part of a larger tensor, at some offset."""
    sides = [(generator.choice((0, 0, 1, 3)), generator.choice((0, 0, 1, 5))) for _ in x.shape]
    room = x.new_zeros([low + n + high for n, (low, high) in zip(x.shape, sides, strict=True)])
    part = room[tuple(slice(low, low + n) for n, (low, _) in zip(x.shape, sides, strict=True))]
    part.copy_(x)
    return part


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_two_axes(module: _quern.Module, dtype: torch.dtype) -> None:
    generator = random.Random(str(dtype))
    for _ in range(10):
        rows, columns = generator.choice(EXTENTS), generator.choice(EXTENTS)
        x = placed(filled((rows, columns), dtype), generator)
        assert torch.equal(module.copied(x.T), x.T)
        out = placed(filled((columns, rows), dtype), generator)
        around = out._base.clone() if out._base is not None else None
        before = out.clone()
        module.copied(x.T, out=out)
        assert torch.equal(out, x.T)
        if around is not None:  # nothing beside the result is written
            out.copy_(before)
            assert torch.equal(out._base, around)
        if dtype not in (torch.bool, torch.complex64):
            y = placed(filled((columns, rows), dtype), generator)
            assert torch.equal(module.added(x.T, y), x.T + y)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lines_of_few_elements(module: _quern.Module, dtype: torch.dtype) -> None:
    """Images with a few channels; lines of the result lie together or apart."""
    generator = random.Random(str(dtype))
    for channels in (2, 3, 4, 5, 8, 15, 16):
        for pixels in (1, 16, 65, generator.choice(EXTENTS), 515):
            x = filled((2, channels, pixels), dtype).transpose(1, 2)
            assert torch.equal(module.copied(x), x)
            out = placed(filled(tuple(x.shape), dtype), generator)
            module.copied(x, out=out)
            assert torch.equal(out, x)
            if dtype not in (torch.bool, torch.complex64):
                y = filled(tuple(x.shape), dtype)
                assert torch.equal(module.added(y, x), x + y)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_orders_of_more_axes(module: _quern.Module, dtype: torch.dtype) -> None:
    generator = random.Random(str(dtype))
    orders = [(1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1), (0, 2, 1, 3), (0, 2, 3, 1)]
    orders += [(0, 3, 1, 2), (3, 2, 1, 0)]
    for order in orders:
        shape = [generator.choice((1, 2, 3, 5, 16, 17, 33)) for _ in order]
        x = placed(filled(tuple(shape), dtype), generator).permute(order)
        assert torch.equal(module.copied(x), x)
        if dtype not in (torch.bool, torch.complex64):
            y = filled(tuple(x.shape), dtype)
            assert torch.equal(module.added(y, x), x + y)
            spread = y[:1].expand(y.shape)
            assert torch.equal(module.added(x, spread), x + spread)


def test_several_operands_of_different_sizes(module: _quern.Module) -> None:
    generator = random.Random(5)
    for _ in range(8):
        rows, columns = generator.choice(EXTENTS), generator.choice(EXTENTS)
        x = placed(filled((rows, columns), torch.float64), generator).T
        y = placed(filled((rows, columns), torch.int8), generator).T
        z = placed(filled((rows, columns), torch.bfloat16), generator).T
        exact = torch.where(y > 0, x + y.double() * z.double(), x)
        assert torch.equal(module.mixed(x, y, z), exact)
        assert torch.equal(module.mixed(x, y.contiguous(), z), exact)
        assert torch.equal(module.mixed(x.contiguous(), y, z), exact)


def test_in_place(module: _quern.Module) -> None:
    generator = random.Random(6)
    for dtype in (torch.int8, torch.float16, torch.float32, torch.float64):
        for _ in range(5):
            rows, columns = generator.choice(EXTENTS), generator.choice(EXTENTS)
            x, y = (filled((rows, columns), dtype).clamp(-30, 30) for _ in range(2))
            y = y.T.contiguous().T
            wanted = x + y + y
            module.doubled(x, y)
            assert torch.equal(x, wanted)
            x = filled((rows, columns), dtype).clamp(-30, 30)
            wanted = x.T + x.T.contiguous() * 2
            other = x.T.contiguous()
            module.doubled(x.T, other)
            assert torch.equal(x.T, wanted)


def test_results_of_both_orders(module: _quern.Module) -> None:
    for rows, columns in ((1, 1), (3, 40), (40, 3), (64, 256), (65, 257), (300, 31)):
        x, y, z = torch.randn(rows, columns), torch.randn(columns, rows), torch.randn(columns)
        product, turned = module.beside(x, y, z)
        assert torch.equal(product, x * y.T + z)
        assert torch.equal(turned, y)


def test_places_and_divisors_behind_the_ends_are_not_looked_at(module: _quern.Module) -> None:
    for rows, columns in ((5, 3), (17, 70), (300, 33)):
        x, at = torch.randn(columns, rows), torch.randint(0, columns, (columns, rows))
        assert torch.equal(module.picked(x, at), x.gather(0, at).T)
        n = torch.randint(1, 9, (columns, rows))
        assert torch.equal(module.spread(x, n), (rows // n + n % columns).T)


def test_operands_that_all_lie_across(module: _quern.Module) -> None:
    generator = random.Random(7)
    for dtype in (torch.int16, torch.float32, torch.float64):
        for _ in range(5):
            rows, columns = generator.choice(EXTENTS), generator.choice(EXTENTS)
            x, y = (placed(filled((rows, columns), dtype), generator).T for _ in range(2))
            out = torch.empty(columns, rows, dtype=dtype)
            module.added(x, y, out=out)
            assert torch.equal(out, x + y)


@pytest.mark.parametrize("dtype", [torch.int8, torch.bfloat16, torch.float32, torch.float64])
def test_past_the_caches(dtype: torch.dtype) -> None:
    module = _quern.Session(threads=2, cache="-").compile(SOURCE, "turned.qn")
    side = {1: 5120, 2: 3648, 4: 2560, 8: 1792}[dtype.itemsize]
    for rows, columns in ((side, side), (side + 64, side - 1), (side - 3, side + 7)):
        x = torch.randint(0, 100, (rows, columns), dtype=torch.int8).to(dtype)
        assert torch.equal(module.copied(x.T), x.T)
        y = x.T.contiguous()
        out = torch.empty(rows * columns + 1, dtype=dtype)[1:].view(columns, rows)
        module.added(x.T, y, out=out)
        assert torch.equal(out, y + y)
    for length in (320, 331):
        x = torch.randint(0, 100, (170, side * side // 170 // 320, length)).to(dtype)
        assert torch.equal(module.copied(x.transpose(0, 1)), x.transpose(0, 1))
