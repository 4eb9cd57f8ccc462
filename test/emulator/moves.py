"""Moves, comparisons, selections and conversions."""

from __future__ import annotations

import re

import numpy as np

from emulator.ptx_types import B32, F32, PRED, TYPES, Array, PtxError, Type
from emulator.rounding import flush, narrow, to_int
from emulator.state import State
from emulator.text import Ins


class Moves(State):
    """Instructions that choose and convert."""

    def op_mov(self, ins: Ins) -> None:
        dst, src = ins.args
        t = ins.t if ins.t.bits == 1 else TYPES[f"b{ins.t.bits}"]
        v = self.get(src, t)
        self.put(dst, t, v.copy() if v.ndim else np.broadcast_to(v, (self.n,)).copy())

    def op_selp(self, ins: Ins) -> None:
        t = TYPES[f"b{ins.t.bits}"]
        self.put(
            ins.args[0],
            t,
            np.where(
                self.get(ins.args[3], PRED), self.get(ins.args[1], t), self.get(ins.args[2], t)
            ),
        )

    def op_slct(self, ins: Ins) -> None:
        t = TYPES[f"b{ins.t.bits}"]
        self.put(
            ins.args[0],
            t,
            np.where(
                self.get(ins.args[3], ins.types[1]) >= 0,
                self.get(ins.args[1], t),
                self.get(ins.args[2], t),
            ),
        )

    def compare(self, ins: Ins, t: Type) -> Array:
        return self.compared(ins, t, self.get(ins.args[1], t), self.get(ins.args[2], t))

    def compared(self, ins: Ins, t: Type, a: Array, b: Array) -> Array:
        how = ins.mods[0]
        if t.float and "ftz" in ins.mods:
            a, b = flush(a), flush(b)
        unordered = (np.isnan(a) | np.isnan(b)) if t.float else np.False_
        if how in ("num", "nan"):
            return ~unordered if how == "num" else unordered
        base = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
        orelse = t.float and base.endswith("u") and len(base) == 3
        base = base[:2]
        r = {
            "eq": np.equal,
            "ne": np.not_equal,
            "lt": np.less,
            "le": np.less_equal,
            "gt": np.greater,
            "ge": np.greater_equal,
        }[base](a, b)
        return r | unordered if orelse else r & ~unordered

    def op_setp(self, ins: Ins) -> None:
        if ins.t.packed:
            return self.compare_halves(ins)
        r, dst = self.compare(ins, ins.types[-1]), ins.args[0]
        join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.get(ins.mods[1])
        c = self.get(ins.args[3], PRED) if join else None
        both = (join(r, c), join(~r, c)) if join else (r, ~r)
        for a, v in zip(dst[1:] if dst[0] == "2" else [dst], both, strict=False):
            self.put(a, PRED, v)

    def compare_halves(self, ins: Ins) -> None:
        """A predicate for the low half, one for the high half."""
        if len(ins.args) > 3 or ins.args[0][0] != "2":
            raise PtxError(f"{ins} is not emulated")
        word, part = TYPES["b32"], TYPES[ins.t.name.removesuffix("x2")]
        raw = [np.atleast_1d(self.get(a, word)).astype(np.uint32) for a in ins.args[1:3]]
        for place, shift in zip(ins.args[0][1:], (0, 16), strict=True):
            bits = [(r >> np.uint32(shift)).astype(np.uint16) for r in raw]
            if part.kind == "bf":
                a, b = ((r.astype(np.uint32) << np.uint32(16)).view(np.float32) for r in bits)
            else:
                a, b = (r.view(np.float16) for r in bits)
            self.put(place, PRED, np.broadcast_to(self.compared(ins, part, a, b), self.n))

    def op_set(self, ins: Ins) -> None:
        r = self.compare(ins, ins.types[1])
        if len(ins.args) > 3:
            r = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[ins.mods[1]](
                r, self.get(ins.args[3], PRED)
            )
        self.put(
            ins.args[0],
            ins.t,
            r.astype(np.float32)
            if ins.t.name == "f32"
            else np.where(r, ~np.uint32(0), np.uint32(0)),
        )

    def op_cvt(self, ins: Ins) -> None:
        d, s = ins.types[0], ins.types[-1]
        mode = next(
            (
                m
                for m in ins.mods
                if m in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")
            ),
            None,
        )
        if any(re.match(r"e\dm\d", m) for m in ins.mods):
            raise PtxError(f"{ins} is not emulated")
        if d.packed:
            return self.pack(ins, d, mode)
        v = self.get(ins.args[1], s)
        if d.name == "tf32":
            return self.shorten(ins, v, mode)
        if s.float and "ftz" in ins.mods:
            v = flush(v)
        r = self.converted(ins, v, mode)
        if d.float:
            if "ftz" in ins.mods:
                r = flush(r)
            if "sat" in ins.mods:
                r = np.where(np.isnan(r), 0, np.clip(r, 0, 1)).astype(r.dtype)
            if "relu" in ins.mods:
                r = np.where(np.isnan(r), r, np.maximum(r, 0)).astype(r.dtype)
        self.put(ins.args[0], d, r)

    def pack(self, ins: Ins, d: Type, mode: str | None) -> None:
        """Two floats become the halves of a register."""
        one = TYPES["bf16" if d.kind == "bf" else "f16"]
        r = [narrow(self.get(a, F32), one, mode) for a in ins.args[1:3]]
        if "relu" in ins.mods:
            r = [np.where(np.isnan(x), x, np.maximum(x, 0)).astype(x.dtype) for x in r]
        u = [
            x.view(np.uint32) >> np.uint32(16)
            if d.kind == "bf"
            else x.view(np.uint16).astype(np.uint32)
            for x in r
        ]
        self.put(ins.args[0], B32, u[0] << np.uint32(16) | u[1])

    def shorten(self, ins: Ins, v: Array, mode: str | None) -> None:
        """A float loses the bits that tf32 has not."""
        u = np.asarray(v, np.float32).view(np.uint32)
        low = (
            np.uint32(0x1000)
            if mode == "rna"
            else np.uint32(0xFFF) + (u >> np.uint32(13) & np.uint32(1))
            if mode == "rn"
            else 0
        )
        self.put(ins.args[0], B32, np.where(np.isfinite(v), u + low, u) & np.uint32(0xFFFFE000))

    @staticmethod
    def converted(ins: Ins, v: Array, mode: str | None) -> Array:
        """A number in another type."""
        d, s = ins.types[0], ins.types[-1]
        if s.float and not d.float:
            r = to_int(v, d, mode)
        elif s.float:
            if mode and mode.endswith("i"):
                r = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](v)
            else:
                r = narrow(v, d, mode or "rn")
        elif d.float:
            if d.bits >= 32 and mode == "rn" and d.kind == "f":
                r = v.astype(d.np)
            elif s.bits == 64 and mode != "rn":
                raise PtxError(f"{ins} is not emulated")
            else:
                r = narrow(v.astype(np.float64), d, mode or "rn")
        else:
            if "sat" in ins.mods:
                info = np.iinfo(d.np)
                v = np.clip(v, max(info.min, np.iinfo(s.np).min), min(info.max, np.iinfo(s.np).max))
            r = v.astype(d.np)
        return r

    def op_trap(self, ins: Ins) -> None:
        raise PtxError(f"{ins}: trap by thread {self.on[0] % self.per}")

    def op_call(self, ins: Ins) -> None:
        name = next((a[1] for a in ins.args if a[0] == "a"), "?")
        raise PtxError(f"{ins} {name}: calls are not emulated: everything is to be inlined")
