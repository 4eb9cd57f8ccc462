"""Positions that move by long steps, also by such that exceed 64 bits: what is inside is read,
what is outside is not."""

from __future__ import annotations

from typing import Any

import _quern
import numpy as np
import pytest
from guarded import Guarded
from targets import runnable

SOURCE = """
rowwise apart(x: f32[N], s: int, start: int) -> f32[M = 64]:
    return x.at(N = index(M) * s + start, outside = -1)

rowwise by_squares(x: f32[N], s: int, start: int) -> f32[M = 64]:
    return x.at(N = index(M) * s * s + start, outside = -1)

rowwise along_rows(x: f32[A, N], s: int, start: int) -> f32[M = 64]:
    return x.at(A = index(M) * s + start, N = 1, outside = -1)

rowwise windows(x: f32[N], s: int, start: int) -> f32[M = 40]:
    return sum(x.at(N = index(M) + i * s + start, outside = 0) over i: 0 .. 5)

rowwise wide_windows(x: f32[N, A], s: int, start: int) -> f32[M = 40, A]:
    return sum(x.at(N = index(M) + i * s + start, outside = 0) over i: 0 .. 5)

rowwise fixed(x: f32[N], s: int, start: int) -> f32[M = 64]:
    return x.at(N = index(M) * 4294967296 + start, outside = -1)
"""
STEPS = [0, 1, -1, 2, 3, -3, 7, 1 << 20, 1 << 24, (1 << 24) + 1, 1 << 25, 1 << 26, 1 << 27]
STEPS += [1 << 28, 1 << 30, 1 << 31, -(1 << 31), 1 << 32, (1 << 32) + 1, -(1 << 32), 3 << 31]
STEPS += [1 << 60, 1 << 61, 1 << 62, -(1 << 62), -(1 << 63), (1 << 63) - 1, 0x5555555555555556]
STARTS = [0, 3, -5]


def wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def read(row: Any, at: int, outside: float) -> float:
    at = wrapped(at)
    return float(row[at]) if 0 <= at < len(row) else outside


@pytest.fixture(
    scope="module",
    params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "")],
)
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=1)
    return session.compile(SOURCE, "steps.qn")


@pytest.mark.parametrize("step", STEPS)
def test_long_steps(kernels: _quern.Module, step: int) -> None:
    for at_end in (False, True):
        row = Guarded((100,), np.float32, at_end=at_end)
        row.array[...] = np.arange(100) + 1
        rows = Guarded((100, 2), np.float32, at_end=at_end)
        rows.array[...] = np.arange(200).reshape(100, 2)
        for multiple in range(-3, 4):
            for start in STARTS:
                begin = wrapped(multiple * step + start)
                apart = [read(row.array, m * step + begin, -1) for m in range(64)]
                np.testing.assert_array_equal(kernels.apart(row.array, step, begin), apart)
                squares = [read(row.array, m * step * step + begin, -1) for m in range(64)]
                np.testing.assert_array_equal(kernels.by_squares(row.array, step, begin), squares)
                along = [read(rows.array[:, 1], m * step + begin, -1) for m in range(64)]
                np.testing.assert_array_equal(kernels.along_rows(rows.array, step, begin), along)
                sums = [
                    sum(read(row.array, m + i * step + begin, 0) for i in range(5))
                    for m in range(40)
                ]
                np.testing.assert_array_equal(kernels.windows(row.array, step, begin), sums)
                wide = [
                    [
                        sum(read(rows.array[:, a], m + i * step + begin, 0) for i in range(5))
                        for a in range(2)
                    ]
                    for m in range(40)
                ]
                np.testing.assert_array_equal(kernels.wide_windows(rows.array, step, begin), wide)


@pytest.mark.parametrize("lane", [0, 1, 2, 5, 15, 16, 40])
def test_a_step_that_the_text_says(kernels: _quern.Module, lane: int) -> None:
    row = Guarded((100,), np.float32)
    row.array[...] = np.arange(100)
    expected = np.full(64, -1.0)
    expected[lane] = 7
    begin = 7 - lane * (1 << 32)
    np.testing.assert_array_equal(kernels.fixed(row.array, 0, begin), expected)
