"""Calls of test/kernels/routines.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Case, dtype, numbers

FILE = "routines"


def scans() -> Iterator[Case]:
    for element, shape in (("f64", (2, 300)), ("i32", (3, 97)), ("i64", (1, 1)), ("f32", (2, 95))):
        x = numbers(element, *shape)
        head = np.random.default_rng(shape[1]).random(shape) < 0.06
        y = np.zeros_like(x)
        for r, c in np.ndindex(*shape):
            y[r, c] = x[r, c] + (0 if head[r, c] or c == 0 else y[r, c - 1])
        yield Case(
            FILE,
            "segmented_scan",
            [x, head, np.zeros_like(x)],
            [y],
            types={"T": element},
            tolerance={"f64": 1e-12, "f32": 1e-4}.get(element, 0),
        )


def sorted_blocks() -> Iterator[Case]:
    for element, shape, size in (
        ("f32", (2, 128), 128),
        ("i16", (3, 100), 128),
        ("f64", (1, 7), 8),
        ("i64", (2, 1), 2),
        ("f16", (2, 200), 256),
    ):
        x = np.round(numbers(element, *shape).astype("f8") / 8).astype(dtype(element))
        place = np.argsort(x, 1, kind="stable")
        yield Case(
            FILE,
            "bitonic_block",
            [x, np.zeros_like(x), np.zeros(shape, "i4")],
            [np.take_along_axis(x, place, 1), place],
            types={"T": element},
            constants={"SIZE": size},
        )


def norms() -> Iterator[Case]:
    for element, shape in (("f32", (5, 130)), ("f16", (4, 64)), ("f64", (1, 3)), ("f32", (9, 513))):
        x, w, b = numbers(element, *shape), numbers(element, shape[1]), numbers(element, shape[1])
        x, w, b = (a / a.dtype.type(40) for a in (x, w, b))
        wide = x.astype("f8")
        spread = wide.var(1, keepdims=True) + float(np.float32(1e-3))
        y = (wide - wide.mean(1, keepdims=True)) / np.sqrt(spread) * w + b
        yield Case(
            FILE,
            "warp_norm",
            [x, w, b, np.zeros_like(x)],
            [y],
            types={"T": element},
            scalars=(np.float32(1e-3),),
            tolerance={"f16": 4e-3, "f32": 1e-4}.get(element, 1e-12),
        )


def stencils() -> Iterator[Case]:
    for element, shape in (("f32", (20, 70)), ("f64", (8, 32)), ("f32", (1, 1)), ("f16", (33, 41))):
        x = numbers(element, *shape) / dtype(element).type(40)
        by = x.dtype.type(0.25)
        wide = np.pad(x.astype("f8"), 1)
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        yield Case(
            FILE,
            "buffered_stencil",
            [x, np.zeros_like(x)],
            [x + 0.25 * around],
            types={"T": element},
            scalars=(by,),
            tolerance={"f16": 1e-2, "f32": 1e-5}.get(element, 1e-13),
        )


def counts() -> Iterator[Case]:
    for count, blocks, bins in ((1000, 5, 40), (63, 3, 7), (0, 2, 40), (500, 1, 33)):
        x = np.random.default_rng(count).integers(-3, 45, count).astype("i4")
        part, done = np.zeros((blocks, bins), "i4"), np.zeros(1, "i4")
        wanted = np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)
        given = [x, part, done, np.full(bins, 7, "i8")]
        yield Case(FILE, "bins_of_last_block", given, [np.array([blocks]), wanted])


def cases() -> Iterator[Case]:
    for family in (scans, sorted_blocks, norms, stencils, counts):
        yield from family()
