"""Calls of test/kernels/squares.qn, with their meaning in NumPy; views among the operands."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, dtype

FILE = "squares"


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def whole() -> Iterator[Case]:
    for element, n in (("f32", 21), ("f64", 8), ("f16", 1), ("f32", 0)):
        a = normal(n, n).astype(dtype(element))
        trace = np.zeros(1, "f8" if element == "f64" else "f4")
        yield Case(
            FILE,
            "symmetric",
            [a, np.zeros_like(a), trace],
            [(a.astype("f8") + a.T) / 2, np.array([np.trace(a.astype("f8"))])],
            types={"T": element},
            tolerance=1e-3 if element == "f16" else 1e-5,
        )
    for element, n, m, rounds in (("f64", 9, 3, 4), ("i32", 5, 2, 6), ("f32", 64, 1, 2)):
        a = (normal(n, n) * (1 if element[0] == "f" else 2)).astype(dtype(element))
        b = (normal(n, m) * 3).astype(a.dtype)
        y = b
        for _ in range(rounds):
            y = a @ y
        yield Case(
            FILE,
            "powers_of_matrix",
            [a, b, np.zeros_like(b)],
            [y],
            scalars=(np.int64(rounds),),
            types={"T": element},
            tolerance=1e-3 if element == "f32" else 1e-10,
        )


def reached(linked: Array) -> list[Array]:
    near, at, count = linked.astype("i4"), linked.copy(), 0
    while True:
        count += 1
        new = (at.astype("i4") @ linked > 0) & ~at
        near[new], at = count + 1, at | new
        if not new.any():
            return [at, near, np.array([count])]


def by_tiles() -> Iterator[Case]:
    for n, share in ((20, 0.08), (7, 0.2), (1, 0)):
        linked = np.random.default_rng(n).random((n, n)) < share
        result = [np.zeros((n, n), "?"), np.zeros((n, n), "i4"), np.zeros(1, "i4")]
        yield Case(FILE, "closure", [linked, *result], reached(linked))
    for element, n in (("f32", 21), ("f16", 33), ("f64", 16)):
        # Whole numbers, so that 16 bits hold every sum.
        a = np.random.default_rng(n).integers(-3, 4, (n, n)).astype(dtype(element))
        yield Case(
            FILE,
            "moved_tiles",
            [a, np.zeros_like(a)],
            [a.astype("f8") @ a.astype("f8")],
            types={"T": element},
        )
    for n in (5, 8, 1):
        a = normal(n, n).astype("f4")
        wanted = a[:, :, None] + np.arange(n, dtype="f4")
        yield Case(FILE, "copied_rows", [a, np.zeros((n, n, n), "f4")], [wanted])


def cases() -> list[Case]:
    return [*whole(), *by_tiles()]
