"""Programs of test/emulator/programs.qn on GPU targets: odd sizes, operands in several orders."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from kernel_cases import Array, numbers
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "test" / "emulator" / "programs.qn"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")


@dataclass
class Call:
    """Operands, what is expected in the results, and how the operands lie."""

    name: str
    inputs: Sequence[Array]
    expected: Sequence[Array]
    scalars: Sequence[np.generic] = ()
    options: tuple[str, ...] = ()
    tolerance: float = 1e-4

    def __repr__(self) -> str:
        shapes = "-".join("x".join(map(str, x.shape)) for x in self.inputs)
        return f"{self.name}-{shapes}-{'-'.join(self.options)}"


def turned(x: Array) -> Array:
    """The same elements, the first axis' being neighbours."""
    return np.ascontiguousarray(x.T).T


def real(*shape: int) -> Array:
    return numbers("f32", *shape) / 40


def elements() -> list[Call]:
    calls = []
    for shape in ((5, 7), (33, 70), (3, 200)):
        x, y, keep = real(*shape), real(*shape)[:, ::-1].copy(), numbers("bool", *shape)
        v = np.where(keep, x, y * y)
        calls.append(Call("blend", [x, y, keep], [v, v > x], options=("--ranks=blend=2",)))
        layouts = ("--ranks=blend=2", "--layouts=x=1d,y=d1,keep=1d")
        calls.append(Call("blend", [turned(x), y, turned(keep)], [v, v > x], options=layouts))
    for n, c, p in ((2, 5, 3), (1, 40, 70), (3, 300, 1)):
        x, w = real(n, c, p), real(c)
        s = (x * x).sum(1)
        calls.append(Call("outer_norm", [x, w], [x * w[:, None] / (1 + s[:, None]), s]))
    return calls


def rows() -> list[Call]:
    calls = []
    for r, c, d in ((3, 5, 7), (2, 100, 33), (1, 1025, 4)):
        x, table = real(r, c), real(c, d)
        best = x.argmax(1)
        calls.append(Call("picked", [x, table], [table[best], best]))
        turned_x = Call(
            "picked", [turned(x), table], [table[best], best], options=("--layouts=x=1d",)
        )
        calls.append(turned_x)
    for a, b, c in ((2, 3, 5), (40, 9, 17), (1, 130, 2)):
        x, least = real(a, b, c), real(b)
        on = x > least[:, None]
        sums = np.where(on, x * x, 0).sum((0, 2))
        calls.append(Call("spread_where", [x, least], [sums, on.sum((0, 2))]))
    for shape in ((3, 7), (2, 70), (1, 1030)):
        x, w, b = real(*shape), real(shape[1]), real(shape[1])
        mean = x.mean(1)
        d = x - mean[:, None]
        calls.append(Call("affine", [x, w, b], [d * w + b, mean, (d * d).sum(1)]))
        wide = Call("affine", [turned(x), w, b], [d * w + b, mean, (d * d).sum(1)])
        wide.options = ("--ranks=affine=2", "--layouts=x=1d")
        calls.append(wide)
    for shape in ((2, 3, 5, 4), (3, 1, 40, 33)):
        x = real(*shape)
        low = x.min((1, 2))
        calls.append(Call("middle", [x], [low, x - low[:, None, None]]))
    return calls


def rows_apart() -> list[Call]:
    """Rows of one operand beside those of another one, which have other axes."""
    calls = []
    for a, r, p, c in ((2, 3, 4, 7), (3, 1, 2, 100), (1, 2, 3, 1500)):
        x, y, z = real(a, r, c) + 2, real(r, p, c), real(c)
        shares = x / (x * z).sum(2, keepdims=True, dtype="f8")
        below = y - y.max(2, keepdims=True) + z
        calls.append(Call("two_tables", [x, y, z], [shares, below], tolerance=1e-3))
    for r, c in ((3, 7), (5, 100), (3, 1500), (2, 9000)):
        x = real(r, c) / 10
        e = np.exp(x.astype("f8"))
        wanted = [e / e.sum(1, keepdims=True), x.sum(0)]
        calls.append(Call("shares_beside_columns", [x], wanted, tolerance=1e-5))
    for n, k, c in ((9, 4, 5), (20, 3, 100), (3, 2, 1500)):
        x, at, w = real(n, c), np.random.default_rng(n).integers(0, k, n), real(k, c)
        spread, total = w.astype("f8"), (w * w).sum(1, dtype="f8")
        np.add.at(spread, at, x)
        wanted = [spread, total, w / (1 + total[:, None])]
        calls.append(Call("spread_beside_rows", [x, at, w], wanted))
    return calls


def ordered() -> list[Call]:
    calls = []
    for shape in ((3, 7), (2, 100), (1, 300)):
        x = real(*shape)
        back = np.where(x > 0, 1 + x / 8, 1)[:, ::-1].cumprod(1, dtype="f8")[:, ::-1]
        most = np.maximum.accumulate(x, 0)
        calls.append(Call("back_products", [x], [back, most], tolerance=1e-3))
        rounded = np.round(x, 1)
        place = np.argsort(-rounded, 1, kind="stable")
        calls.append(Call("ranked", [rounded], [np.take_along_axis(rounded, place, 1), place]))
    for v, n, c in ((5, 9, 3), (7, 100, 33)):
        into, at, x = real(v, c), np.random.default_rng(n).integers(0, v, n), real(n, c)
        total, most = into.astype("f8"), into.copy()
        np.add.at(total, at, x)
        for row in set(at.tolist()):
            most[row] = x[at == row].max(0)
        calls.append(Call("gathered_sums", [into, at, x], [total, most]))
    return calls


