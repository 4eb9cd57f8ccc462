"""Calls of test/kernels/images.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype, numbers

FILE = "images"


def volumes() -> Iterator[Case]:
    for element, shape in (("f32", (4, 7, 13)), ("f64", (1, 1, 1)), ("f16", (3, 5, 6))):
        u = numbers(element, *shape) / 40
        u = u.astype(dtype(element))
        wide, (d, h, w) = np.pad(u.astype("f8"), 1), shape
        around = [wide[k : k + d, 1:-1, 1:-1] for k in (0, 2)]
        around += [wide[1:-1, k : k + h, 1:-1] for k in (0, 2)]
        around += [wide[1:-1, 1:-1, k : k + w] for k in (0, 2)]
        scale = tuple(u.dtype.type(s) for s in (0.5, 0.25))
        yield Case(
            FILE,
            "marching",
            [u, np.zeros_like(u)],
            [0.5 * u.astype("f8") + 0.25 * sum(around)],
            scalars=scale,
            types={"T": element},
            tolerance={"f16": 1e-2, "f32": 1e-5, "f64": 1e-13}[element],
        )


def lives() -> Iterator[Case]:
    for h, w in ((9, 3), (3, 1), (20, 5)):
        cells = np.random.default_rng(h).random((h, 32 * w)) < 0.4
        around = sum(
            np.roll(cells.astype("i8"), (j, i), (0, 1))
            for j in (-1, 0, 1)
            for i in (-1, 0, 1)
            if i or j
        )
        lived = (around == 3) | (cells & (around == 2))

        def packed(x: Array, h: int = h) -> Array:
            return np.packbits(x, 1, bitorder="little").view("<u4").reshape(h, -1)

        words = packed(cells)
        yield Case(FILE, "packed_life", [words, np.zeros_like(words)], [packed(lived)])


def middles() -> Iterator[Case]:
    for element, shape in (("f32", (13, 9)), ("u8", (4, 8)), ("i64", (1, 1)), ("f16", (2, 19))):
        x = abs(numbers(element, *shape))
        wide, (h, w) = np.pad(x, 1, "edge"), shape
        nine = [wide[j : j + h, i : i + w] for j in range(3) for i in range(3)]
        wanted = np.sort(np.stack(nine), 0)[4]
        yield Case(FILE, "median", [x, np.zeros_like(x)], [wanted], types={"T": element})
    for shape in ((3, 5), (4, 200), (2, 512), (1, 1)):
        x = np.random.default_rng(shape[1]).integers(0, 256, shape).astype("u1")
        wanted = x.astype("i8").cumsum(0).cumsum(1)
        yield Case(FILE, "area_sums", [x, np.zeros(shape, "i8")], [wanted])


def filtered(x: Array, w: Array, b: Array, stride: int) -> Array:
    r, (n, _, h, v) = w.shape[2], x.shape
    wide = np.pad(x.astype("f8"), ((0, 0), (0, 0), (r // 2, r // 2), (r // 2, r // 2)))
    p, q = (h - 1) // stride + 1, (v - 1) // stride + 1
    y = np.zeros((n, len(w), p, q)) + b.astype("f8")[:, None, None]
    for j in range(r):
        for i in range(r):
            part = wide[:, :, j : j + h : stride, i : i + v : stride]
            y += np.einsum("nchw,oc->nohw", part, w[:, :, j, i].astype("f8"))
    return y


def channels() -> Iterator[Case]:
    for element, (n, c, h, v), o, r, stride in (
        ("f32", (2, 3, 9, 11), 2, 3, 1),
        ("f16", (1, 2, 7, 13), 3, 3, 2),
        ("f64", (1, 1, 6, 1), 1, 5, 2),
    ):
        x = numbers(element, n, c, h, v) / 40
        w = numbers(element, o, c, r, r) / 40
        b = numbers(element, o) / 40
        x, w, b = (each.astype(dtype(element)) for each in (x, w, b))
        wanted = filtered(x, w, b, stride)
        yield Case(
            FILE,
            "filters",
            [x, w, b, np.zeros(wanted.shape, x.dtype)],
            [wanted],
            {"R": r},
            (np.int64(stride),),
            {"T": element},
            {"f16": 1e-2, "f32": 1e-4, "f64": 1e-12}[element],
        )
    for shape in ((2, 3, 5, 40), (1, 1, 1, 1), (1, 2, 3, 17)):
        x = np.random.default_rng(shape[3]).integers(0, 256, shape).astype("u1")
        y = np.zeros((shape[1], 8, 8), "i4")
        bins = x.astype("i8") * 8 // 256
        wanted = y.copy()
        for k in range(shape[1]):
            np.add.at(wanted[k], (bins[:, k, :, :-1].ravel(), bins[:, k, :, 1:].ravel()), 1)
        yield Case(FILE, "channel_bins", [x, y], [wanted])


def cases() -> list[Case]:
    return [*volumes(), *lives(), *middles(), *channels()]
