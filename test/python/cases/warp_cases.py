"""Calls of test/kernels/warps.qn and test/kernels/rooms.qn, with their meaning in NumPy."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, numbers


class UnorderedCase(Case):
    """Warps take their places in any order: what lies there is the same."""

    def check(self, actual: list[Array], warp: int) -> None:
        super().check([np.sort(actual[1]), actual[2]], warp)


def filters() -> Iterator[Case]:
    for element, count in (("f32", 400), ("i64", 90), ("u8", 1), ("f16", 95)):
        x = abs(numbers(element, count))
        least = x.dtype.type(20)
        kept = x[x >= least]
        wanted = np.zeros_like(x)
        wanted[: len(kept)] = kept
        yield UnorderedCase(
            "warps",
            "filter_by_warp",
            [x, np.zeros_like(x), np.zeros(1, "u8")],
            [np.sort(wanted), np.array([len(kept)])],
            types={"T": element},
            scalars=(least,),
        )


def rows() -> Iterator[Case]:
    for element, shape in (("f32", (7, 300)), ("f16", (1, 77)), ("f64", (4, 1)), ("f32", (3, 128))):
        a, x = numbers(element, *shape) / 40, numbers(element, shape[1]) / 40
        a, x = a.astype((y := numbers(element, 1)).dtype), x.astype(y.dtype)
        wide = a.astype("f8")
        norm = np.zeros(shape[0], "f8" if element == "f64" else "f4")
        yield Case(
            "warps",
            "rows_by_warps",
            [a, x, np.zeros(shape[0], a.dtype), norm],
            [wide @ x.astype("f8"), np.sqrt((wide**2).sum(1))],
            types={"T": element},
            tolerance=2e-2 if element == "f16" else 1e-4,
        )


def sorted_lanes(x: Array, label: Array, warp: int) -> list[Array]:
    y, order = [], []
    for k in range(0, len(x), warp):
        key, tag = x[k : k + warp], label[k : k + warp]
        at = np.lexsort((tag, key))
        y.append(key[at])
        order.append(tag[at])
    return [np.concatenate(y), np.concatenate(order)]


def packed(x: Array) -> Iterator[Array]:
    wide = np.zeros(-(-len(x) // 64) * 64, bool)
    wide[: len(x)] = x > 0
    words = wide.reshape(-1, 32)
    yield (words * (1 << np.arange(32))).sum(1).astype("u4")
    edges = np.diff(np.pad(words.astype("i4"), ((0, 0), (1, 0))), axis=1)
    yield (edges == 1).sum(1).astype("i4")


def orders() -> Iterator[Case]:
    for count in (1, 64, 100, 130):
        x = (numbers("i64", count) % 9).astype("i2")
        label = np.random.default_rng(count).permutation(count).astype("u1")
        yield Case(
            "warps",
            "sort_lanes",
            [x, label, np.zeros_like(x), np.zeros_like(label)],
            functools.partial(sorted_lanes, x, label),
        )
    for count in (64, 100, 1):
        z = numbers("f32", count)
        words = 2 * -(-count // 64)
        arrays = [z, np.zeros(words, "u4"), np.zeros(words, "i4")]
        yield Case("warps", "packed_mask", arrays, list(packed(z)))
    for sizes in ((100, 90), (0, 7), (161, 1), (80, 80)):
        a, b = (np.sort(numbers("i64", n)) for n in sizes)
        wanted = np.sort(np.concatenate([a, b]))
        yield Case("warps", "merge_paths", [a, b, np.zeros_like(wanted)], [wanted])


WEIGHTS = np.array([0.25, -1, 0.5, 2, 0.125, -0.75, 1, -0.5, 3]).reshape(3, 3)


def weighted(x: Array) -> list[Array]:
    h, w = x.shape
    wide = np.pad(np.nan_to_num(x.astype("f8")), 1)
    sums = sum(WEIGHTS[i, j] * wide[i : i + h, j : j + w] for i in range(3) for j in range(3))
    y = np.asarray(sums).astype(x.dtype)
    most = [
        y[i : i + 3, j : j + 13].max()
        for i, j in itertools.product(range(0, h, 3), range(0, w, 13))
    ]
    return [y, np.array(most)]


def extremes(x: Array, warp: int) -> list[Array]:
    blocks = np.zeros(-(-len(x) // 50) * 50, "i4")
    blocks[: len(x)] = x
    out, few = [], []
    for b in blocks.reshape(-1, 50):
        warps = [b[k : k + warp] for k in range(0, 50, warp)]
        before = np.append(np.iinfo("i4").min, np.maximum.accumulate(b)[:-1])
        rows_ = [
            np.concatenate([np.maximum.accumulate(w) for w in warps]),
            np.minimum.accumulate(b[::-1])[::-1],
            before,
            np.cumsum(np.where(b % 2 != 0, b, 0)),
            np.concatenate([np.full(len(w), (w > 3).sum()) for w in warps]),
        ]
        out.append(np.stack(rows_))
        every = np.concatenate([np.full(len(w), (w > -9).all()) for w in warps])
        few.append((b == 7).any() & every)
    n = len(x)
    return [np.concatenate(out, 1)[:, :n].astype("i4"), np.concatenate(few)[:n]]


def blocks() -> Iterator[Case]:
    for element, shape in (("f32", (10, 30)), ("f16", (3, 13)), ("f64", (1, 1))):
        x = numbers(element, *shape)
        x[0, 0] = np.nan
        y, most = weighted(x)
        yield Case(
            "warps",
            "weighted",
            [x, np.zeros_like(x), np.zeros(most.size, x.dtype)],
            [y, most],
            types={"T": element},
            tolerance=1e-2 if element == "f16" else 1e-5,
        )
    for count in (1, 50, 240):
        v = numbers("i32", count) // 4
        yield Case(
            "warps",
            "running_extremes",
            [v, np.zeros((5, count), "i4"), np.zeros(count, "?")],
            functools.partial(extremes, v),
        )


def cases() -> Iterator[Case]:
    for kind in (filters, rows, orders, blocks):
        yield from kind()
