"""Calls of test/kernels/stages.qn, with their meaning in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats, numbers

FILE = "stages"


def turned(x: Array, shift: int, wide: int) -> Array:
    full = np.zeros((len(x), -(-x.shape[1] // wide) * wide), x.dtype)
    full[:, : x.shape[1]] = x
    parts = np.roll(full.reshape(len(x), -1, wide), -shift, 2)
    return parts.reshape(len(x), -1)[:, : x.shape[1]]


def reversed_copies(x: Array, count: int) -> Array:
    step = 6 * count
    full = np.zeros((len(x), -(-x.shape[1] // step) * step), x.dtype)
    full[:, : x.shape[1]] = x
    return full.reshape(len(x), -1, step)[:, :, ::-1].reshape(len(x), -1)[:, : x.shape[1]]


def copies() -> Iterator[Case]:
    for element, shape, stages, count in (
        ("f32", (7, 128), 3, 4),
        ("u8", (5, 700), 2, 16),
        ("i16", (1, 33), 4, 8),
        ("f64", (6, 130), 5, 2),
        ("bool", (4, 100), 3, 4),
        ("i64", (3, 40), 1, 1),
        ("c64", (3, 70), 2, 2),
    ):
        x = (
            abs(numbers("f32", *shape)).astype("c8")
            if element == "c64"
            else numbers(element, *shape)
        )
        yield Case(
            FILE,
            "depthwise",
            [x, np.zeros_like(x)],
            [turned(x, 3, 32 * count)],
            types={"T": element},
            constants={"STAGES": stages, "V": count},
            scalars=(np.int64(3),),
        )
    for element, shape, count in (
        ("f32", (2, 100), 5),
        ("u8", (3, 61), 7),
        ("i16", (1, 40), 12),
        ("f64", (2, 9), 3),
        ("f16", (2, 97), 16),
    ):
        x = abs(numbers(element, *shape))
        yield Case(
            FILE,
            "odd_copies",
            [x, np.zeros_like(x)],
            [reversed_copies(x, count)],
            types={"T": element},
            constants={"V": count},
        )


def small(element: str, *shape: int) -> tuple[Array, Array]:
    """Numbers around 1, and how they lie in memory."""
    x = numbers("f64", *shape) / 40
    if element == "bf16":
        held = bits(x)
        return floats(held), held
    return (x := x.astype(dtype(element))), x


def products() -> Iterator[Case]:
    for element, (m, n, k) in itertools.product(
        ("f16", "bf16", "f32", "f64"), ((32, 64, 32), (33, 70, 40), (1, 5, 3))
    ):
        (a, held_a), (b, held_b) = (small(element, *shape) for shape in ((m, k), (k, n)))
        c = numbers("f64" if element == "f64" else "f32", m, n) / 40
        v = a.astype("f8") @ b.astype("f8") + c
        yield Case(
            FILE,
            "large_tiles",
            [held_a, held_b, c, np.zeros_like(c)],
            [np.where(v > 0, v, v / 8)],
            types={"T": element},
            tolerance=1e-4,
        )


def attentions() -> Iterator[Case]:
    for element, (batch, m, n) in itertools.product(
        ("f16", "bf16", "f32", "f64"), ((2, 20, 50), (1, 1, 3))
    ):
        pairs = [small(element, batch, rows, 32) for rows in (m, n, n)]
        (q, k, v), held = zip(*pairs, strict=True)
        s = np.einsum("bme,bne->bmn", q.astype("f8"), k.astype("f8")) * 0.25
        p = np.exp(s - s.max(2, keepdims=True))
        y = np.einsum("bmn,bne->bme", p / p.sum(2, keepdims=True), v.astype("f8"))
        yield Case(
            FILE,
            "attention",
            [*held, np.zeros_like(held[0])],
            [y],
            types={"T": element},
            scalars=(np.float32(0.25),),
            tolerance={"f16": 5e-3, "bf16": 3e-2}.get(element, 1e-4),
        )


def cases() -> Iterator[Case]:
    for kind in (copies, products, attentions):
        yield from kind()
