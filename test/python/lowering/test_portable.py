"""`@portable` reductions: equal bits for any threads, any vector width and any layout."""

from __future__ import annotations

import _quern
import numpy as np
import pytest
import torch
from targets import LEVELS, runnable

SOURCE = """
from math use exp

@portable
rowwise total[T: Float](x: T[R, C]) -> acc(T)[R]:
    return sum(x over C)

@portable
rowwise mean[T: Float](x: T[R, C]) -> acc(T)[R]:
    return sum(x over C) / acc(T)(size(C))

@portable
rowwise softmax[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

@portable
rowwise variance[T: Float](x: T[R, C]) -> acc(T)[R]:
    let s = moments(x over C)
    return s.m2 / s.n

@portable
rowwise positive[T: Float](x: T[R, C]) -> (acc(T)[R], i64[R], i64[R]):
    return sum(x over C where x > 0), count(x > 0 over C), argmax(x over C)
"""

NAMES = ("total", "mean", "softmax", "variance", "positive")
LENGTHS = (1, 7, 15, 16, 17, 32, 47, 49, 63, 64, 65, 80, 1000)


def results(session: _quern.Session, strided: bool) -> list[torch.Tensor]:
    module = session.compile(SOURCE, "portable.qn")
    made = []
    for length in LENGTHS:
        x = torch.from_numpy(np.random.default_rng(3).normal(size=(37, length)).astype(np.float32))
        if strided:
            x = x.T.contiguous().T
        for name in NAMES:
            result = getattr(module, name)(x)
            made += result if isinstance(result, tuple) else [result]
    return made


@pytest.fixture(scope="module")
def wanted() -> list[torch.Tensor]:
    return results(_quern.Session(threads=1, cache="-"), strided=False)


