"""Calls of test/kernels/sequences.qn, with their meaning in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype

FILE = "sequences"


def whole(element: str, low: int, high: int, *shape: int) -> Array:
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype(element))


def largest() -> Iterator[Case]:
    for element, rows, columns in (("f32", 4, 100), ("i16", 2, 5), ("u8", 3, 33), ("f64", 1, 3)):
        x = whole(element, 0, 30, rows, columns)
        order = np.argsort(-x.astype("f8"), 1, kind="stable")[:, :5]
        y, place = np.full((rows, 5), 7, x.dtype), np.full((rows, 5), -3, "i4")
        wanted_y, wanted_place = y.copy(), place.copy()
        wanted_y[:, : order.shape[1]] = np.take_along_axis(x, order, 1)
        wanted_place[:, : order.shape[1]] = order
        given = [x, y, place]
        yield Case(FILE, "block_topk", given, [wanted_y, wanted_place], types={"T": element})


def kept() -> Iterator[Case]:
    for count in (230, 50, 1, 0):
        x = whole("f32", -20, 20, count)
        blocks = -(-count // 50)
        padded = np.zeros(blocks * 50)
        padded[:count] = x > 3
        counts = padded.reshape(-1, 50).sum(1).astype("i4")
        low = (np.float32(3),)
        yield Case(FILE, "count_kept", [x, np.zeros(blocks, "i4")], [counts], scalars=low)
        place = np.flatnonzero(x > 3)
        result = [np.zeros(len(place), "f4"), np.zeros(len(place), "i8")]
        yield Case(FILE, "keep", [x, counts, *result], [x[place], place], scalars=low)


def found() -> Iterator[Case]:
    for element, count in (("i32", 40), ("f64", 1), ("u8", 200), ("f32", 0)):
        table, wanted = np.sort(whole(element, 0, 60, count)), whole(element, 0, 70, 47)
        ends = [np.searchsorted(table, wanted, side) for side in ("left", "right")]
        given = [table, wanted, np.ones(47, "i8"), np.ones(47, "i8")]
        yield Case(FILE, "search", given, ends, types={"T": element})
    for element, count in (("f32", 100), ("i64", 32), ("u8", 17), ("i8", 16), ("f64", 1)):
        x = whole(element, 0, 9, count)
        for first in range(0, count, 16):
            x[first : first + 16].sort()
        wanted = x.copy()
        for first in range(0, count, 32):
            wanted[first : first + 32].sort()
        yield Case(FILE, "merge_runs", [x, np.zeros_like(x)], [wanted], types={"T": element})


def parts() -> Iterator[Case]:
    for element in ("f32", "i8", "f64", "u16", "f16"):
        x = whole(element, 0, 9, 150)
        start = np.array([0, 0, 1, 60, 60, 61, 150, 150], "i4")
        sums = [float(x[a:b].astype("f8").sum()) for a, b in itertools.pairwise(start)]
        result = np.ones(7, {"f": "f4", "i": "i8", "u": "i8"}[element[0]])
        result = result.astype("f8") if element == "f64" else result
        given = [x, start, result, np.zeros(1, "i4")]
        yield Case(
            FILE, "segment_sums", given, [np.array(sums), np.array([89])], types={"T": element}
        )
    for first, second in ((40, 17), (1, 1), (13, 40), (5, 1)):
        a, b = whole("u8", 0, 4, 3, first), whole("u8", 0, 4, 3, second)
        yield Case(
            FILE,
            "common",
            [a, b, np.zeros(3, "i4")],
            [np.array([longest(x, y) for x, y in zip(a, b, strict=True)])],
        )
    for count in (0, 5, 200):
        text = whole("u8", 39, 43, count)
        depth = ((text == 40) * 1 - (text == 41) * 1).cumsum()
        below = np.flatnonzero(depth < 0)
        given = [text, np.zeros(count, "i2"), np.full(1, 10**9)]
        wrong = np.array([below[0] if len(below) else 10**9])
        yield Case(FILE, "bracket_depth", given, [depth, wrong])


def longest(a: Array, b: Array) -> int:
    line = [0] * (len(b) + 1)
    for x in a:
        before = list(line)
        for j, y in enumerate(b):
            line[j + 1] = before[j] + 1 if x == y else max(before[j + 1], line[j])
    return line[-1]


def cases() -> list[Case]:
    return [*largest(), *kept(), *found(), *parts()]
