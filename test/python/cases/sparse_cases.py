"""Calls of test/kernels/sparse.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype

FILE = "sparse"


def matrix(rows: int, columns: int, share: float = 0.3) -> Array:
    rng = np.random.default_rng(rows + columns)
    return rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < share)


def starts(row: Array, rows: int) -> Array:
    return np.searchsorted(row, np.arange(rows + 1)).astype("i4")


def rows() -> Iterator[Case]:
    for element, shape in (("f32", (60, 40)), ("f64", (1, 3)), ("f16", (30, 30))):
        dense = matrix(*shape).astype(dtype(element))
        most = max((dense != 0).sum(1).max(), 1)
        column, value = np.full((shape[0], most), -1, "i4"), np.zeros((shape[0], most), dense.dtype)
        for r, line in enumerate(dense):
            found = np.flatnonzero(line)
            column[r, : len(found)], value[r, : len(found)] = found, line[found]
        x = np.random.default_rng(1).standard_normal(shape[1]).astype(dense.dtype)
        yield Case(
            FILE,
            "ell_product",
            [column, value, x, np.zeros(shape[0], dense.dtype)],
            [dense.astype("f8") @ x.astype("f8")],
            types={"T": element},
            tolerance={"f16": 5e-3, "f32": 1e-5, "f64": 1e-12}[element],
        )
        x = np.random.default_rng(2).standard_normal((shape[1], 11)).astype(dense.dtype)
        row, place = np.nonzero(dense)
        yield Case(
            FILE,
            "row_times_dense",
            [starts(row, shape[0]), place.astype("i4"), dense[row, place], x,
             np.ones((shape[0], 11), dense.dtype)],
            [dense.astype("f8") @ x.astype("f8")],
            types={"T": element},
            tolerance={"f16": 1e-2, "f32": 1e-5, "f64": 1e-12}[element],
        )  # fmt: skip


def entries() -> Iterator[Case]:
    for shape, wide in (((30, 20), 9), ((4, 5), 1), ((3, 3), 4)):
        dense = matrix(*shape)
        row, column = np.nonzero(dense)
        order = np.random.default_rng(3).permutation(len(row))
        row, column = row[order], column[order]
        x = np.random.default_rng(4).standard_normal((shape[1], wide))
        yield Case(
            FILE,
            "coordinates_product",
            [row, column, dense[row, column], x, np.zeros((shape[0], wide))],
            [dense @ x],
            tolerance=1e-12,
        )
        a, b = np.random.default_rng(5).standard_normal((2, 30, 100)).astype("f4")
        wanted = (a.astype("f8") @ b.T.astype("f8"))[row, column]
        places = [row.astype("i4"), column.astype("i4")]
        given = [*places, a, b, np.zeros(len(row), "f4")]
        yield Case(FILE, "sampled", given, [wanted], tolerance=1e-4)
    column = np.repeat(np.arange(300, dtype="i4"), np.arange(300) % 3)
    counts = (np.arange(300) % 3).astype("u4")
    given = [np.unique(column), np.zeros(300, "u4"), np.ones(len(np.unique(column)), "u4")]
    first = [np.minimum(counts, 1), np.zeros(len(given[0]))]
    yield Case(FILE, "column_counts", given, first)


def blocks() -> Iterator[Case]:
    for element, down, across, wide in (("f16", 3, 4, 20), ("f32", 2, 2, 16), ("f64", 2, 1, 3)):
        rng = np.random.default_rng(down + wide)
        there = rng.random((down, across)) < 0.6
        there[0] = False
        row, column = np.nonzero(there)
        value = rng.standard_normal((len(row), 16, 16)).astype(dtype(element))
        x = rng.standard_normal((16 * across, wide)).astype(dtype(element))
        wanted = np.zeros((16 * down, wide))
        for r, c, block in zip(row, column, value, strict=True):
            wanted[16 * r : 16 * r + 16] += block.astype("f8") @ x[16 * c : 16 * c + 16]
        result = np.ones(wanted.shape, "f8" if element == "f64" else "f4")
        yield Case(
            FILE,
            "block_rows",
            [starts(row, down), column.astype("i4"), value, x, result],
            [wanted],
            types={"T": element},
            tolerance=1e-12 if element == "f64" else 1e-4,
        )


def ranks() -> Iterator[Case]:
    for count in (50, 1):
        linked = matrix(count, count, 0.1) != 0
        row, column = np.nonzero(linked)
        many = np.maximum(linked.sum(1), 1)
        rank = np.full(count, 1 / count)
        given = [starts(row, count), column.astype("i4"), rank, np.zeros(count)]
        for _ in range(4):
            rank = 0.15 / count + 0.85 * linked @ (rank / many)
        wanted = [rank, rank]
        yield Case(FILE, "graph_steps", given, wanted, scalars=(np.float64(0.85),), tolerance=1e-12)


def cases() -> list[Case]:
    return [*rows(), *entries(), *blocks(), *ranks()]
