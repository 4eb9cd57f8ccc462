"""Calls of test/kernels/patterns.qn, with their meaning in NumPy."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, numbers

FILE = "patterns"


def products() -> Iterator[Case]:
    for m, n, k in ((64, 64, 8), (70, 33, 21), (1, 130, 5)):
        a, b = numbers("f32", m, k) / 40, numbers("f32", k, n) / 40
        wanted = a.astype("f8") @ b
        arrays = [a, b, np.zeros((m, n), "f4")]
        yield Case(FILE, "register_tiles", arrays, [wanted], tolerance=1e-4)
    for element, (m, n, k) in (("f16", (32, 32, 16)), ("f16", (50, 70, 33)), ("f32", (5, 9, 40))):
        a, b, bias = (numbers(element, *s) / 40 for s in ((m, k), (k, n), (n,)))
        wanted = np.maximum(a.astype("f8") @ b.astype("f8") + bias, 0)
        yield Case(
            FILE,
            "biased_tiles",
            [a, b, bias, np.zeros((m, n), a.dtype)],
            [wanted],
            types={"T": element},
            tolerance=1e-2 if element == "f16" else 1e-4,
        )


def moves() -> Iterator[Case]:
    for element, shape in (("f16", (2, 40, 70)), ("u8", (1, 33, 31)), ("f64", (3, 1, 5))):
        x = abs(numbers(element, *shape))
        y = np.ascontiguousarray(x.transpose(0, 2, 1))
        yield Case(FILE, "padded_squares", [x, np.zeros_like(y)], [y], types={"T": element})
    for count in (1, 300, 1025):
        keys = np.random.default_rng(count).integers(0, 99, count).astype("u4")
        blocks = [keys[k : k + 128] for k in range(0, count, 128)]
        wanted = np.concatenate([b[np.argsort(b >> 2 & 1, kind="stable")] for b in blocks])
        arrays = [keys, np.zeros_like(keys)]
        yield Case(FILE, "split_by_bit", arrays, [wanted], scalars=(np.int64(2),))


def lane_scans(x: Array, warp: int) -> list[Array]:
    wide = np.zeros(-(-len(x) // 128) * 128, x.dtype)
    wide[: len(x)] = x
    sums = np.cumsum(wide.reshape(-1, warp), 1, dtype=x.dtype)
    totals = np.zeros(64, x.dtype)
    totals[: len(sums)] = sums[:, -1]
    return [sums.ravel()[: len(x)], totals]


def sums() -> Iterator[Case]:
    for count in (1, 100, 390):
        x = numbers("i32", count)
        yield Case(
            FILE,
            "lane_scan",
            [x, np.zeros_like(x), np.zeros(64, "i4")],
            functools.partial(lane_scans, x),
            types={"T": "i32"},
        )
    for lengths in ((3, 0, 100, 1, 64), (1,), (0, 200, 33)):
        first = np.cumsum([0, *lengths])
        x = numbers("f32", int(first[-1]))
        parts = [x[a:b] for a, b in itertools.pairwise(first)]
        total = np.array([p.sum(dtype="f8") for p in parts])
        most = np.array([p.max() if len(p) else -np.inf for p in parts], "f4")
        arrays = [first, x, np.zeros(len(parts), "f4"), np.zeros(len(parts), "f4")]
        yield Case(FILE, "segments", arrays, [total, most], types={"T": "f32"}, tolerance=1e-4)
    for count in (1, 5000):
        x = abs(numbers("i32", count))
        wanted = np.bincount(x % 37, minlength=37).astype("i4")
        yield Case(FILE, "warp_bins", [x, np.zeros(37, "i4")], [wanted])


def rows() -> Iterator[Case]:
    for element, shape in (("f32", (3, 300)), ("f16", (2, 50)), ("f32", (1, 1))):
        x = numbers(element, *shape) / 10
        wide = x.astype("f8")
        logs = np.log(np.exp(wide - wide.max(1, keepdims=True)).sum(1)) + wide.max(1)
        yield Case(
            FILE,
            "online_softmax",
            [x, np.zeros_like(x), np.zeros(shape[0], "f4")],
            [np.exp(wide - logs[:, None]), logs],
            types={"T": element},
            tolerance=2e-3 if element == "f16" else 1e-5,
        )
    for shape in ((9, 128), (1, 77), (4, 100)):
        x, w = numbers("f32", *shape), numbers("f32", shape[1]) / 40
        arrays = [x, w, np.zeros(shape[0], "f4")]
        yield Case(FILE, "pipeline", arrays, [x.astype("f8") @ w], tolerance=1e-3)
    for room in ((3, 20, 33), (1, 1, 1), (4, 8, 16)):
        u, c = numbers("f32", *room), np.float32(0.1)
        p = np.pad(u.astype("f8"), 1)
        near = p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
        near += p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1]
        arrays = [u, np.zeros_like(u)]
        wanted = u + float(c) * (near - 6 * u)
        yield Case(FILE, "planes", arrays, [wanted], scalars=(c,), tolerance=1e-4)


def cases() -> Iterator[Case]:
    for kind in (products, moves, sums, rows):
        yield from kind()
