"""Matrix fragments: for lane l and element i of a fragment, its row and column."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from emulator.memory import Memory
from emulator.ptx_types import B32, TYPES, Array, PtxError, Type
from emulator.rounding import narrow
from emulator.text import Ins
from emulator.warps import Warps


class Matrices(Warps, Memory):
    """Instructions on matrix tiles."""

    def op_ldmatrix(self, ins: Ins) -> None:
        dst = ins.args[0][1] if ins.args[0][0] == "v" else [ins.args[0]]
        addr = np.zeros(self.n, np.int64)
        addr[self.on] = self.where(ins, ins.args[1], self.on)
        row, outs = self.lane // 4, []
        for i in range(len(dst)):
            halves = []
            for h in range(2):
                r, c = (
                    (row, self.lane % 4 * 2 + h)
                    if "trans" not in ins.mods
                    else (self.lane % 4 * 2 + h, row)
                )
                at = (addr[self.warp * 32 + i * 8 + r] + 2 * c)[self.on]
                back, off = self.resolve(ins, "shared", at, self.on, 2, False)
                full = np.zeros(self.n, np.uint32)
                full[self.on] = back.view(np.uint16)[off // 2]
                halves.append(full)
            outs.append(halves[0] | halves[1] << np.uint32(16))
        for d, v in zip(dst, outs, strict=False):
            self.put(d, B32, v)

    def fragment(self, op: Any, t: Type) -> Array:
        """All elements of an operand fragment, as [warp, lane, element] of float64 (or int64)."""
        regs = [
            np.broadcast_to(self.get(x, TYPES["b64" if t.bits == 64 else "b32"]), (self.n,))
            for x in (op[1] if op[0] == "v" else [op])
        ]
        raw = np.stack(regs, 1).copy()
        if t.kind == "bf":
            raw = (raw.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
        elif t.name == "tf32":
            raw = (raw & np.uint32(0xFFFFE000)).view(np.float32)
        else:
            raw = raw.view(t.np)
        return raw.astype(np.float64 if t.float else np.int64).reshape(self.n // 32, 32, -1)

    def all_here(self, ins: Ins) -> None:
        if not self.warps(self.mask).all(1)[np.unique(self.warp[self.on])].all():
            raise PtxError(f"{ins}: not all lanes of the warp are here")

    def multiply_doubles(self, ins: Ins) -> None:
        """8 by 8 by 4: a lane has one element of each factor, and two neighbouring sums."""
        double = TYPES["f64"]
        lane = np.arange(32)
        a, b = (self.fragment(ins.args[n], double)[:, :, 0] for n in (1, 2))
        left, right = np.zeros((2, len(a), 8, 4))
        left[:, lane // 4, lane % 4] = a
        right[:, lane // 4, lane % 4] = b
        sums = self.fragment(ins.args[3], double).reshape(-1, 8, 8)
        for step in range(4):
            sums = sums + left[:, :, None, step] * right[:, None, :, step]
        made = sums.reshape(self.n, 2).view(np.uint64)
        for number, register in enumerate(ins.args[0][1]):
            self.put(register, TYPES["b64"], made[:, number].copy())

    def op_mma(self, ins: Ins) -> None:
        shape = next(m for m in ins.mods if re.match(r"m\d+n\d+k\d+$", m))
        m, n, k = map(int, re.findall(r"\d+", shape))
        td, ta, tb, tc = ins.types[:4] if len(ins.types) >= 4 else [None] * 4
        if shape == "m8n8k4" and [t.name for t in ins.types] == ["f64"] * 4:
            self.all_here(ins)
            return self.multiply_doubles(ins)
        if td is None or (m, n) != (16, 8) or ta.bits not in (8, 16, 32) or "sp" in ins.mods:
            raise PtxError(f"{ins} is not emulated")
        self.all_here(ins)
        e = (
            32 // ta.bits
        )  # elements in a register; a row of a fragment's tile is 4 lanes of e elements
        lane = np.arange(32)[:, None]
        i = np.arange(m * k // 32)
        arow, acol = lane // 4 + i // e % 2 * 8, lane % 4 * e + i % e + i // (2 * e) * 4 * e
        j = np.arange(n * k // 32)
        brow, bcol = lane % 4 * e + j % e + j // e * 4 * e, lane // 4 + 0 * j
        c = np.arange(4)
        crow, ccol = lane // 4 + c // 2 * 8, lane % 4 * 2 + c % 2
        w = self.n // 32
        kind = np.float64 if ta.float else np.int64
        a, b, acc = np.zeros((w, m, k), kind), np.zeros((w, k, n), kind), np.zeros((w, m, n), kind)
        a[:, arow, acol] = self.fragment(ins.args[1], ta)
        b[:, brow, bcol] = self.fragment(ins.args[2], tb)
        acc[:, crow, ccol] = self.fragment(ins.args[3], tc)
        r = (a @ b + acc)[:, crow, ccol].reshape(self.n, 4)
        r = (narrow(r, td) if td.float else r.astype(np.int32)).view(np.uint32)
        for x, reg in zip(ins.args[0][1], range(r.shape[1]), strict=False):
            self.put(x, B32, r[:, reg].copy())
