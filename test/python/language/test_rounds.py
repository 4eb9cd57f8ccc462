"""Reductions in loops whose rounds are known only when running, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quern
from program_file import ProgramFile
from slices import gpus
from tree import ROOT

Array = np.ndarray[Any, Any]
PROGRAM = ProgramFile(ROOT / "test" / "emulator" / "rounds.qn")
TARGETS = gpus("rounds")
SESSIONS = [("", 1), ("", 3), ("x86-64-v2", 1), ("x86-64-v3", 2)]


def clipped_mean(x: Array, n: int) -> list[Array]:
    m = x.mean(1)
    for _ in range(n):
        m = m + np.clip(x - m[:, None], -1, 1).mean(1)
    return [m]


def until_still(x: Array) -> list[Array]:
    m, rounds = np.zeros(len(x)), np.zeros(len(x), np.int64)
    for row in range(len(x)):
        d = 1.0
        while abs(d) > 0.001 and rounds[row] < 100:
            d = np.clip(x[row] - m[row], -1, 1).mean()
            m[row] += d
            rounds[row] += 1
    return [m, rounds]


def sparsemax(x: Array, n: int) -> list[Array]:
    high = x.max(1, keepdims=True)
    low = high - 1
    for _ in range(n):
        t = (low + high) / 2
        over = np.maximum(x - t, 0).sum(1, keepdims=True) > 1
        low, high = np.where(over, t, low), np.where(over, high, t)
    y = np.maximum(x - low, 0)
    return [y / y.sum(1, keepdims=True)]


def windows(x: Array, n: int) -> list[Array]:
    padded = np.pad(x, ((0, 0), (n, 0)))
    total = np.zeros_like(x)
    for i in range(n):
        seen = [padded[:, n - j : n - j + x.shape[1]] for j in range(i + 1)]
        total = total + np.max(seen, axis=0)
    return [total]


def nested(x: Array, n: int) -> list[Array]:
    out = []
    for row in x:
        m, done = 0.0, False
        for i in range(n):
            for j in range(i):
                m = m + (row * j - m).max() if m < 100 else m
            if m > 50:
                done = True
                break
        out.append(m if done else m + 1)
    return [np.array(out)]


CASES: list[tuple[str, Callable[..., list[Array]], tuple[int, ...]]] = [
    ("clipped_mean", clipped_mean, (7,)),
    ("clipped_columns", lambda x, n: clipped_mean(x.T, n), (7,)),
    ("until_still", until_still, ()),
    ("columns_until_still", lambda x: until_still(x.T), ()),
    ("sparsemax", sparsemax, (30,)),
    ("with_every_element", lambda x, n: [x + x.sum(1, keepdims=True) * 10], (5,)),
    ("windows", windows, (4,)),
    ("nested", nested, (5,)),
]
SHAPES = [(1, 1), (3, 5), (5, 40), (33, 17), (2, 300)]


def numbers(shape: tuple[int, int]) -> Array:
    return np.random.default_rng(sum(shape)).normal(1, 1.5, shape)


def compare(made: Any, wanted: list[Array]) -> None:
    for now, then in zip(made if isinstance(made, tuple) else (made,), wanted, strict=True):
        if now.dtype == np.int64:
            assert (np.abs(np.asarray(now) - then) <= 1).all()
        else:
            np.testing.assert_allclose(np.asarray(now), then, rtol=2e-4, atol=2e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "reference", "scalars"), CASES, ids=lambda c: str(c)[:20])
@pytest.mark.parametrize(("target", "threads"), SESSIONS)
def test_on_a_cpu(
    target: str,
    threads: int,
    name: str,
    reference: Callable[..., list[Array]],
    scalars: tuple[int, ...],
    shape: tuple[int, int],
) -> None:
    k = PROGRAM.module(target, threads)
    x = numbers(shape)
    made = getattr(k, name)(x.astype(np.float32), *scalars)
    compare(made, reference(x, *scalars))


@pytest.mark.parametrize("shape", [(3, 5), (5, 40), (2, 300)])
@pytest.mark.parametrize(("name", "reference", "scalars"), CASES, ids=lambda c: str(c)[:20])
@pytest.mark.parametrize("target", TARGETS)
def test_on_a_gpu(
    target: str,
    name: str,
    reference: Callable[..., list[Array]],
    scalars: tuple[int, ...],
    shape: tuple[int, int],
) -> None:
    x = numbers(shape)
    wanted = reference(x, *scalars)
    made = [np.zeros(w.shape, w.dtype if w.dtype == np.int64 else np.float32) for w in wanted]
    PROGRAM.kernel(name, target).run([x.astype(np.float32), *made], list(scalars))
    compare(tuple(made), wanted)


def test_elements_of_a_parameter_are_chosen_when_running() -> None:
    k = quern.compile("""
rowwise weighted(x: f32[C], k: int[3], n: int) -> f32[C]:
    var s = x
    for i in range(n):
        s = s + f32(k[i])
    return s + f32(k[index(C)])
""")
    x = np.arange(6, dtype=np.float32)
    last = np.array([5, 7, 11, 11, 11, 11])
    np.testing.assert_array_equal(k.weighted(x, [5, 7, 11], 4), x + 34 + last)


def test_rounds_within_rounds_that_are_written_out() -> None:
    k = quern.compile("""
rowwise spread(x: f32[C]) -> f32[C]:
    var s = x
    for i in range(4):
        for j in range(i + 1, 3):
            s = s + s.at(C = index(C) - 1, outside = 0) / sum(s over C)
    return s
""")
    x = wanted = np.arange(1, 8, dtype=np.float64)
    for _ in range(3):
        wanted = wanted + np.concatenate([[0], wanted[:-1]]) / wanted.sum()
    np.testing.assert_allclose(k.spread(x.astype(np.float32)), wanted, rtol=1e-5)


SCATTERS = """
rowwise k[N: int](x: f32[C], j: i64[M]) -> f32[C]:
    var s = x
    for i in range(N):
        s = scatter(s, at = (C = j), f32(index(M)), with = sum)
    return s
"""


def test_what_is_made_anew_in_many_rounds() -> None:
    k = quern.compile(SCATTERS)
    x, j = np.ones(5, np.float32), np.array([1, 2])
    np.testing.assert_array_equal(k.k(x, j, N=3), [1, 1, 4, 1, 1])
    np.testing.assert_array_equal(k.k(x, j, N=40), [1, 1, 41, 1, 1])
    with pytest.raises(quern.Error, match="2000 rounds, at most 1024"):
        k.k(x, j, N=2000)
