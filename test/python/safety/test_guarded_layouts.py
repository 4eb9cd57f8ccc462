"""Operands of every layout, between pages that cannot be touched: results are right, and the
bytes between the elements of an output stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _quern
import numpy as np
import pytest
from guarded import Guarded, Strides, layouts, random_strides
from slices import matrix
from targets import runnable

SOURCE = """
elementwise doubled[T: Number](x: T) -> T:
    return x + x

elementwise added[T: Number](x: T, y: T) -> T:
    return x + y

elementwise wider(x: i8) -> i64:
    return i64(x)

elementwise narrower(x: i64) -> i8:
    return i8(x)

rowwise copied[T: Any](x: T[A, B]) -> T[A, B]:
    return x

rowwise turned[T: Any](x: T[A, B]) -> T[B, A]:
    return x

rowwise met[T: Number](x: T[A, B], y: T[B, A]) -> T[A, B]:
    return x + y

rowwise both[T: Real](x: T[A, B]) -> (T[A, B], T[B, A]):
    return x + 1, x

rowwise totals[T: Real](x: T[A, B]) -> (T[A], T[B]):
    return T(sum(x over B)), T(sum(x over A))

rowwise centred[T: Real](x: T[A, B]) -> T[A, B]:
    return x - max(x over B)

rowwise running[T: Real](x: T[A, B]) -> T[A, B]:
    return T(scan(sum, x over B))

rowwise shifted[T: Real](x: T[A, B]) -> T[A, B]:
    return x.at(B = index(B) - 1, outside = 7)

rowwise twice[T: Real](x: T[A, B]) -> T[A, C = 2 * size(B)]:
    return x.at(B = index(C) // 2)

rowwise sorted_rows[T: Real](x: T[A, B]) -> T[A, B]:
    return sort_by(x over B)

rowwise outer[T: Real](x: T[A], y: T[B]) -> T[A, B]:
    return x + y

rowwise grid[T: Real](x: T[A, B, C]) -> T[C, A, B]:
    return x + 1
"""


def shift(x: Any) -> Any:
    made = np.full_like(x, 7)
    made[:, 1:] = x[:, :-1]
    return made


MEANING: dict[str, Callable[..., Any]] = {
    "doubled": lambda x: x + x,
    "added": lambda x, y: x + y,
    "wider": lambda x: x.astype(np.int64),
    "narrower": lambda x: x.astype(np.int8),
    "copied": lambda x: x,
    "turned": lambda x: x.T,
    "met": lambda x, y: x + y.T,
    "both": lambda x: (x + x.dtype.type(1), x.T),
    "totals": lambda x: (x.sum(1, dtype=x.dtype), x.sum(0, dtype=x.dtype)),
    "centred": lambda x: x - x.max(1, keepdims=True),
    "running": lambda x: x.cumsum(1, dtype=x.dtype),
    "shifted": shift,
    "twice": lambda x: x.repeat(2, 1),
    "sorted_rows": lambda x: np.sort(x, 1),
    "outer": lambda x, y: x[:, None] + y[None, :],
    "grid": lambda x: (x + x.dtype.type(1)).transpose(2, 0, 1),
}
DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}
EVERYTHING = {**DTYPES, "bool": "?", "c64": "c8", "c128": "c16"}
OF_NAME = {
    "wider": ["i8"],
    "narrower": ["i64"],
    "copied": list(EVERYTHING),
    "turned": list(EVERYTHING),
    "doubled": [*DTYPES, "c64", "c128"],
    "added": [*DTYPES, "c64", "c128"],
    "met": [*DTYPES, "c64", "c128"],
}
SHAPES = [(16, 3), (3, 16), (2, 17), (33, 4), (70, 2), (5, 64), (1, 31), (48, 1), (20, 21)]


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    kind = np.dtype(dtype)
    small = rng.integers(-9, 10, shape)
    return (small > 0) if kind.kind == "b" else small.astype(kind)


def shapes_of(name: str, shape: tuple[int, int]) -> list[tuple[int, ...]]:
    if name == "outer":
        return [(shape[0],), (shape[1],)]
    if name == "met":
        return [shape, shape[::-1]]
    if name == "grid":
        return [(2, *shape)]
    return [shape, shape] if name == "added" else [shape]


def check(
    kernels: _quern.Module,
    name: str,
    rng: np.random.Generator,
    inputs: list[Guarded],
    make: Callable[[tuple[int, ...], Any], Guarded],
) -> None:
    for each in inputs:
        each.array[...] = numbers(rng, each.array.shape, each.array.dtype.str)
    wanted = MEANING[name](*(each.array.copy() for each in inputs))
    several = isinstance(wanted, tuple)
    exact = wanted if several else (wanted,)
    outs = [make(each.shape, each.dtype) for each in exact]
    arrays = tuple(out.array for out in outs)
    getattr(kernels, name)(*(each.array for each in inputs), out=arrays if several else arrays[0])
    for out, right in zip(outs, exact, strict=True):
        where = f"{[i.array.strides for i in inputs]} to {out.array.strides}, {right.shape}"
        np.testing.assert_array_equal(out.array, right, where)
        assert out.is_untouched(), where
    assert all(each.is_untouched() for each in inputs)


@pytest.fixture(
    scope="module",
    params=[runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "")],
)
def kernels(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=1)
    return session.compile(SOURCE, "guarded.qn")


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("dtype", ["i8", "f32", "f64"])
def test_short_lines_of_every_layout(kernels: _quern.Module, dtype: str, at_end: bool) -> None:
    rng = np.random.default_rng(1)
    for name in ("turned", "met"):
        for shape in [(80, 2), (81, 3), (128, 4), (83, 5), (2, 80), (4, 81)]:
            sizes = shapes_of(name, shape)
            for _, own in layouts(MEANING[name](*(np.empty(size) for size in sizes)).shape):
                inputs = [Guarded(size, DTYPES[dtype], at_end=at_end) for size in sizes]

                def make(size: tuple[int, ...], kind: Any, own: Strides = own) -> Guarded:
                    return Guarded(size, kind, own, at_end=at_end)

                check(kernels, name, rng, inputs, make)


CASES = matrix(
    "layouts",
    [(n, d, seed) for n in MEANING for d in OF_NAME.get(n, DTYPES) for seed in range(20)],
    group=lambda case: case[0],
    quick=0.02,
)


@pytest.mark.parametrize(("name", "dtype", "seed"), CASES)
def test_random_layouts(kernels: _quern.Module, name: str, dtype: str, seed: int) -> None:
    rng = np.random.default_rng([seed, *name.encode()])
    for _ in range(4):
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        at_end = bool(rng.integers(2))

        def make(size: tuple[int, ...], kind: Any, at_end: bool = at_end) -> Guarded:
            strides = random_strides(rng, size, backwards=True)
            return Guarded(size, kind, strides, at_end=at_end)

        inputs = [make(each, EVERYTHING[dtype]) for each in shapes_of(name, shape)]
        check(kernels, name, rng, inputs, make)