def scans_reduced() -> list[Call]:
    """By a thread, a warp, a block."""
    calls = []
    for shape in ((3, 7), (2, 100), (5, 300), (2, 1500)):
        x = real(*shape)
        s = x.cumsum(1, dtype="f8")
        calls.append(Call("shares_of_scan", [x], [s - s.max(1, keepdims=True), s.max(1)]))
        kept = np.where(x > -1, x, 0).astype("f8")
        s = kept[:, ::-1].cumsum(1)[:, ::-1] - kept
        low, most = s.min(1), (s * np.where(s > 0, x, 0)).sum(1)
        depths = [low, s.argmax(1), most, x / (1 + abs(low[:, None]))]
        calls.append(Call("depths", [x], depths, tolerance=1e-3))
    return calls


def windows() -> list[Call]:
    calls = []
    for h, w, k, s, p in ((7, 9, 3, 2, 1), (20, 33, 2, 1, 0), (5, 5, 5, 3, 2)):
        x = real(2, h, w)
        wide = np.pad(x, ((0, 0), (p, p), (p, p)), constant_values=-np.inf)
        parts = np.lib.stride_tricks.sliding_window_view(wide, (k, k), (1, 2))[:, ::s, ::s]
        sizes = [np.int64(n) for n in (k, s, p)]
        calls.append(Call("pooled", [x], [parts.max((3, 4))], sizes, ("--ranks=pooled=3",)))
    for b, d, w, o, k, step in ((2, 3, 20, 4, 3, 2), (1, 5, 70, 33, 4, 1)):
        x, f = real(b, d, w), real(o, d, k)
        places = np.arange(w - step * (k - 1))[:, None] + step * np.arange(k)
        y = np.einsum("bdpk,odk->bop", x[:, :, places], f)
        calls.append(Call("dilated", [x, f], [y], [np.int64(step)]))
    first, last = np.array([0, 3, 9, 2]), np.array([3, 3, 12, 11])
    x = real(12, 37)
    sums = np.stack([x[a:b].sum(0) for a, b in zip(first, last, strict=True)])
    calls.append(Call("bags", [first, last, x], [sums]))
    for a, b in ((3, 5), (40, 33)):
        left, right = real(4, a), real(4, b)
        v = np.concatenate([left, right], 1)
        calls.append(Call("joined_rows", [left, right], [v - v.max(1, keepdims=True)]))
    return calls


def products() -> list[Call]:
    calls = []
    for m, n, k in ((3, 5, 7), (33, 40, 20), (64, 130, 48)):
        a, g, b, bias = real(m, k), real(m, k), real(n, k), real(n)
        h = a / (1 + np.exp(-g.astype("f8")))
        wanted = [np.tanh(h @ b.T + bias), h.sum(1)]
        calls.append(Call("gated_product", [a, g, b, bias], wanted))
        lies = ("--layouts=a=1d,b=1d",)
        calls.append(Call("gated_product", [turned(a), g, turned(b), bias], wanted, options=lies))
        halves = [x.astype("f2") for x in (a, g, b, bias)]
        wide = [x.astype("f8") for x in halves]
        h = wide[0] / (1 + np.exp(-wide[1]))
        wanted = [np.tanh(h @ wide[2].T + wide[3]), h.sum(1)]
        types = ("--types=T=f16",)
        calls.append(Call("gated_product", halves, wanted, options=types, tolerance=2e-2))
    for m, n, k in ((3, 5, 7), (20, 33, 40)):
        a, b = numbers("i32", 2, m, k), numbers("i32", k, n)
        calls.append(
            Call("whole_product", [a, b], [a.astype("i8") @ b], options=("--types=T=i32",))
        )
    for m, n, d, e in ((3, 5, 4, 6), (20, 70, 16, 33)):
        q, k, v = real(m, d), real(n, d), real(n, e)
        p = np.exp(q.astype("f8") @ k.T)
        calls.append(Call("attended", [q, k, v], [p / p.sum(1, keepdims=True) @ v], tolerance=1e-3))
    return calls


KINDS = (elements, rows, rows_apart, ordered, scans_reduced, windows, products)
CALLS = [call for kind in KINDS for call in kind()]


@functools.cache
def built(name: str, target: str, *options: str) -> GpuKernel:
    return kernel_for(PROGRAM, FILE, name, target, options)


PAIRS = matrix(
    "programs on GPUs",
    itertools.product(range(len(CALLS)), TARGETS),
    group=lambda pair: (CALLS[pair[0]].name, pair[1][:2]),
    quick=0.1,
)


@pytest.mark.parametrize(
    ("place", "target"), PAIRS, ids=[f"{CALLS[place]!r}-{target}" for place, target in PAIRS]
)
def test_on_a_gpu(place: int, target: str) -> None:
    call = CALLS[place]
    kernel = built(call.name, target, *call.options)
    results = kernel.operands[len(call.inputs) :]
    kinds = {"f32": "f4", "f16": "f2", "i64": "i8", "i1": "?"}
    outs = [
        np.zeros(then.shape, kinds[result.element])
        for result, then in zip(results, call.expected, strict=True)
    ]
    kernel.run([*call.inputs, *outs], call.scalars)
    assert not kernel.errors.any()
    for now, then in zip(outs, call.expected, strict=True):
        np.testing.assert_allclose(now, then, call.tolerance, call.tolerance)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [7, 100, 1500, 9000])
def test_rows_in_place(columns: int, target: str) -> None:
    x = real(3, columns) / 10
    wanted = x / (1 + (x.astype("f8") ** 2).sum(1, keepdims=True))
    built("shares_in_place", target).run([x])
    np.testing.assert_allclose(x, wanted, 1e-5, 1e-7)
