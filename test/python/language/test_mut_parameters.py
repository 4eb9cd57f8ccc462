"""A `mut` tensor of lifted text is a variable: a read gives the last value assigned."""

from __future__ import annotations

import pytest
import quern
import torch

TEXT = """
rowwise shifted[T: Number](p: mut T[A]):
    p = p.at(A = index(A) - 1, outside = 0) + p

elementwise twice_added[T: Number](p: mut T, x: T):
    p = p + x
    p = p + x

elementwise relu_scaled(y: mut f32, s: f32):
    y = max(y, 0.0)
    y *= s

elementwise momentum[T: Float](p: mut T, v: mut T?, g: T):
    if const present(v):
        v = 0.5 * v + g
        p = p - v
    else:
        p = p - g

elementwise stopped(y: mut f32, x: f32) -> f32:
    y = y + 1
    if x < 0:
        return y
    y = y * 2
    return y + x

rowwise doubled_and_summed(p: mut f32[R, C]) -> f32[R]:
    p = p * 2
    return sum(p over C)

rowwise standardized(p: mut f32[R, C]):
    p = p - mean(p over C)
    p = p / sqrt(mean(p * p over C))

rowwise rounds(p: mut f32[R], x: f32[R, C]):
    for i in range(0, 3):
        p += sum(x over C)

rowwise crosswise(p: mut f32[R, C]):
    p = p - sum(p over R) - sum(p over C)

rowwise swapped_and_turned(p: mut f32[A], q: mut f32[A]):
    let old = p
    p = q.at(A = size(A) - 1 - index(A))
    q = old.at(A = size(A) - 1 - index(A))

rowwise in_turn(p: mut f32[A], q: mut f32[A]):
    p = q.at(A = size(A) - 1 - index(A)) + 1
    q = p.at(A = size(A) - 1 - index(A)) + p

rowwise added_at(p: mut f32[C], i: i64[C]):
    p = scatter(p, at = (C = i), p, with = sum)

rowwise summed_before(p: mut f32[C]):
    p = scan(sum, p over C, exclusive) + sum(p over C)

rowwise bags(p: mut i64[A]):
    p = p + 1
    p = sum(j over j: 0 .. p)
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(TEXT)


def numbers(*sizes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(sizes))
    return torch.randint(-4, 5, sizes, generator=generator).float()


SHAPES = [(1, 1), (3, 5), (7, 300), (300, 7), (40, 2000), (2000, 40)]


@pytest.mark.parametrize("length", [0, 1, 17, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bfloat16, torch.complex64])
def test_neighbours(k: quern.Module, length: int, dtype: torch.dtype) -> None:
    x = numbers(length).to(dtype)
    wanted = x + torch.cat([x.new_zeros(min(length, 1)), x[:-1]])
    k.shifted(x)
    assert torch.equal(x, wanted)


@pytest.mark.parametrize("length", [0, 1, 17, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.float64, torch.complex64])
def test_twice(k: quern.Module, length: int, dtype: torch.dtype) -> None:
    p, x = numbers(length).to(dtype), numbers(length).flip(0).to(dtype)
    wanted = p + x + x
    k.twice_added(p, x)
    assert torch.equal(p, wanted)


def test_pointwise(k: quern.Module) -> None:
    y, x = numbers(301), numbers(301).flip(0)
    p = y.clone()
    k.relu_scaled(p, x)
    assert torch.equal(p, y.relu() * x)
    p = y.clone()
    last = k.stopped(p, x)
    assert torch.equal(p, torch.where(x < 0, y + 1, 2 * y + 2))
    assert torch.equal(last, torch.where(x < 0, y + 1, 2 * y + 2 + x))


def test_optional(k: quern.Module) -> None:
    p, v, g = numbers(40), numbers(40).flip(0), numbers(40).roll(3)
    first, moved = p.clone(), v.clone()
    k.momentum(first, moved, g)
    assert torch.equal(moved, 0.5 * v + g)
    assert torch.equal(first, p - moved)
    k.momentum(p, None, g)
    assert torch.equal(p, numbers(40) - g)


def test_a_small_float_is_rounded_once(k: quern.Module) -> None:
    p, x = torch.full((8,), 256.0, dtype=torch.bfloat16), torch.ones(8, dtype=torch.bfloat16)
    k.twice_added(p, x)
    assert torch.equal(p, torch.full((8,), 258.0, dtype=torch.bfloat16))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows(k: quern.Module, shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    p = x.clone()
    assert torch.equal(k.doubled_and_summed(p), 2 * x.sum(1))
    assert torch.equal(p, 2 * x)
    p, row = x[:, 0].clone(), x.sum(1)
    k.rounds(p, x)
    assert torch.equal(p, x[:, 0] + 3 * row)


@pytest.mark.parametrize("shape", [(3, 5), (7, 300), (40, 2000)])
def test_standardized(k: quern.Module, shape: tuple[int, int]) -> None:
    x = numbers(*shape).double()
    p = x.float()
    k.standardized(p)
    centered = x - x.mean(1, keepdim=True)
    wanted = centered / centered.square().mean(1, keepdim=True).sqrt()
    torch.testing.assert_close(p.double(), wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_columns(k: quern.Module, shape: tuple[int, int], turned: bool) -> None:
    x = numbers(*shape)
    p = x.T.clone(memory_format=torch.contiguous_format).T if turned else x.clone()
    k.crosswise(p)
    assert torch.equal(p, x - x.sum(0) - x.sum(1, keepdim=True))


def test_scatters_scans_and_bounds(k: quern.Module) -> None:
    x = numbers(70)
    places = torch.arange(70) * 7 % 13
    p = x.clone()
    k.added_at(p, places)
    assert torch.equal(p, x.index_add(0, places, x))
    p = x.clone()
    k.summed_before(p)
    assert torch.equal(p, x.cumsum(0) - x + x.sum())
    bags = torch.arange(30)
    k.bags(bags)
    assert torch.equal(bags, torch.arange(30) * (torch.arange(30) + 1) // 2)


def test_two_tensors(k: quern.Module) -> None:
    x, y = numbers(1000), numbers(1000).flip(0)
    p, q = x.clone(), y.clone()
    k.swapped_and_turned(p, q)
    assert torch.equal(p, y.flip(0))
    assert torch.equal(q, x.flip(0))
    p, q = x.clone(), y.clone()
    k.in_turn(p, q)
    assert torch.equal(p, y.flip(0) + 1)
    assert torch.equal(q, p.flip(0) + p)
