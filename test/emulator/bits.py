"""Logic, shifts and bit fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from emulator.ptx_types import B32, TYPES, U32, UINT, PtxError
from emulator.rounding import count_bits, leading
from emulator.state import State
from emulator.text import Ins


class Bits(State):
    """Instructions on bits."""

    def logic(self, ins: Ins, fn: Callable[..., Any], count: int = 2) -> None:
        self.put(ins.args[0], ins.t, fn(*[self.get(a, ins.t) for a in ins.args[1 : count + 1]]))

    def op_and(self, ins: Ins) -> None:
        self.logic(ins, np.bitwise_and)

    def op_or(self, ins: Ins) -> None:
        self.logic(ins, np.bitwise_or)

    def op_xor(self, ins: Ins) -> None:
        self.logic(ins, np.bitwise_xor)

    def op_not(self, ins: Ins) -> None:
        self.logic(ins, np.invert, 1)

    def op_cnot(self, ins: Ins) -> None:
        self.logic(ins, lambda a: (a == 0).astype(a.dtype), 1)

    def op_lop3(self, ins: Ins) -> None:
        a, b, c, table = *(self.get(x, B32) for x in ins.args[1:4]), ins.args[4][1]
        r = np.zeros(self.n, np.uint32)
        for i in range(8):
            if table >> i & 1:
                r |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        self.put(ins.args[0], B32, r)

    def op_shl(self, ins: Ins) -> None:
        v, s = self.get(ins.args[1], ins.t), self.get(ins.args[2], U32)
        k = np.minimum(s, ins.t.bits - 1).astype(v.dtype)
        self.put(ins.args[0], ins.t, np.where(s >= ins.t.bits, v.dtype.type(0), v << k))

    def op_shr(self, ins: Ins) -> None:
        v, s = self.get(ins.args[1], ins.t), self.get(ins.args[2], U32)
        k = np.minimum(s, ins.t.bits - 1).astype(v.dtype)
        self.put(
            ins.args[0],
            ins.t,
            v >> k if ins.t.kind == "s" else np.where(s >= ins.t.bits, v.dtype.type(0), v >> k),
        )

    def op_shf(self, ins: Ins) -> None:
        lo, hi, s = (self.get(a, U32).astype(np.uint64) for a in ins.args[1:4])
        s = s & np.uint64(31) if "wrap" in ins.mods else np.minimum(s, np.uint64(32))
        w = hi << np.uint64(32) | lo
        self.put(
            ins.args[0],
            B32,
            (w << s >> np.uint64(32) if "l" in ins.mods else w >> s).astype(np.uint32),
        )

    def op_popc(self, ins: Ins) -> None:
        self.put(ins.args[0], U32, count_bits(self.get(ins.args[1], ins.t)))

    def op_clz(self, ins: Ins) -> None:
        self.put(ins.args[0], U32, leading(self.get(ins.args[1], ins.t), ins.t.bits))

    def op_bfind(self, ins: Ins) -> None:
        v = self.get(ins.args[1], ins.t)
        v = np.where(v < 0, ~v, v).view(UINT[ins.t.bits]) if ins.t.kind == "s" else v
        n = leading(v, ins.t.bits)
        r = n if "shiftamt" in ins.mods else np.uint32(ins.t.bits - 1) - n
        self.put(ins.args[0], U32, np.where(np.asarray(v) == 0, np.uint32(0xFFFFFFFF), r))

    def op_brev(self, ins: Ins) -> None:
        v, r, one = self.get(ins.args[1], ins.t), 0, ins.t.np(1)
        for i in range(ins.t.bits):
            r = r | (v >> ins.t.np(i) & one) << ins.t.np(ins.t.bits - 1 - i)
        self.put(ins.args[0], ins.t, r)

    def op_bfe(self, ins: Ins) -> None:
        t, bits = ins.t, ins.t.bits
        v = np.broadcast_to(self.get(ins.args[1], t), (self.n,)).astype(t.np)
        p, k = (
            np.broadcast_to(self.get(a, U32) & 255, (self.n,)).astype(np.int64)
            for a in ins.args[2:4]
        )
        u = v.view(UINT[bits]).astype(np.uint64)
        got = np.where(p < bits, u >> np.minimum(p, 63).astype(np.uint64), 0)
        mask = np.where(
            k >= 64,
            np.uint64(2**64 - 1),
            (np.uint64(1) << np.minimum(k, 63).astype(np.uint64)) - np.uint64(1),
        )
        r = got & mask
        if t.kind == "s":
            top = np.minimum(p + k - 1, bits - 1)
            neg = (k > 0) & (u >> np.clip(top, 0, 63).astype(np.uint64) & np.uint64(1) == 1)
            have = np.maximum(top - p + 1, 0)
            r = np.where(
                neg,
                r | ~((np.uint64(1) << np.minimum(have, 63).astype(np.uint64)) - np.uint64(1)),
                r,
            )
        self.put(ins.args[0], TYPES[f"b{bits}"], r.astype(UINT[bits]))

    def op_bfi(self, ins: Ins) -> None:
        bits, u = ins.t.bits, UINT[ins.t.bits]
        a, b = (
            np.broadcast_to(self.get(x, ins.t), (self.n,)).astype(np.uint64) for x in ins.args[1:3]
        )
        p, k = (
            np.broadcast_to(self.get(x, U32) & 255, (self.n,)).astype(np.uint64)
            for x in ins.args[3:5]
        )
        mask = np.where(
            k >= 64, np.uint64(2**64 - 1), (np.uint64(1) << np.minimum(k, 63)) - np.uint64(1)
        )
        mask = np.where(p < bits, mask << np.minimum(p, 63), 0).astype(np.uint64)
        self.put(ins.args[0], ins.t, (b & ~mask | a << np.minimum(p, 63) & mask).astype(u))

    def op_prmt(self, ins: Ins) -> None:
        if any(m in ins.mods for m in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")):
            raise PtxError(f"{ins} is not emulated")
        a, b, c = (self.get(x, U32).astype(np.uint64) for x in ins.args[1:4])
        w, r = b << np.uint64(32) | a, 0
        for i in range(4):
            sel = c >> np.uint64(4 * i)
            byte = w >> (sel & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            byte = np.where(
                sel & np.uint64(8), np.where(byte & np.uint64(128), 255, 0).astype(np.uint64), byte
            )
            r = r | byte << np.uint64(8 * i)
        self.put(ins.args[0], B32, r.astype(np.uint32))

    def op_dp4a(self, ins: Ins) -> None:
        ta, tb = (np.int8 if t.kind == "s" else np.uint8 for t in ins.types[:2])
        a, b = (
            np.broadcast_to(self.get(x, B32), (self.n,))
            .copy()
            .view(k)
            .reshape(self.n, 4)
            .astype(np.int64)
            for x, k in zip(ins.args[1:3], (ta, tb), strict=False)
        )
        self.put(
            ins.args[0],
            B32,
            ((a * b).sum(1) + self.get(ins.args[3], TYPES["s32"])).astype(np.int32).view(np.uint32),
        )
