"""Calls of test/kernels/rooms.qn, with their meaning in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, numbers

FILE = "rooms"


def bricks(u: Array) -> list[Array]:
    wide = np.pad(u.astype("f8"), 1)
    there = np.pad(np.ones(u.shape), 1)
    total, near, mask = np.zeros(u.shape), np.zeros(u.shape), np.zeros(u.shape, "i8")
    d, h, w = u.shape
    for k, j, i in itertools.product(range(3), repeat=3):
        if abs(k - 1) + abs(j - 1) + abs(i - 1) == 1:
            part = np.s_[k : k + d, j : j + h, i : i + w]
            total += wide[part]
            near += there[part]
            mask = np.where(there[part] > 0, mask * 2 + (k + j + i) % 2, mask)
    with np.errstate(invalid="ignore"):
        mean = np.where(near > 0, total / near, 0)
    return [mean.astype(u.dtype), mask.astype("u1")]


def spaces() -> Iterator[Case]:
    for element, shape in (("f32", (7, 9, 11)), ("f16", (1, 1, 1)), ("f64", (3, 4, 5))):
        u = numbers(element, *shape)
        yield Case(
            FILE,
            "bricks",
            [u, np.zeros_like(u), np.zeros(shape, "u1")],
            bricks(u),
            types={"T": element},
            tolerance=1e-2 if element == "f16" else 1e-5,
        )
    for element, shape in (("u16", (9, 3, 17)), ("c64", (8, 2, 8)), ("bool", (1, 1, 20))):
        x = (
            numbers("f32", *shape).astype("c8") * 1j
            if element == "c64"
            else abs(numbers(element, *shape))
        )
        y = np.ascontiguousarray(x.transpose(2, 1, 0))
        yield Case(FILE, "turned_space", [x, np.zeros_like(y)], [y], types={"T": element})


def bodies() -> Iterator[Case]:
    for element, count in (("f32", 50), ("f64", 24), ("f32", 1)):
        at, mass = numbers(element, count, 3) / 20, abs(numbers(element, count)) / 40
        wide = at.astype("f8")
        d = wide[None] - wide[:, None]
        near = ((d**2).sum(2) + np.float64(at.dtype.type(0.01))) ** -0.5
        force = ((mass * near**3)[:, :, None] * d).sum(1)
        energy = -((mass * near).sum(1) * mass).sum()
        # Threads behind the end stand at the origin without a mass.
        yield Case(
            FILE,
            "bodies",
            [at, mass, np.zeros_like(at), np.zeros(1)],
            [force, np.array([energy])],
            types={"T": element},
            tolerance=1e-3 if element == "f32" else 1e-9,
        )


def escapes() -> Iterator[Case]:
    h, w, x0, step = 11, 17, -2.0, 0.19
    c = (x0 + step * np.arange(w))[None] + 1j * (-1 + step * np.arange(h))[:, None]
    c = c.astype("c8")
    z, steps = np.zeros_like(c), np.zeros((h, w), "u1")
    for _ in range(60):
        on = z.real * z.real + z.imag * z.imag <= 4
        with np.errstate(all="ignore"):
            z = np.where(on, z * z + c, z)
        steps += on.astype("u1")
    yield Case(
        FILE,
        "escapes",
        [np.zeros((h, w), "u1"), np.zeros((h, w), "c8")],
        [steps, z],
        scalars=(np.float64(x0), np.float64(step)),
        tolerance=1e-2,  # a step back grows with every round
    )


def quantized(x: Array) -> list[Array]:
    wide = x.astype("f4")
    most = np.abs(wide).max(1)
    step = np.where(most > 0, most / np.float32(127), np.float32(1)).astype("f4")
    q = np.rint(wide / step[:, None])
    error = ((wide.astype("f8") - q.astype("f8") * step[:, None].astype("f8")) ** 2).sum(1)
    return [q.astype("i1"), step, error]


def rows() -> Iterator[Case]:
    for shape in ((3, 100), (1, 1), (2, 33)):
        x = numbers("f16", *shape)
        x[-1] *= shape[1] > 1
        arrays = [x, np.zeros(shape, "i1"), np.zeros(shape[0], "f4"), np.zeros(shape[0])]
        yield Case(FILE, "quantized", arrays, quantized(x), tolerance=1e-6)
    for element, shape in (("f32", (3, 50)), ("f16", (2, 64)), ("f64", (1, 7))):
        x, w, b = numbers(element, *shape), numbers(element, shape[1]), numbers(element, shape[1])
        wide = x.astype("f8")
        mean = wide.mean(1)
        y = (wide - mean[:, None]) / np.sqrt(wide.var(1) + 0.5)[:, None] * w.astype("f8") + b
        kind = np.dtype("f8" if element == "f64" else "f4")
        yield Case(
            FILE,
            "normalized",
            [x, w, b, np.zeros_like(x), np.zeros(shape[0], kind)],
            [y, mean],
            types={"T": element},
            scalars=(kind.type(0.5),),
            tolerance=1e-2 if element == "f16" else 1e-4,
        )
    v = numbers("i64", 5)
    arrays = [v, np.zeros_like(v), np.zeros_like(v)]
    yield Case(FILE, "alone", arrays, [3 * v, (v > 0).astype("i8")])


def cases() -> Iterator[Case]:
    for kind in (spaces, bodies, escapes, rows):
        yield from kind()
