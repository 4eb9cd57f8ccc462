"""A read of a `mut` tensor gives the old value, wherever and whenever it is read."""

from __future__ import annotations

import pytest
import quern
import torch

TEXT = """
rowwise shifted[T: Number](p: mut T[A]):
    p = p.at(A = index(A) - 1, outside = 0) + p

rowwise doubled_and_summed(p: mut f32[R, C]) -> f32[R]:
    p = p * 2
    return sum(p over C)

rowwise twice_reduced(p: mut f32[R, C]) -> f32[R]:
    p = p - max(p over C)
    return sum(p * max(p over C) over C)

rowwise crosswise(p: mut f32[R, C]):
    p = p - sum(p over R) - sum(p over C)

rowwise swapped_and_turned(p: mut f32[A], q: mut f32[A]):
    p = q.at(A = size(A) - 1 - index(A))
    q = p.at(A = size(A) - 1 - index(A))

rowwise two_ways(p: mut f32[R, C], q: mut f32[R, C]):
    p = p + q - sum(p over R)
    q = q + p - sum(q over C)

rowwise added_at(p: mut f32[C], i: i64[C]):
    p = scatter(p, at = (C = i), p, with = sum)

rowwise summed_before(p: mut f32[C]):
    p = scan(sum, p over C, exclusive) + sum(p over C)

rowwise bags(p: mut i64[A]):
    p = sum(j over j: 0 .. p) + sum(p over A)
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


@pytest.mark.parametrize("shape", SHAPES)
def test_results_behind_the_write(k: quern.Module, shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    p = x.clone()
    assert torch.equal(k.doubled_and_summed(p), x.sum(1))
    assert torch.equal(p, 2 * x)
    p = x.clone()
    top = x.amax(1, keepdim=True)
    assert torch.equal(k.twice_reduced(p), (x * top).sum(1))
    assert torch.equal(p, x - top)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_columns(k: quern.Module, shape: tuple[int, int], turned: bool) -> None:
    x, y = numbers(*shape), numbers(*shape).flip(0)
    p, q = (
        t.T.clone(memory_format=torch.contiguous_format).T if turned else t.clone() for t in (x, y)
    )
    k.crosswise(p)
    assert torch.equal(p, x - x.sum(0) - x.sum(1, keepdim=True))
    p.copy_(x)
    k.two_ways(p, q)
    assert torch.equal(p, x + y - x.sum(0))
    assert torch.equal(q, y + x - y.sum(1, keepdim=True))


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
    assert torch.equal(bags, torch.arange(30) * (torch.arange(30) - 1) // 2 + 435)


def test_swapped(k: quern.Module) -> None:
    x, y = numbers(1000), numbers(1000).flip(0)
    p, q = x.clone(), y.clone()
    k.swapped_and_turned(p, q)
    assert torch.equal(p, y.flip(0))
    assert torch.equal(q, x.flip(0))
