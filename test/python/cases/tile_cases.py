"""Calls of kernels that copy neighbours and multiply tiles, with their meaning in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats, numbers


def copies() -> Iterator[Case]:
    for element, count, length, odd in (
        ("f32", 4, 600, 0),
        ("f32", 4, 601, 1),
        ("f16", 8, 1030, 0),
        ("i64", 2, 131, 0),
        ("u8", 16, 2100, 3),
        ("f32", 3, 400, 0),
    ):
        x = abs(numbers(element, length + odd))[odd:]
        by = x.dtype.type(3)
        yield Case(
            "tiles",
            "scale_vectors",
            [x, np.zeros_like(x)],
            [x * by],
            types={"T": element},
            constants={"COUNT": count},
            scalars=(by,),
        )
    for element, shape, width in (("f32", (3, 200), 256), ("f16", (2, 37), 50), ("i64", (1, 1), 9)):
        x = numbers(element, *shape)
        row = np.full((shape[0], 256), 7, x.dtype)
        row[:, : shape[1]] = x
        yield Case(
            "tiles",
            "padded_rows",
            [x, np.zeros((shape[0], width), x.dtype)],
            [row[:, :width][:, ::-1]],
            types={"T": element},
        )
    for columns in (1, 256, 1500):
        x = numbers("f32", 2, columns)
        yield Case(
            "tiles",
            "stream_sums",
            [x, np.zeros(2, "f4")],
            [x.sum(1, dtype="f8")],
            tolerance=1e-4,
        )


def tiles() -> Iterator[Case]:
    for element, (m, n, k) in itertools.product(
        ("f16", "f32", "f64"), ((32, 16, 16), (5, 3, 7), (70, 33, 40))
    ):
        a, b = numbers(element, m, k) / 40, numbers(element, k, n) / 40
        a, b = a.astype(dtype(element)), b.astype(dtype(element))
        product = a.astype("f8") @ b.astype("f8")
        summed = np.zeros((m, n), "f8" if element == "f64" else "f4")
        yield Case(
            "tiles",
            "tile_matmul",
            [a, b, summed],
            [2 * product],
            types={"T": element},
            tolerance=1e-12 if element == "f64" else 1e-4,
        )
        yield Case(
            "tiles",
            "staged_matmul",
            [a, b, np.zeros((m, n), a.dtype)],
            [product],
            types={"T": element},
            tolerance={"f16": 1e-2, "f32": 1e-4, "f64": 1e-12}[element],
        )
    # Tiles of more elements than registers hold go in parts.
    for rows, columns, depth in ((128, 16, 32), (16, 112, 16), (48, 96, 16)):
        a, b = numbers("f32", rows + 5, depth + 3) / 40, numbers("f32", depth + 3, columns + 1) / 40
        yield Case(
            "tiles",
            "tile_matmul",
            [a, b, np.zeros((rows + 5, columns + 1), "f4")],
            [2 * (a.astype("f8") @ b.astype("f8"))],
            types={"T": "f32"},
            constants={"M_": rows, "N_": columns, "K_": depth},
            tolerance=1e-4,
        )
    for element, shape in (("f32", (20, 40)), ("f64", (16, 16)), ("f16", (1, 3))):
        x = numbers(element, *shape)
        yield Case(
            "tiles",
            "add_tiles",
            [x, np.zeros_like(x)],
            [x + x.dtype.type(1)],
            types={"T": element},
        )


def rounded(x: Array, element: str) -> Array:
    """What an array of this type makes of sums."""
    if element == "bf16":
        return floats(bits(x)).astype("f8")
    return x.astype(dtype(element)).astype("f8")


def sums() -> Iterator[Case]:
    for (factor, element), (m, n, k) in itertools.product(
        (("f16", "f16"), ("bf16", "bf16"), ("f32", "f16"), ("f16", "bf16"), ("f64", "f32"),
         ("f32", "f64"), ("f64", "f16")),
        ((32, 16, 64), (19, 21, 40)),
    ):  # fmt: skip
        rng = np.random.default_rng(m + k)
        # Quarters are exact in every factor's type, and so are their sums in f32.
        a, b = rng.integers(-4, 9, (m, k)) / 4, rng.integers(-4, 9, (k, n)) / 4
        before = rng.integers(1000, 4000, (m, n)).astype("f8")
        y = rounded(before, element)
        for first in range(0, k, 32):
            part = slice(first, first + 32)
            y = rounded(y + a[:, part] @ b[part], element)

        def made(x: Array, element: str) -> Array:
            return bits(x) if element == "bf16" else x.astype(dtype(element))

        yield Case(
            "tiles",
            "rounded_sums",
            [made(a, factor), made(b, factor), made(before, element)],
            [y],
            types={"T": factor, "S": element},
        )


def chains() -> Iterator[Case]:
    for element, (m, n) in itertools.product(("f16", "bf16", "f32", "f64"), ((32, 16), (37, 11))):
        shapes = ((m, 16), (n, 16), (n, 11))
        held = [numbers("f32", *shape) / 40 for shape in shapes]
        held = [bits(x) if element == "bf16" else x.astype(dtype(element)) for x in held]
        a, b, c = ((floats(x) if element == "bf16" else x).astype("f8") for x in held)
        s = a @ b.T
        most = s.max(1)
        wide = "f8" if element == "f64" else "f4"
        yield Case(
            "tiles",
            "chained",
            [*held, np.zeros((m, 11), wide), np.zeros(m, wide)],
            [rounded(s - most[:, None], element) @ c, most],
            types={"T": element},
            tolerance={"f16": 2e-2, "bf16": 1e-1, "f64": 1e-11}.get(element, 1e-3),
        )


def cases() -> list[Case]:
    return [*copies(), *tiles(), *sums(), *chains()]