def test_values(wanted: list[torch.Tensor]) -> None:
    for index, length in enumerate(LENGTHS):
        x = torch.from_numpy(np.random.default_rng(3).normal(size=(37, length)).astype(np.float32))
        total, mean, softmax, variance, above, count, place = wanted[7 * index : 7 * index + 7]
        torch.testing.assert_close(total.double(), x.double().sum(1), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(mean.double(), x.double().mean(1), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(softmax.double(), x.double().softmax(1), rtol=1e-5, atol=1e-6)
        spread = x.double().var(1, correction=0)
        torch.testing.assert_close(variance.double(), spread, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(above.double(), x.double().relu().sum(1), rtol=1e-5, atol=1e-5)
        assert torch.equal(count, (x > 0).sum(1))
        assert torch.equal(place, x.argmax(1))


@pytest.mark.parametrize("threads", [2, 7])
def test_any_number_of_threads(wanted: list[torch.Tensor], threads: int) -> None:
    got = results(_quern.Session(threads=threads, cache="-"), strided=False)
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("target", [runnable(name) for name in LEVELS])
def test_any_vector_width(wanted: list[torch.Tensor], target: str) -> None:
    got = results(_quern.Session(threads=1, cache="-", target=target), strided=False)
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


def test_any_layout(wanted: list[torch.Tensor]) -> None:
    got = results(_quern.Session(threads=1, cache="-"), strided=True)
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("target", [runnable(name) for name in LEVELS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_ends_of_special_values(target: str, dtype: torch.dtype) -> None:
    """The larger zero is the positive one, and a NaN stays, wherever they stand in the row."""
    module = _quern.Session(cache="-", target=target).compile(
        "@portable\nrowwise ends[T: Float](x: T[R, C]) -> (T[R], T[R]):\n"
        "    return max(x over C), min(x over C)\n",
        "ends.qn",
    )
    inf, nan = float("inf"), float("nan")
    rows = [[0.0, -0.0], [-0.0, -0.0], [nan, 1.0], [-inf, -inf], [inf, -inf], [-2.0, -1.0]]
    rows += [[-nan, -inf], [1e-30, -1e-30], [3.0, nan]]
    largest = torch.tensor([0.0, -0.0, nan, -inf, inf, -1.0, nan, 1e-30, nan], dtype=dtype)
    least = torch.tensor([-0.0, -0.0, nan, -inf, -inf, -2.0, nan, -1e-30, nan], dtype=dtype)
    for length in (2, 19, 70, 200):
        for seen in (0, 1, length - 1):
            x = torch.tensor([[row[0]] * length for row in rows], dtype=dtype)
            x[:, seen] = torch.tensor([row[1] for row in rows], dtype=dtype)
            for got, expected in zip(module.ends(x), (largest, least), strict=True):
                assert torch.equal(got.isnan(), expected.isnan())
                assert torch.equal(got.nan_to_num(7.0), expected.nan_to_num(7.0))
                assert torch.equal(got.signbit() | got.isnan(), expected.signbit() | got.isnan())


@pytest.mark.parametrize("target", [runnable(name) for name in LEVELS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_short_rows_with_numbers_of_their_own(target: str, dtype: torch.dtype) -> None:
    """A row's factor, bound and position are its own, whether rows lie side by side or alone."""
    source = """
@portable
rowwise own[T: Float](x: T[R, C], by: T[R], most: i64[R]) -> (acc(T)[R], i64[R], i64[R]):
    let first = sum(x * by over C where index(C) <= most)
    return first, count(x > by over C), max(index(R) * 100 + index(C) over C where x < by)
"""
    beside, alone = (
        _quern.Session(threads=2, cache="-", target=target).compile(source, "own.qn").own
        for _ in range(2)
    )
    bounds = torch.arange(37) % 70
    alone(torch.zeros(2, 500, dtype=dtype), torch.ones(2, dtype=dtype), bounds[:2])
    for length in (16, 17, 32, 33, 48, 64, 65):
        x, by = torch.randn(37, length).to(dtype), torch.randn(37).to(dtype)
        got, wanted = beside(x, by, bounds), alone(x, by, bounds)
        assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
        taken = torch.arange(length) <= bounds[:, None]
        exact = (x.double() * by.double()[:, None] * taken).sum(1)
        torch.testing.assert_close(got[0].double(), exact, rtol=1e-2, atol=1e-1)
        assert torch.equal(got[1], (x > by[:, None]).sum(1))


def across(x: torch.Tensor) -> torch.Tensor:
    """The same numbers, with neighbours along the rows before the last axis."""
    return x.mT.contiguous().mT


@pytest.mark.parametrize("target", [runnable(name) for name in LEVELS])
def test_short_rows_of_joined_operands_and_of_small_integers(target: str) -> None:
    """Rows side by side have the bits of rows alone."""
    source = """
@portable
rowwise joined(xs: list[f32[R, C]]) -> (f32[R], f32[R, C]):
    let x = concat(xs over C)
    let s = sum(x over C)
    return s, x / s

@portable
rowwise planes[T: Float](x: T[R, B, C]) -> (acc(T)[R], T[R]):
    return sum(x over (B, C)), max(x over (B, C))

@portable
rowwise counts[T: Int](x: T[R, B, C]) -> (acc(T)[R], T[R]):
    return sum(x over (B, C)), max(x over (B, C))
"""
    module = _quern.Session(threads=2, cache="-", target=target).compile(source, "short.qn")
    for dtype in (torch.float32, torch.int8, torch.bfloat16, torch.float64):
        name = "planes" if dtype.is_floating_point else "counts"
        call = getattr(module, name)
        for length in (5, 16, 40, 64, 65, 200, 300):
            x = (torch.randn(37, 3, length) * 9).to(dtype)
            got, wanted = call(x), call(across(x))
            assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
            assert torch.equal(got[1], x.flatten(1).amax(1))
            exact = x.double().sum((1, 2))
            torch.testing.assert_close(got[0].double(), exact, rtol=1e-4, atol=1e-3)
    lists = [[torch.rand(37, k % width + 1) for k in range(3)] for width in (300, 2, 20, 33)]
    for xs in lists:
        got, wanted = module.joined(xs), module.joined([across(x) for x in xs])
        assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
        x = torch.cat(xs, 1)
        torch.testing.assert_close(got[0], x.sum(1), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(got[1], x / x.sum(1, keepdim=True), rtol=1e-5, atol=1e-6)


STATES = """
@portable
rowwise dot[T: Float](x: T[R, C], y: T[R, C]) -> T[R]:
    return T(sum(x * y over C))

@portable
rowwise folded[T: Float](x: T[R, C], y: T[R, C]) -> (T[R], T[R], T[R]):
    return prod(x + y over C), T(sum(x over C)), max(x - y over C)

reduction furthest[T: Float]:
    state: T = 1
    step(s, x: T): x if abs(x) > abs(s) else s
    merge(a, b): b if abs(b) > abs(a) else a

@portable
rowwise user[T: Float](x: T[R, C], y: T[R, C]) -> T[R]:
    return furthest(x * y over C)

reduction fused[T: Float]:
    state: T = 0
    step(s, x: T, y: T): fma(x, y, s)
    merge(a, b): a + b

@portable
rowwise products[T: Float](x: T[R, C], y: T[R, C]) -> T[R]:
    return fused(x, y over C)
"""


@pytest.mark.parametrize("target", [runnable(name) for name in LEVELS])
def test_short_rows_have_the_bits_of_any(target: str) -> None:
    """Rows of neighbours are made side by side where they are short, others are not."""

    def operands(length: int) -> list[torch.Tensor]:
        random = np.random.default_rng(length)
        x, y = random.normal(size=(2, 37, length)).astype(np.float32)
        x[::3] *= np.float32(1e-30)
        y[::3] = -x[::3]  # the products are zeros below zero
        x[1::3, :] = -0.0
        return [torch.from_numpy(x), torch.from_numpy(y)]

    session = _quern.Session(threads=1, cache="-", target=target)
    module = session.compile(STATES, "states.qn")
    for name in ("dot", "folded", "user", "products"):
        for length in LENGTHS[:-1]:
            given = operands(length)
            beside = getattr(module, name)(*given)
            alone = getattr(module, name)(*map(across, given))
            if isinstance(beside, torch.Tensor):
                beside, alone = (beside,), (alone,)
            for one, other in zip(beside, alone, strict=True):
                assert torch.equal(one.view(torch.int32), other.view(torch.int32))


PACKS = """
@portable
rowwise whole[T: Float](x: T[*P]) -> acc(T)[]:
    return sum(x over *P)

@portable
rowwise parts[T: Float](x: T[R, *P]) -> (acc(T)[R], acc(T)[R], i64[R]):
    let s = moments(x over *P)
    return sum(x over *P), s.m2 / s.n, argmax(x over *P)

rowwise called[T: Float](x: T[R, *P]) -> acc(T)[R]:
    return ordered_sum(x over *P)

@portable
reduction ordered_sum[T: Float]:
    state: acc(T) = 0
    step(s, x: T): s + acc(T)(x)
    merge(a, b): a + b
"""


@pytest.mark.parametrize("shape", [(5, 6, 7), (4, 1, 33), (3, 70, 2), (2, 3, 4, 17), (6, 5, 1)])
def test_packs_are_summed_in_the_order_of_their_extents(shape: tuple[int, ...]) -> None:
    module = _quern.Session(threads=1, cache="-").compile(PACKS, "packs.qn")
    x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    layouts = [x, np.asfortranarray(x), np.concatenate([x, x], -1)[..., : shape[-1]]]
    layouts += [np.ascontiguousarray(x[..., ::-1])[..., ::-1], np.repeat(x, 2, 1)[:, ::2]]
    layouts.append(np.ascontiguousarray(x.swapaxes(0, -1)).swapaxes(0, -1))
    made = [[module.whole(y), *module.parts(y), module.called(y)] for y in layouts]
    exact = x.astype(np.float64)
    np.testing.assert_allclose(made[0][0], exact.sum(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(made[0][1], exact.reshape(shape[0], -1).sum(1), 1e-4, 1e-4)
    for others in made[1:]:
        for one, other in zip(made[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
