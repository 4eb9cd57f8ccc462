"""Calls of test/kernels/solvers.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, numbers

FILE = "solvers"


def pivots(a: Array) -> int:
    """How often elimination with the largest pivot changes rows."""
    a, count = a.copy(), 0
    for k in range(len(a)):
        p = k + int(np.abs(a[k:, k]).argmax())
        count += p != k
        a[[k, p]] = a[[p, k]]
        a[k] /= a[k, k]
        rest = np.arange(len(a)) != k
        a[rest] -= np.outer(a[rest, k], a[k])
    return count


def systems() -> Iterator[Case]:
    for batch in (1, 3):
        a = np.random.default_rng(batch).standard_normal((batch, 9, 10))
        solved = np.stack([np.linalg.solve(one[:, :9], one[:, 9]) for one in a])
        swaps = np.array([pivots(one) for one in a], "i4")
        arrays = [a, np.zeros((batch, 9)), np.zeros(batch, "i4")]
        yield Case(FILE, "gauss_jordan", arrays, [solved, swaps], tolerance=1e-9)
    u = np.zeros((14, 14))
    u[0] = 1
    u[:, -1] = -2
    now, rounds, most = u.copy(), 0, 1.0
    while most > 1e-3 and rounds < 500:
        next_ = (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]) / 4
        most = np.abs(next_ - now[1:-1, 1:-1]).max()
        now[1:-1, 1:-1] = next_
        rounds += 1
    yield Case(
        FILE,
        "relaxed_until",
        [u, np.zeros(1, "i4")],
        [now, np.array([rounds])],
        scalars=(np.float64(1e-3),),
        tolerance=1e-12,
    )


def tables() -> Iterator[Case]:
    for count in (1, 100, 150):
        keys = np.random.default_rng(count).integers(1, 90, count).astype("u4")
        kept, sizes = np.unique(keys, return_counts=True)

        def check(_: int, kept: Array = kept, sizes: Array = sizes) -> list[Array]:
            return [kept, sizes]

        yield TableCase(
            FILE, "table_insert", [keys, np.zeros(256, "u4"), np.zeros(256, "i4")], check
        )
    for count in (1, 200):
        x = numbers("f64", count)
        wanted = np.array([x.sum(), -(-count // 32)])
        arrays = [x, np.zeros(1, "i4"), np.zeros(2)]
        yield Case(FILE, "locked_sums", arrays, [wanted], tolerance=1e-12)
    for count in (1, 24, 200):
        y = numbers("i32", count)
        yield QueueCase(
            FILE, "work_queue", [y, np.zeros(1, "i4"), np.zeros_like(y), np.zeros(3, "i4")], [y * 3]
        )


class TableCase(Case):
    """Where a key lies depends on the order; which keys there are does not."""

    def check(self, actual: list[Array], warp: int) -> None:
        slots, counts = actual[1:]
        order = np.argsort(slots, kind="stable")[(slots == 0).sum() :]
        super().check([slots[order], counts[order]], warp)


class QueueCase(Case):
    """Which block takes what is free; all together take everything once."""

    def check(self, actual: list[Array], warp: int) -> None:
        assert actual[3].sum() == actual[0].size
        super().check([actual[2]], warp)


def graphs() -> Iterator[Case]:
    for count, edges in ((1, 0), (90, 120), (200, 700)):
        rng = np.random.default_rng(count)
        ends = np.sort(rng.integers(0, count, edges))
        first = np.searchsorted(ends, np.arange(count + 1)).astype("i4")
        next_ = rng.integers(0, count, max(edges, 1)).astype("i4")
        depth = np.full(count, -1, "i4")
        depth[0] = 0
        far, ring, rounds = depth.copy(), [0], 0
        while ring:
            found = []
            for v in ring:
                for w in next_[first[v] : first[v + 1]]:
                    if far[w] < 0:
                        far[w] = rounds + 1
                        found.append(int(w))
            ring, rounds = found, rounds + 1
        arrays = [first, next_, depth, np.zeros(1, "i4")]
        yield Case(FILE, "distances_from", arrays, [far, np.array([rounds])])


def transforms() -> Iterator[Case]:
    for batch in (1, 3):
        x = (numbers("f32", batch, 64) + 1j * numbers("f32", batch, 64)[:, ::-1]).astype("c8") / 40
        yield Case(FILE, "fourier", [x, np.zeros_like(x)], [np.fft.fft(x, axis=1)], tolerance=1e-4)
    for count in (1, 128, 300):
        x = numbers("i32", count)
        blocks = -(-count // 128)
        wide = np.zeros(blocks * 128, "i4")
        wide[:count] = x
        sums = wide.reshape(blocks, 128).cumsum(1)
        before = (sums - wide.reshape(blocks, 128)).ravel()[:count]
        arrays = [x, np.zeros_like(x), np.zeros(blocks, "i4")]
        yield Case(FILE, "up_and_down", arrays, [before, sums[:, -1]])


def cases() -> Iterator[Case]:
    for kind in (systems, tables, graphs, transforms):
        yield from kind()
