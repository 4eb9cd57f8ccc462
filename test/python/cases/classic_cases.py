"""Calls of test/kernels/classics.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype, numbers

FILE = "classics"


def distance(a: Array, b: Array) -> int:
    line = list(range(len(b) + 1))
    for i, left in enumerate(a):
        before, line[0] = line[0], i + 1
        for j, right in enumerate(b):
            replaced = before + int(left != right)
            before = line[j + 1]
            line[j + 1] = min(replaced, before + 1, line[j] + 1)
    return line[-1]


def in_one_block() -> Iterator[Case]:
    rng = np.random.default_rng(21)
    for n, m in ((40, 33), (7, 29), (1, 1)):
        a, b = (rng.integers(0, 4, (3, k)).astype("u1") for k in (n, m))
        wanted = np.array([distance(*pair) for pair in zip(a, b, strict=True)])
        yield Case(FILE, "edit_distance", [a, b, np.zeros(3, "i4")], [wanted])
    for element, count in (("u8", 70), ("i64", 41), ("i16", 1)):
        x = (numbers("i32", count) > 30).astype(dtype(element))
        begins = np.flatnonzero(np.append(True, x[1:] != x[:-1]))
        value, length = np.zeros_like(x), np.zeros(count, "i4")
        value[: len(begins)] = x[begins]
        length[: len(begins)] = np.diff(np.append(begins, count))
        yield Case(
            FILE,
            "run_lengths",
            [x, np.zeros_like(x), np.zeros(count, "i4"), np.zeros(1, "i4")],
            [value, length, np.array([len(begins)])],
            types={"T": element},
        )


def selected() -> Iterator[Case]:
    for element, columns in (("f32", 144), ("i16", 100), ("f16", 5)):
        x = np.round(numbers(element, 4, columns) / 8).astype(dtype(element))
        place = np.argsort(-x.astype("f8"), 1, kind="stable")[:, :5]
        yield Case(
            FILE,
            "top_of_block",
            [x, np.zeros((4, 5), x.dtype), np.zeros((4, 5), "i8")],
            [np.take_along_axis(x, place, 1), place],
            types={"T": element},
        )


def paths() -> Iterator[Case]:
    w = np.random.default_rng(5).integers(1, 90, (3, 13, 13)).astype("i4")
    wanted = w.copy()
    for k in range(13):
        wanted = np.minimum(wanted, wanted[:, :, k, None] + wanted[:, None, k])
    yield Case(FILE, "shortest_paths", [w, np.zeros_like(w)], [wanted])


def labelled(x: Array) -> tuple[Array, int]:
    now, rounds = np.where(x, np.arange(x.size).reshape(x.shape), -1), 0
    while True:
        wide = np.pad(now, 1, constant_values=-1)
        around = np.stack([wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:], now])
        then, rounds = np.where(x, around.max(0), now), rounds + 1
        if (then == now).all():
            return now, rounds
        now = then


def pictures() -> Iterator[Case]:
    for shape in ((3, 9, 11), (2, 5, 7)):
        x = np.random.default_rng(shape[1]).random(shape) < 0.6
        found = [labelled(one) for one in x]
        yield Case(
            FILE,
            "labels",
            [x, np.zeros(shape, "i4"), np.zeros(shape[0], "i4")],
            [np.stack([one for one, _ in found]), np.array([rounds for _, rounds in found])],
        )
    for element, shape, out in (("f32", (2, 3, 13, 7), 4), ("f16", (1, 2, 5, 20), 7)):
        x, w = (
            (numbers(element, *s) / 40).astype(dtype(element))
            for s in (shape, (out, shape[1], 3, 3))
        )
        wide = np.pad(x.astype("f8"), ((0, 0), (0, 0), (1, 1), (1, 1)))
        h, v = shape[2:]
        wanted = sum(
            np.einsum("nchw,oc->nohw", wide[:, :, i : i + h, j : j + v], w[:, :, i, j].astype("f8"))
            for i in range(3)
            for j in range(3)
        )
        yield Case(
            FILE,
            "tiled_convolution",
            [x, w, np.zeros((shape[0], out, h, v), x.dtype)],
            [wanted],
            types={"T": element},
            tolerance=1e-2 if element == "f16" else 1e-4,
        )


def streams() -> Iterator[Case]:
    for element, shape, count in (("f32", (6, 200), 4), ("f64", (1, 64), 2), ("f32", (4, 63), 1)):
        x = numbers(element, *shape)
        wide = np.pad(x, 1)
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        yield Case(
            FILE,
            "streamed_rows",
            [x, np.zeros_like(x)],
            [around - 4 * x],
            types={"T": element},
            constants={"V": count},
            tolerance=1e-3,
        )


def cases() -> list[Case]:
    groups = (in_one_block, selected, paths, pictures, streams)
    return [case for group in groups for case in group()]
