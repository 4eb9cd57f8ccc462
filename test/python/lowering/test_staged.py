"""Values that must be whole before they are read: scans, scatters, moved reductions."""

from __future__ import annotations

import pytest
import quern
import torch
from torch.nn import functional

SOURCE = """
reduction norm[T: Float](p: acc(T) = 2):
    state: acc(T) = 0
    step(s, x: T): s + pow(abs(acc(T)(x)), p)
    merge(a, b): a + b
    finish(s): pow(s, 1 / p)

reduction place:
    state: (best: f32 = -inf, at: i64 = -1)
    step(s, x: f32, i: index): (x if x > s.best else s.best, i if x > s.best else s.at)
    merge(a, b): (b.best if b.best > a.best else a.best, b.at if b.best > a.best else a.at)
    finish(s): s.at

rowwise both_axes(x: f32[R, C]) -> f32[R, C]:
    return scan(sum, scan(sum, x over C) over R)

rowwise both_ways(x: f32[R, C]) -> f32[R, C]:
    return scan(sum, x over C) + scan(sum, x over C, reverse)

rowwise shifted(x: f32[R, C]) -> f32[R, C]:
    let c = scan(sum, x over C)
    return c.at(C = index(C) - 1, outside = 0)

rowwise first_share(x: f32[R, C]) -> f32[R]:
    return (x / sum(x over C)).at(C = 0)

rowwise doubled(into: f32[N], i: i64[M], x: f32[M]) -> f32[N]:
    let s = scatter(into, at = (N = i), x, with = sum)
    return s * 2 + s.at(N = 0)

rowwise norms(x: f32[R, C], p: f32) -> (f32[R], f32[R]):
    return norm(x, p = p over C), norm(x over C)

rowwise in_window(x: f32[R, C], a: int, b: int) -> i64[R]:
    return place(x.at(C = i) over i: a .. b)

rowwise added(into: f32[A, R], i: i64[I], values: f32[I, R]) -> f32[A, R]:
    return scatter(into, at = (A = i), values, with = sum)

elementwise clipped[T: Real](x: T, low: T = lowest(T), high: T = highest(T)) -> T:
    return min(max(x, low), high)
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "staged.qn")


def close(got: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


SHAPES = [(4, 9), (1, 1), (3, 70), (65, 33), (0, 4), (4, 0)]


@pytest.mark.parametrize("shape", SHAPES)
def test_scans_along_two_axes(k: quern.Module, shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    close(k.both_axes(x), x.cumsum(1).cumsum(0))


@pytest.mark.parametrize("shape", SHAPES)
def test_scans_in_two_directions(k: quern.Module, shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    close(k.both_ways(x), x.cumsum(1) + x.flip(1).cumsum(1).flip(1))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_scan_read_elsewhere(k: quern.Module, shape: tuple[int, int]) -> None:
    x = torch.randn(shape)
    close(k.shifted(x), functional.pad(x.cumsum(1), (1, 0))[:, : shape[1]])


def test_a_reduction_in_what_is_read_elsewhere(k: quern.Module) -> None:
    x = torch.rand(5, 40) + 1
    close(k.first_share(x), x[:, 0] / x.sum(1))


def test_the_value_of_a_scatter(k: quern.Module) -> None:
    into, i, x = torch.randn(5), torch.tensor([1, 1, 2, 0]), torch.randn(4)
    s = into.index_add(0, i, x)
    close(k.doubled(into, i, x), s * 2 + s[0])


def test_parameters_of_a_reduction(k: quern.Module) -> None:
    x = torch.randn(4, 50)
    third, second = k.norms(x, 3.0)
    close(third, x.norm(3, 1))
    close(second, x.norm(2, 1))


def test_positions_count_from_the_lower_bound(k: quern.Module) -> None:
    x = torch.randn(4, 50)
    assert torch.equal(k.in_window(x, 7, 31), x[:, 7:31].argmax(1))


def test_an_empty_operand_is_not_read(k: quern.Module) -> None:
    into, i = torch.randn(5, 5), torch.zeros(0, dtype=torch.int64)
    values = torch.ones(0, 5).as_strided((0, 5), (0, 1))
    close(k.added(into, i, values), into)


def test_defaults_of_scalar_parameters(k: quern.Module) -> None:
    x = torch.randn(50)
    assert torch.equal(k.clipped(x), x)
    n = torch.arange(-5, 5, dtype=torch.int32)
    assert torch.equal(k.clipped(n), n)
