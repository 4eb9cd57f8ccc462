"""Elements at addresses that are no multiple of their size, as in packed records and buffers of
bytes, in every way to read and write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _quern
import numpy as np
import pytest
from guarded import Guarded
from slices import matrix
from targets import runnable

SOURCE = """
elementwise same[T: Any](x: T) -> T:
    return x

rowwise turned[T: Any](x: T[A, B]) -> T[B, A]:
    return x

rowwise taken[T: Any](x: T[A, B], i: i64[K]) -> T[A, K]:
    return x.at(B = i[index(K)], outside = T(0))

rowwise rows_taken[T: Any](x: T[A, B], i: i64[K]) -> T[K, B]:
    return x.at(A = i[index(K)], outside = T(0))

rowwise backwards[T: Any](x: T[A, B]) -> T[A, B]:
    return x.at(B = size(B) - 1 - index(B))

rowwise mirrored[T: Any](x: T[A, B]) -> T[A, B]:
    return x.at(B = 1 - index(B) if index(B) < 1 else index(B) - 1)

rowwise apart[T: Any](x: T[A, B]) -> T[A, C = size(B) // 3]:
    return x.at(B = 3 * index(C))

rowwise rolled[T: Any](x: T[A, B]) -> T[A, B]:
    return x.at(B = (index(B) + 3) % size(B))

rowwise largest[T: Real](x: T[A, B]) -> T[A]:
    return max(x over B)

rowwise largest_of_columns[T: Real](x: T[A, B]) -> T[B]:
    return max(x over A)

rowwise in_order[T: Real](x: T[A, B]) -> T[A, B]:
    return sort_by(x over B)

rowwise highest[T: Real](x: T[A, B]) -> T[A, B]:
    return scan(max, x over B)

kernel copied[T: Any](x: T[A, B], y: mut T[A, B]):
    launch grid(size(A)) block(32)
    for j in range(thread.x, size(B), 32):
        y[block.x, j] = x[block.x, size(B) - 1 - j]
"""
AT = np.array([3, -1, 40, 0, 7, 7, 2, 39, 12, 5, 1, 0, 33, 8, 6, 2, 31, 30, 4, 9], np.int64)


def taken(x: Any, axis: int) -> Any:
    size = x.shape[axis]
    places = AT
    inside = (places >= 0) & (places < size)
    made = np.take(x, np.where(inside, places, 0), axis)
    return np.where(inside if axis else inside[:, None], made, np.zeros_like(made))


MEANING: dict[str, Callable[[Any], Any]] = {
    "same": lambda x: x,
    "turned": lambda x: x.T,
    "taken": lambda x: taken(x, 1),
    "rows_taken": lambda x: taken(x, 0),
    "backwards": lambda x: x[:, ::-1],
    "mirrored": lambda x: x[:, np.abs(np.arange(x.shape[1]) - 1)],
    "apart": lambda x: x[:, : x.shape[1] // 3 * 3 : 3],
    "rolled": lambda x: np.roll(x, -3, 1),
    "largest": lambda x: x.max(1),
    "largest_of_columns": lambda x: x.max(0),
    "in_order": lambda x: np.sort(x, 1),
    "highest": lambda x: np.maximum.accumulate(x, 1),
    "copied": lambda x: x[:, ::-1],
}
REAL = ("largest", "largest_of_columns", "in_order", "highest")
DTYPES = ["?", "i1", "u1", "i2", "u2", "f2", "i4", "f4", "i8", "f8", "c8", "c16"]
SHAPES = [(40, 36), (3, 130), (130, 3)]


@pytest.fixture(
    scope="module",
    params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "")],
)
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=1)
    return session.compile(SOURCE, "odd.qn")


def offsets(dtype: str) -> range:
    return range(np.dtype(dtype).itemsize)


CASES = matrix(
    "offsets",
    [
        (name, dtype, transposed)
        for name in MEANING
        for dtype in DTYPES
        for transposed in (False, True)
        if name not in REAL or dtype[0] not in "?c"
    ],
    group=lambda case: (case[0], case[1] in ("i2", "f2")),
    quick=0.05,
)


@pytest.mark.parametrize(("name", "dtype", "transposed"), CASES)
def test_every_offset(kernels: _quern.Module, name: str, dtype: str, transposed: bool) -> None:
    rng = np.random.default_rng(3)
    for shape in SHAPES:
        strides = (1, shape[0]) if transposed else (shape[1], 1)
        values = rng.integers(0 if dtype[0] in "u?" else -60, 2 if dtype == "?" else 60, shape)
        exact = MEANING[name](values.astype(dtype))
        for offset in offsets(dtype):
            for at_end in (False, True):
                x = Guarded(shape, dtype, strides, offset=offset, at_end=at_end)
                y = Guarded(exact.shape, dtype, offset=offset, at_end=at_end)
                x.array[...] = values.astype(dtype)
                more = [AT] if "taken" in name else []
                if name == "copied":
                    kernels.copied(x.array, y.array)
                else:
                    getattr(kernels, name)(x.array, *more, out=y.array)
                np.testing.assert_array_equal(y.array, exact, f"{offset}, {shape}")
                assert y.is_untouched()
