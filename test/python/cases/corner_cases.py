"""Calls of test/kernels/corners.qn, with their meaning in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats, numbers

FILE = "corners"


def taken(x: Array, on: Array, source: Array) -> Array:
    """What lanes take from others of their warp that take part, else their own."""
    there = (source >= 0) & (source < len(x))
    there &= on[np.where(there, source, 0)]
    return x[np.where(there, source, np.arange(len(x)))]


def parted(x: Array, key: Array, warp: int) -> list[Array]:
    y, votes = np.zeros((3, len(x)), x.dtype), np.zeros((2, len(x)), "i8")
    for block in range(0, len(x), 45):
        for first in range(block, min(block + 45, len(x)), warp):
            part = slice(first, min(first + warp, block + 45, len(x)))
            v, k = x[part], key[part].astype("i8")
            lane, high = np.arange(len(v)), k > 3
            every = np.ones(len(v), bool)
            weight = np.array([1 << int(n) for n in lane], "u8").view("i8")
            y[0, part] = taken(v, every, np.where(k < warp, k, -1))
            y[1, part] = np.where(
                high, taken(v, high, lane + k - 3), taken(v, ~high, lane - abs(k))
            )
            y[2, part] = taken(v, every, lane ^ (k & 15))
            low = -1 if (k[~high] == 2).any() else weight[~high].sum()
            votes[0, part] = np.where(high, weight[high & (k % 2 == 0)].sum(), low)
            votes[1, part] = weight[k == 3].sum()
    return [y, votes]


def lanes() -> Iterator[Case]:
    for element, count in (("f32", 100), ("u8", 45), ("bool", 77), ("i64", 1), ("f16", 46)):
        x = abs(numbers(element, count))
        key = np.random.default_rng(count).integers(-6, 40, count).astype("i4")
        key[::3] = np.arange(len(key[::3])) % 5
        yield Case(
            FILE,
            "parted_lanes",
            [x, key, np.zeros((3, count), x.dtype), np.zeros((2, count), "i8")],
            lambda warp, x=x, key=key: parted(x, key, warp),  # type: ignore[misc]
            types={"T": element},
        )
    for count in (105, 250, 3):
        x = np.random.default_rng(count).integers(-30, 30, count).astype("i4")
        yield Case(
            FILE,
            "box_scans",
            [x, np.zeros((3, count), "i4"), np.zeros((2, count), "?")],
            lambda warp, x=x: boxes(x, warp),  # type: ignore[misc]
        )


def boxes(x: Array, warp: int) -> list[Array]:
    y, some = np.zeros((3, len(x)), "i4"), np.zeros((2, len(x)), "?")
    for first in range(0, len(x), 105):
        own = x[first : first + 105]
        v, t = np.full(105, 1000), np.arange(105)
        v[: len(own)] = own
        least = np.minimum.accumulate(v[::-1])[::-1]
        least = np.append(least[1:], np.iinfo("i4").max)
        part = slice(first, first + len(own))
        y[0, part] = least[: len(own)]
        y[1, part] = (own < 0).sum()
        for k in range(0, 105, warp):
            lane, there = v[k : k + warp], t[k : k + warp] < len(own)
            held = lane[(lane < 1000) & (t[k : k + warp] % 2 == 0)]
            inside = slice(first + k, first + min(k + warp, len(own)))
            y[2, inside] = held.max() if len(held) else np.iinfo("i4").min
            some[0, inside] = (lane[there] == 7).any()
            some[1, inside] = (lane[there] == 8).any()
    return [y, some]


def pairs() -> Iterator[Case]:
    for rows, columns in ((3, 72), (2, 5), (1, 1)):
        z = (numbers("f32", rows, columns) + 1j * numbers("f32", rows, columns)[:, ::-1]).astype(
            "c8"
        )
        wide = z.astype("c16")
        d = abs(wide - wide.mean(1, keepdims=True)) ** 2
        places = np.stack([d.argmax(1), d.argmin(1)])
        spread = np.stack([wide.real.var(1), wide.imag.var(1)]) * columns
        yield Case(
            FILE,
            "furthest",
            [z, np.zeros(rows, "c8"), np.zeros((2, rows), "i8"), np.zeros((2, rows))],
            [z[np.arange(rows), places[0]], places, spread],
            tolerance=1e-9,
        )


def grams() -> Iterator[Case]:
    shapes = ((2, 19, 21), (1, 1, 1), (1, 33, 16), (1, 5, 0), (0, 4, 4))
    for element, shape in itertools.product(("f16", "bf16", "f32", "f64"), shapes):
        wide = np.random.default_rng(sum(shape)).standard_normal(shape)
        x = bits(wide) if element == "bf16" else wide.astype(dtype(element))
        exact = floats(x).astype("f8") if element == "bf16" else x.astype("f8")
        kind = "f8" if element == "f64" else "f4"
        y = np.full((shape[0], shape[1], shape[1]), 3, kind)
        yield Case(
            FILE,
            "gram",
            [x, y],
            [exact @ exact.transpose(0, 2, 1)],
            types={"T": element},
            tolerance=1e-12 if element == "f64" else 1e-4,
        )


def waits() -> Iterator[Case]:
    for count in (0, 1, 50, 333):
        x, blocks = np.random.default_rng(count).integers(-99, 99, count), -(-count // 50)
        state, flag = np.zeros(blocks, "i8"), np.zeros(blocks, "i4")
        ends = x.cumsum()[np.minimum(np.arange(1, blocks + 1) * 50, count) - 1]
        yield Case(
            FILE,
            "chained_scan",
            [x, np.zeros_like(x), np.zeros(1, "u4"), state, flag],
            [x.cumsum(), np.array([blocks], "u4"), ends, np.ones(blocks)],
        )
    x, key = numbers("f64", 90).round(-1), np.random.default_rng(3).integers(0, 4, 90)
    best, owner = np.full(5, np.inf), np.full(5, 99)
    for b in range(4):
        mine = np.flatnonzero(key == b)
        owner[b] = mine[x[mine].argmin()]
        best[b] = x[owner[b]]
    first = [np.full(5, np.inf), np.full(5, 99), np.zeros(5, "u8")]
    yield Case(
        FILE, "locked_least", [x, key.astype("u1"), *first], [best, owner, np.zeros(5, "u8")]
    )


def stacks() -> Iterator[Case]:
    for n in (4, 6):
        ways = np.zeros(n + 1, "i8")
        deepest = np.zeros((n + 1, n), "u1")
        for placed in itertools.permutations(range(n)):
            if (
                len({r + c for r, c in enumerate(placed)})
                == n
                == len({r - c for r, c in enumerate(placed)})
            ):
                ways[placed[0]] += 1
        for depth in range(1, n + 1):
            for part in itertools.permutations(range(n), depth):
                sums = {r + c for r, c in enumerate(part)}
                differences = {r - c for r, c in enumerate(part)}
                if len(sums) == depth == len(differences):
                    at = (part[0], depth - 1)
                    deepest[at] = max(deepest[at], part[-1] + 1)
        # A first column behind the last one leaves nothing to place.
        first = np.arange(n + 1, dtype="i4")
        yield Case(
            FILE,
            "queens",
            [first, np.zeros(n + 1, "i8"), np.zeros((n + 1, n), "u1")],
            [ways, deepest],
            {"N": n},
        )


def places() -> Iterator[Case]:
    for element, by, v in (
        ("f32", 0, 4),
        ("f32", 1, 4),
        ("i8", 3, 16),
        ("f64", 2, 2),
        ("c64", 1, 2),
        ("u16", 7, 8),
        ("bool", 5, 3),
        ("f16", 170, 1),
    ):
        x = numbers("f32" if element == "c64" else element, 167)
        x = x.astype("c8") * 1j if element == "c64" else x
        wide, at = np.pad(x, by), np.arange(167)
        y = np.stack([wide[at + 2 * by], wide[at]])
        constants, types = {"V": v}, {"T": element}
        given = [x, np.zeros_like(y)]
        yield Case(FILE, "shifted_copies", given, [y], constants, (np.int64(by),), types)
    for element, shape in (("f32", (33, 70)), ("f64", (32, 32)), ("f16", (1, 40))):
        x = numbers(element, *shape) / 8
        (r, c), wide = shape, np.pad(x, [(0, -n % 32) for n in shape])
        tiles = wide.reshape(-(-r // 32), 32, -(-c // 32), 32).transpose(2, 0, 1, 3)
        tiles = tiles.reshape(-1, 32, 32)
        norm = np.sqrt((tiles.astype("f8") ** 2).sum((1, 2)))
        larger = (tiles.transpose(0, 2, 1) > tiles).sum((1, 2))
        given = [
            x,
            np.zeros((c, r), x.dtype),
            np.zeros(len(norm), "f8" if element == "f64" else "f4"),
        ]
        given += [np.zeros(len(norm), "i4")]
        yield Case(
            FILE, "full_block", given, [x.T, norm, larger], types={"T": element}, tolerance=1e-5
        )


def cases() -> list[Case]:
    groups = (lanes, pairs, grams, waits, stacks, places)
    return [case for group in groups for case in group()]
