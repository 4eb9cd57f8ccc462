"""Calls of test/kernels/steps.qn and updates.qn, with their meaning in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernel_cases import Array, Case, bits, dtype, floats, numbers
from philox_reference import reference

FILE = "steps"


def normal(element: str, *shape: int) -> Array:
    x = np.random.default_rng(sum(shape) + len(shape)).standard_normal(shape)
    return bits(x) if element == "bf16" else x.astype(dtype(element))


def wide(x: Array, element: str = "") -> Array:
    return (floats(x) if element == "bf16" else x).astype("f8")


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def near() -> Iterator[Case]:
    for count in (100, 7, 0):
        x, centre = normal("f32", count, 5), normal("f32", 6, 5)
        far = ((wide(x)[:, None] - wide(centre)) ** 2).sum(2)
        to = far.argmin(1)
        sums = np.zeros((6, 5))
        np.add.at(sums, to, wide(x))
        given = [np.zeros(count, "i4"), np.zeros((6, 5)), np.zeros(6, "i4"), np.zeros(1)]
        wanted = [to, sums, np.bincount(to, minlength=6), np.array([far.min(1).sum()])]
        yield Case("updates", "assign", [x, centre, *given], wanted, tolerance=1e-5)


def cells() -> Iterator[Case]:
    for element, batch, inner, unit in (("f32", 3, 7, 10), ("f16", 2, 4, 33), ("f64", 1, 1, 1)):
        x, h, c = normal(element, batch, inner), normal(element, batch, unit), None
        c = normal(element, batch, unit)[:, ::-1]
        w, u = normal(element, 4 * unit, inner), normal(element, 4 * unit, unit)
        bias = normal(element, 4 * unit)
        gates = wide(x) @ wide(w).T + wide(h) @ wide(u).T + wide(bias)
        i, f, g, o = np.split(gates, 4, 1)
        cell = sigmoid(f) * wide(c) + sigmoid(i) * np.tanh(g)
        yield Case(
            FILE,
            "lstm_cell",
            [x, h, c, w, u, bias, np.zeros_like(h), np.zeros_like(h)],
            [sigmoid(o) * np.tanh(cell), cell],
            {"H": unit},
            types={"T": element},
            tolerance={"f16": 4e-3, "f32": 1e-5, "f64": 1e-12}[element],
        )


def drawn() -> Iterator[Case]:
    for element, count in (("f32", 300), ("f16", 5), ("f64", 128)):
        x, lanes = normal(element, count), np.arange(-(-count // 128) * 32)
        words = np.array([reference(11, int(k)) for k in lanes], "u4").reshape(-1)
        stays = (words >> np.uint32(8)).astype("f4") / np.float32(1 << 24) < np.float32(0.7)
        kept = np.where(stays[:count], wide(x) / wide(np.float32(0.7)), 0)
        packed = np.packbits(stays, bitorder="little")
        yield Case(
            FILE,
            "dropout",
            [x, np.zeros_like(x), np.zeros(len(packed), "u1")],
            [kept, packed],
            scalars=(np.float32(0.7), np.int64(11)),
            types={"T": element},
            tolerance=1e-3 if element == "f16" else 1e-6,
        )


def products() -> Iterator[Case]:
    for m, n, k in ((8, 8, 32), (13, 9, 50), (1, 1, 1), (3, 20, 0)):
        rng = np.random.default_rng(m + n + k)
        a, b = rng.integers(0, 256, (m, k)).astype("u1"), rng.integers(-128, 128, (n, k))
        raw = (a.astype("i8") - 128) @ b.T
        scale = normal("f32", n)
        given = [a, b.astype("i1"), scale]
        result = [np.ones((m, n), "f4"), np.ones((m, n), "i4")]
        wanted = [raw * scale, raw]
        before = [*given, *result]
        yield Case(FILE, "bytes_product", before, wanted, scalars=(np.int32(128),), tolerance=1e-6)


def losses() -> Iterator[Case]:
    for element, rows, columns in (("f32", 9, 77), ("bf16", 4, 40), ("f64", 3, 1)):
        x = normal(element, rows, columns)
        v = wide(x, element)
        label = np.arange(rows) * 5 % columns
        label[0] = v[0].argmax()
        label[2] = -100
        used, e = label >= 0, np.exp(v - v.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        one = np.arange(columns) == label[:, None]
        grad = np.where(used[:, None], p - one, 0)
        loss = np.where(used, -np.log((p * one).sum(1) + ~used), 0)
        right = ((v.argmax(1) == label) & used).sum()
        result = [np.zeros(rows, "f8" if element == "f64" else "f4"), np.zeros_like(x)]
        yield Case(
            FILE,
            "cross_entropy",
            [x, label, *result, np.zeros(1, "i4")],
            [loss, grad, np.array([right])],
            scalars=(np.int64(-100),),
            types={"T": element},
            tolerance={"bf16": 1e-2, "f32": 1e-5, "f64": 1e-12}[element],
        )


def updates() -> Iterator[Case]:
    for element, count, skip in (("f32", 500, 0), ("f16", 20, 0), ("f32", 9, 1), ("f32", 0, 0)):
        w, g = normal(element, count), normal(element, count + 1)[1:]
        m, v = normal("f32", count), abs(normal("f32", count))
        now = 0.9 * m + 0.1 * wide(g), 0.999 * v + 0.001 * wide(g) ** 2
        by = 0.01 * now[0] / (1 - 0.9**3) / (np.sqrt(now[1] / (1 - 0.999**3)) + 1e-8)
        wanted = [w, g, m, v] if skip else [wide(w) - by, g, *now]
        yield Case(
            "updates",
            "adam",
            [w, g, m, v, np.array([skip], "?")],
            [*wanted, np.array([skip], "?")],
            scalars=(np.float32(0.01), np.int64(3)),
            types={"T": element},
            tolerance=1e-3 if element == "f16" else 1e-5,
        )


def attended() -> Iterator[Case]:
    for element, heads, rows, d in (("f16", 2, 40, 16), ("f32", 1, 16, 32), ("bf16", 1, 21, 16)):
        q, k, v = (normal(element, heads, rows, d) for _ in range(3))
        k, v = k[:, ::-1].copy(), v[:, :, ::-1].copy()
        score = wide(q, element) @ wide(k, element).transpose(0, 2, 1) * 0.25
        score = np.where(np.tri(rows, dtype="?"), score, -np.inf)
        e = np.exp(score - score.max(2, keepdims=True))
        wanted = e / e.sum(2, keepdims=True) @ wide(v, element)
        yield Case(
            FILE,
            "causal",
            [q, k, v, np.zeros_like(q)],
            [wanted],
            {"D": d},
            (np.float32(0.25),),
            types={"T": element},
            tolerance={"f16": 4e-3, "bf16": 3e-2, "f32": 1e-5}[element],
        )


def singles() -> Iterator[Case]:
    for element, count in (("f32", 100), ("i32", 33), ("f64", 1), ("i64", 64)):
        x = abs(numbers(element, count))
        limit, most, calls = np.array(3, x.dtype), np.array(2, x.dtype), np.array(5)
        total = np.array(7, {"f32": "f4", "f64": "f8"}.get(element, "i8"))
        wanted = [total + x[x < 3].sum(dtype=total.dtype), max(most, x.max()), 13]
        yield Case(
            "updates",
            "step_of_one",
            [x, limit, total, most, calls],
            [np.array(w) for w in wanted],
            types={"T": element},
        )


def cases() -> list[Case]:
    groups = (near, cells, drawn, products, losses, updates, singles, attended)
    return [case for group in groups for case in group()]
