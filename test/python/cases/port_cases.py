"""Calls of the kernels of test/kernels/ported.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats

FILE = "ported"


class RankCase(Case):
    """Warps come in any order: of a key each rank is there once."""

    def check(self, actual: list[Array], warp: int) -> None:
        super().check(actual, warp)
        keys, ranks = actual[0], actual[1]
        for key in np.unique(keys):
            own = np.sort(ranks[keys == key])
            np.testing.assert_array_equal(own, np.arange(len(own)))


def keys() -> Iterator[Case]:
    for count in (1, 64, 333):
        x = np.random.default_rng(count).integers(0, 5, count).astype("i4")
        given = [x, np.full(count, -1, "i4"), np.zeros(5, "i4")]
        yield RankCase(FILE, "same_keys", given, [np.bincount(x, minlength=5)])


def products() -> Iterator[Case]:
    for element, (m, k, n) in (("f16", (17, 70, 20)), ("bf16", (16, 16, 16)), ("f32", (5, 99, 33))):
        rng = np.random.default_rng(m)
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        if element == "bf16":
            a, b = bits(a), bits(b)
            wanted = floats(a).astype("f8") @ floats(b)
        else:
            a, b = a.astype(dtype(element)), b.astype(dtype(element))
            wanted = a.astype("f8") @ b.astype("f8")
        tiles = -(-m // 16) * -(-n // 16)
        given = [a, b, np.zeros((3, m, n), "f4"), np.zeros(tiles, "u4"), np.zeros((m, n), "f4")]
        yield Case(FILE, "depth_parts", given, [wanted], types={"T": element}, tolerance=1e-4)


def steps_from(first: list[int], to: Array) -> tuple[Array, int]:
    far, front, level = np.full(len(to), -1), sorted(set(first)), 0
    far[front] = 0
    while front:
        reached = {int(n) for node in front for n in to[node] if n >= 0 and far[n] < 0}
        level += 1
        front = sorted(reached)
        far[front] = level
    return far, level


def searches() -> Iterator[Case]:
    for count, first in ((60, [0, 7, 7]), (9, [3]), (64, [])):
        to = np.random.default_rng(count).integers(-3, count, (count, 3)).astype("i4")
        far, rounds = steps_from(first, to)
        given = [np.array(first, "i4"), to, np.zeros(count, "u4")]
        given += [np.full(count, -1, "i4"), np.zeros(1, "i4")]
        yield Case(FILE, "breadth_first", given, [far, np.array([rounds])])


def turned(own: Array, count: int) -> Array:
    for i in range(count):
        if i % 2:
            own = own.max() - own
            continue
        for j in range(i):
            own = np.roll(own, -j) + j
    return own


def loops() -> Iterator[Case]:
    for size, count in ((1, 6), (100, 3), (128, 6), (33, 0)):
        x = np.random.default_rng(size).integers(-9, 9, size).astype("i4")
        given = [x, np.zeros(size, "i4")]
        yield Case(FILE, "turns", given, [turned(x, count)], scalars=(np.int64(count),))
    for size, steps, last in ((1, 3, -1), (40, 5, 2), (200, 7, 50), (33, 0, 0)):
        x = np.random.default_rng(size).standard_normal(size)
        value, mark = x, np.arange(size).astype("i1")
        for step in range(min(steps, last + 1) if last >= 0 else steps):
            value = value * 0.5 + np.roll(value, 1)
            mark = mark[(np.arange(size) + step) % size]
        scalars = (np.int64(steps), np.int64(last))
        given = [x, np.zeros(size)]
        yield Case(FILE, "settled", given, [value + mark], scalars=scalars, tolerance=1e-12)


def cases() -> list[Case]:
    families = (keys, products, searches, loops)
    return [case for family in families for case in family()]
