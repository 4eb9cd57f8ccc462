"""Kernels read and write nothing outside of their operands: pages around them cannot be touched."""

from __future__ import annotations

from typing import Any

import _quern
import numpy as np
import pytest
from guard_pages import between_pages
from targets import runnable

SOURCE = """
rowwise above[T: Real](x: T[R, C]) -> T[R, C]:
    return x.at(R = index(R) - 1, C = 1 - index(C) if index(C) < 1 else index(C) - 1, outside = 0)

rowwise below[T: Real](x: T[R, C]) -> T[R, C]:
    return x.at(R = index(R) + 1, C = 1 - index(C) if index(C) < 1 else index(C) - 1, outside = 0)

rowwise turned[T: Real](x: T[R, C]) -> T[C, R]:
    return x

rowwise reversed[T: Real](x: T[R, C]) -> T[R, C]:
    return x.at(C = size(C) - 1 - index(C))

rowwise rolled[T: Real](x: T[R, C]) -> T[R, C]:
    return x.at(R = (index(R) + 1) % size(R), C = (index(C) + 3) % size(C))

rowwise smooth[T: Real](x: T[R, C]) -> T[R, C]:
    return T(sum(x.at(R = index(R) + i,
                      C = index(C) + j, outside = 0) over (i: -1 .. 2, j: -1 .. 2)))

rowwise peaks[T: Real](x: T[R, C]) -> T[P = R // 2, Q = C // 3]:
    return max(x.at(R = 2 * index(P) + i, C = 3 * index(Q) + j) over (i: 0 .. 2, j: 0 .. 3))

rowwise totals[T: Real](x: T[R, C]) -> (T[R], T[C]):
    return T(sum(x over C)), T(sum(x over R))

rowwise running[T: Real](x: T[R, C]) -> T[R, C]:
    return T(scan(sum, x over C))

rowwise squares[T: Real](x: T[R, C]) -> T[R, R2 = R]:
    return T(sum(x * x.at(R = index(R2)) over C))
"""
SHAPES = [(1, 1), (2, 3), (7, 5), (16, 16), (31, 67), (64, 3), (3, 1024), (130, 131)]


def guarded(shape: tuple[int, ...], dtype: Any, at_end: bool) -> np.ndarray[Any, Any]:
    array = np.arange(np.prod(shape), dtype=np.int64) % 7 - 3
    return between_pages(array.reshape(shape).astype(dtype), at_end)


def shifted(x: np.ndarray[Any, Any], by: int) -> np.ndarray[Any, Any]:
    rows, columns = x.shape
    wide = np.zeros((rows + 2, columns), x.dtype)
    wide[1:-1] = x
    mirrored = np.abs(np.arange(columns) - 1)
    inside = np.where(mirrored < columns, mirrored, 0)
    return np.where(mirrored < columns, wide[1 + by : 1 + by + rows][:, inside], 0)


def smooth(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wide = np.pad(x, 1)
    rows, columns = x.shape
    return sum(wide[i : i + rows, j : j + columns] for i in range(3) for j in range(3))


def peaks(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    rows, columns = x.shape[0] // 2, x.shape[1] // 3
    return x[: 2 * rows, : 3 * columns].reshape(rows, 2, columns, 3).max((1, 3), initial=-9)


EXPECTED = {
    "above": lambda x: shifted(x, -1),
    "below": lambda x: shifted(x, 1),
    "turned": lambda x: x.T,
    "reversed": lambda x: x[:, ::-1],
    "rolled": lambda x: np.roll(x, (-1, -3), (0, 1)),
    "smooth": smooth,
    "peaks": peaks,
    "totals": lambda x: (x.sum(1), x.sum(0)),
    "running": lambda x: x.cumsum(1),
    "squares": lambda x: x @ x.T,
}


@pytest.fixture(
    scope="module",
    params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "")],
)
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=1)
    return session.compile(SOURCE, "guarded.qn")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32], ids=str)
@pytest.mark.parametrize("name", EXPECTED)
def test_reads_and_writes_stay_inside(kernels: _quern.Module, name: str, dtype: Any) -> None:
    for shape in SHAPES:
        for at_end in (False, True):
            x = guarded(shape, dtype, at_end)
            wanted = EXPECTED[name](x)
            several = isinstance(wanted, tuple)
            wanted = wanted if several else (wanted,)
            outs = tuple(guarded(each.shape, dtype, at_end) for each in wanted if each.size)
            if len(outs) < len(wanted):
                continue
            getattr(kernels, name)(x, out=outs if several else outs[0])
            for got, exact in zip(outs, wanted, strict=True):
                np.testing.assert_array_equal(got, exact)
