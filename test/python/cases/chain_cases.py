"""Calls of test/kernels/chains.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Case, numbers

FILE = "chains"


def blocks() -> Iterator[Case]:
    for count in (1, 64, 1000):
        x, parts = numbers("f32", count) / 40, np.zeros(-(-count // 64), "f4")
        padded = np.zeros(64 * len(parts))
        padded[:count] = x
        wanted = [padded.reshape(-1, 64).sum(1), np.array([len(parts)]), np.array([padded.sum()])]
        arrays = [x, parts, np.zeros(1, "i4"), np.zeros(1, "f4")]
        yield Case(FILE, "last_block_sums", arrays, wanted, tolerance=1e-4)
    for rows, columns in ((3, 1), (2, 96), (2, 300)):
        x = abs(numbers("i64", rows, columns))
        arrays = [x, np.zeros_like(x), np.zeros(rows, "i8")]
        yield Case(FILE, "ring_scan", arrays, [x.cumsum(1), x.max(1)])


def warps() -> Iterator[Case]:
    for rows, columns in ((3, 2), (2, 64), (4, 333)):
        x = numbers("f32", rows, columns)
        wanted = np.sort(x, 1)[:, :-3:-1]
        yield Case(FILE, "warp_top2", [x, np.zeros((rows, 2), "f4")], [wanted])
    for element, (b, m, n, k) in (
        ("f16", (2, 32, 32, 32)),
        ("f16", (1, 50, 70, 33)),
        ("f32", (2, 5, 9, 40)),
    ):
        left, right = (numbers(element, *s) / 40 for s in ((b, m, k), (b, k, n)))
        wanted = left.astype("f8") @ right.astype("f8")
        arrays = [left, right, np.zeros((b, m, n), "f4")]
        yield Case(FILE, "wide_tiles", arrays, [wanted], types={"T": element}, tolerance=1e-3)


def windows() -> Iterator[Case]:
    for count, width in ((1, 1), (256, 5), (1001, 7)):
        x, w = numbers("f32", count), numbers("f32", width) / 40
        wide = np.pad(x.astype("f8"), width // 2)
        wanted = np.array([wide[i : i + width] @ w for i in range(count)])
        yield Case(FILE, "halo_async", [x, w, np.zeros_like(x)], [wanted], tolerance=1e-3)


def cases() -> Iterator[Case]:
    for kind in (blocks, warps, windows):
        yield from kind()
