"""A `var` read at other positions gives what it is at that line, at those positions."""

from __future__ import annotations

import pytest
import quern
import torch

TEXT = """
rowwise followed(p: f32[A]) -> f32[A]:
    var v = p
    if p > 2:
        v = v + 1
    let w = v
    v = v * 3
    return w.at(A = index(A) + 1, outside = 0) + v

rowwise heat(p: f32[A]) -> f32[A]:
    var v = p
    for t in range(4):
        v = v + v.at(A = index(A) + 1, outside = 0)
    return v

rowwise ordered(p: f32[A]) -> f32[A]:
    var v = p
    v = v * 2
    return sort_by(v over A, stable, descending)

rowwise inside_an_arm(p: f32[A]) -> f32[A]:
    var v = p
    if p > 2:
        v = v + 1
        v = v + v.at(A = index(A) + 1, outside = 0)
    return v

rowwise turned_sums(p: f32[A]) -> f32[A]:
    var v = p
    for t in range(3):
        let s = scan(sum, v + f32(t) over A)
        v = s.at(A = size(A) - 1 - index(A))
    return v

rowwise neighbours(p: f32[A]) -> f32[A]:
    var v = p
    v = v + 1
    return v.at(A = index(A) + 1, outside = 0) * v

rowwise called(p: f32[A]) -> f32[A]:
    return neighbours(p).at(A = size(A) - 1 - index(A)) + neighbours(p)

rowwise window(p: f32[A]) -> f32[A]:
    var v = p
    v = v + 1
    return sum(v.at(A = index(A) + j, outside = 0) over j: 0 .. 3)

rowwise scattered(p: f32[A], i: i64[M]) -> f32[A]:
    var v = p
    let w = scatter(v, at = (A = i), f32(index(M)), with = sum)
    v = v + 100
    return w

rowwise crosswise(p: f32[R, C]) -> f32[R, C]:
    var v = p
    v = v - max(p over C)
    return v.at(R = index(R) - 1, outside = 0) + v.at(C = index(C) - 1, outside = 0)

rowwise joined(p: f32[R, C]) -> f32[R, D = size(C) + size(C)]:
    var v = p
    v = v - max(p over C)
    let w = v
    v = v + 1
    return concat(v, w over C)

rowwise bounded(p: i64[A], x: f32[B]) -> f32[A]:
    var n = p
    let few = sum(x.at(B = j) over j: 0 .. n)
    n = n + 1
    return few.at(A = size(A) - 1 - index(A))

"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(TEXT)


def numbers(*sizes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(sizes))
    return torch.randint(-4, 5, sizes, generator=generator).float()


def after(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[1:], x.new_zeros(min(len(x), 1))])


@pytest.mark.parametrize("length", [1, 5, 17, 3000])
def test_along_an_axis(k: quern.Module, length: int) -> None:
    x = numbers(length)
    v = torch.where(x > 2, x + 1, x)
    assert torch.equal(k.followed(x), after(v) + 3 * v)
    assert torch.equal(k.inside_an_arm(x), torch.where(x > 2, x + 1 + after(x + 1), x))
    assert torch.equal(k.ordered(x), (2 * x).sort(descending=True).values)
    v = x
    for _ in range(4):
        v = v + after(v)
    assert torch.equal(k.heat(x), v)
    product = after(x + 1) * (x + 1)
    assert torch.equal(k.called(x), product.flip(0) + product)
    v = x + 1
    assert torch.equal(k.window(x), v + after(v) + after(after(v)))


def test_scans_that_follow_each_other(k: quern.Module) -> None:
    x = numbers(100)
    v = x
    for t in range(3):
        v = (v + t).cumsum(0).flip(0)
    assert torch.equal(k.turned_sums(x), v)


def test_scatters(k: quern.Module) -> None:
    x, places = numbers(9), torch.tensor([1, 1, 3])
    assert torch.equal(k.scattered(x, places), x.index_add(0, places, torch.arange(3.0)))


def test_along_two_axes(k: quern.Module) -> None:
    x = numbers(4, 6)
    v = x - x.amax(1, keepdim=True)
    wanted = torch.zeros_like(v)
    wanted[1:] += v[:-1]
    wanted[:, 1:] += v[:, :-1]
    assert torch.equal(k.crosswise(x), wanted)
    assert torch.equal(k.joined(x), torch.cat([v + 1, v], 1))


def test_bounds(k: quern.Module) -> None:
    counts, x = torch.tensor([0, 3, 1]), numbers(8)
    wanted = torch.stack([x[:n].sum() for n in counts.tolist()]).flip(0)
    assert torch.equal(k.bounded(counts, x), wanted)


IN_A_LOOP = """
rowwise in_a_loop(p: f32[A], n: i64) -> f32[A]:
    var v = p
    for t in range(n):
        v = v + v.at(A = index(A) + 1, outside = 0)
    return v
"""


ROUNDS = """
rowwise beside[T: Float](x: T[*R, C]) -> T[*R, C]:
    return x + x.at(C = index(C) - 1, outside = 0)

rowwise rounds[T: Float, N: int](x: T[R, C]) -> T[R, C]:
    var s = x
    for i in range(N):
        s = beside(s) * 0.5
        s = s - mean(s over C)
    return s

rowwise scanned[N: int](x: i64[R, C]) -> i64[R, C]:
    var s = x
    for i in range(N):
        s = scan(sum, s over C) % 1000
    return s
"""


@pytest.mark.parametrize("count", [33, 100])
def test_many_rounds_that_are_launches(count: int) -> None:
    """Their values share places in the workspace."""
    k = quern.compile(ROUNDS)
    x = wanted = numbers(3, 17)
    whole = order = torch.arange(34).reshape(2, 17)
    for _ in range(count):
        wanted = (wanted + torch.nn.functional.pad(wanted, (1, 0))[:, :-1]) * 0.5
        wanted = wanted - wanted.mean(1, keepdim=True)
        order = order.cumsum(1) % 1000
    torch.testing.assert_close(k.rounds(x, N=count), wanted)
    assert torch.equal(k.scanned(whole, N=count), order)


def test_what_a_loop_is_still_making() -> None:
    with pytest.raises(quern.Error, match="QN1338"):
        quern.compile(IN_A_LOOP)


WITHIN = """
rowwise grown(x: f32[R]) -> f32[R]:
    var s = x
    for i in range(3):
        for j in range(50):
            var t = s * 0.5
            if t > 1:
                t = t - f32(j)
            s = t + f32(i)
    return s
"""


def test_a_variable_of_a_loop_in_rounds_that_are_written_out() -> None:
    """What an earlier round of the outer loop left in it is no value for the inner loop."""
    k = quern.compile(WITHIN)
    x = torch.tensor([0.5, 3.0, -20.0, 1000.0])
    wanted = x.clone()
    for i in range(3):
        for j in range(50):
            t = wanted * 0.5
            wanted = torch.where(t > 1, t - j, t) + i
    torch.testing.assert_close(k.grown(x), wanted)
