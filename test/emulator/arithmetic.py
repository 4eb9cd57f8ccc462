"""Arithmetic on integers and floats."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from emulator.ptx_types import PRED, TYPES, UINT, Array, PtxError, Type
from emulator.rounding import flush, high_mul, int_div, narrow, odd_sum
from emulator.state import State
from emulator.text import Ins

libm = ctypes.CDLL("libm.so.6")
libm.fma.restype, libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


Operation = Callable[..., Any]


class Arithmetic(State):
    """Instructions that compute numbers."""

    def halves(self, ins: Ins, count: int, op: Operation) -> None:
        """Run op on both halves of packed operands."""
        t, w = TYPES["bf16" if ins.t.kind == "bf" else ins.t.name[:-2]], ins.t.bits // 2
        whole, part = TYPES[f"b{2 * w}"], UINT[w]
        raw = [np.atleast_1d(self.get(a, whole)) for a in ins.args[1 : count + 1]]
        out = np.zeros(self.n, whole.np)
        for s in (0, w):
            h = [(r >> whole.np(s)).astype(part) for r in raw]
            h = [
                (x.astype(np.uint32) << np.uint32(16)).view(np.float32)
                if t.kind == "bf"
                else x.view(t.np)
                for x in h
            ]
            v = np.asarray(op(t, *h))
            v = (
                v.view(np.uint32) >> np.uint32(16)
                if t.kind == "bf"
                else np.asarray(v, t.np).view(part)
            )
            out |= v.astype(whole.np) << whole.np(s)
        self.put(ins.args[0], whole, out)

    def arith(self, ins: Ins, count: int, op: Operation) -> None:
        """op(type, operands) with the modifiers ftz, sat and relu around it."""
        t, mods = ins.t, ins.mods

        def whole(t: Type, *v: Array) -> Array:
            if t.float and "ftz" in mods:
                v = [flush(x) for x in v]
            r = op(t, *v)
            if t.float:
                if "ftz" in mods:
                    r = flush(r)
                if "sat" in mods:
                    r = np.where(np.isnan(r), 0, np.clip(r, 0, 1)).astype(r.dtype)
                if "relu" in mods:
                    r = np.where(np.isnan(r), r, np.maximum(r, 0)).astype(r.dtype)
            return r

        if t.packed:
            return self.halves(ins, count, whole)
        args = ins.args[1 : count + 1]
        if t.float and len(ins.types) == 2:  # sm_100: narrow factors, wide sum
            v = [self.get(a, ins.types[1]).astype(t.np) for a in args[:-1]] + [
                self.get(args[-1], t)
            ]
        else:
            v = [self.get(a, t) for a in args]
        self.put(ins.args[0], t, whole(t, *v))

    @staticmethod
    def mode(ins: Ins) -> str:
        return next((m for m in ins.mods if m in ("rn", "rz", "rm", "rp")), "rn")

    def float2(self, ins: Ins, exact: Operation, plain: Operation) -> None:
        mode = self.mode(ins)

        def op(t: Type, a: Array, b: Array) -> Array:
            if t.kind == "f" and t.bits >= 32 and mode == "rn":
                return plain(a, b)
            if t.bits == 64:
                raise PtxError(f"{ins} is not emulated")
            return narrow(exact(np.asarray(a, np.float64), np.asarray(b, np.float64)), t, mode)

        self.arith(ins, 2, op)

    def op_add(self, ins: Ins, sign: int = 1) -> None:
        t = ins.t
        if t.float:
            return self.float2(
                ins, lambda a, b: odd_sum(a, sign * b), np.add if sign > 0 else np.subtract
            )
        if "cc" in ins.mods or ins.op in ("addc", "subc"):
            a, b = (self.get(x, TYPES[f"b{t.bits}"]) for x in ins.args[1:3])
            one = a.dtype.type(1)
            b = b if sign > 0 else ~b
            c = (self.carry if ins.op in ("addc", "subc") else np.full(self.n, sign < 0)).astype(
                a.dtype
            )
            s = a + b + c
            if "cc" in ins.mods:
                self.carry = np.where(self.mask, np.where(c == one, s <= a, s < a), self.carry)
            return self.put(ins.args[0], TYPES[f"b{t.bits}"], s)
        if "sat" in ins.mods:
            v = [self.get(x, t).astype(np.int64) for x in ins.args[1:3]]
            return self.put(
                ins.args[0], t, np.clip(v[0] + sign * v[1], -(2**31), 2**31 - 1).astype(np.int32)
            )
        self.arith(ins, 2, lambda t, a, b: a + b if sign > 0 else a - b)

    def op_sub(self, ins: Ins) -> None:
        self.op_add(ins, -1)

    op_addc, op_subc = op_add, op_sub

    def op_mul(self, ins: Ins) -> None:
        t = ins.t
        if t.float:
            return self.float2(ins, np.multiply, np.multiply)
        if "wide" in ins.mods:
            w = TYPES[t.kind + str(t.bits * 2)]
            return self.put(
                ins.args[0],
                w,
                self.get(ins.args[1], t).astype(w.np) * self.get(ins.args[2], t).astype(w.np),
            )
        self.arith(ins, 2, lambda t, a, b: high_mul(a, b, t) if "hi" in ins.mods else a * b)

    def op_mad(self, ins: Ins) -> None:
        t = ins.t
        if t.float:
            return self.op_fma(ins)
        if "cc" in ins.mods:
            raise PtxError(f"{ins} is not emulated")
        a, b = self.get(ins.args[1], t), self.get(ins.args[2], t)
        w = TYPES[t.kind + str(t.bits * 2)] if "wide" in ins.mods else t
        p = a.astype(w.np) * b.astype(w.np) if "hi" not in ins.mods else high_mul(a, b, t)
        self.put(ins.args[0], w, p + self.get(ins.args[3], w))

    def op_fma(self, ins: Ins) -> None:
        mode = self.mode(ins)

        def op(t: Type, a: Array, b: Array, c: Array) -> Array:
            a, b, c = np.broadcast_arrays(
                *(np.atleast_1d(np.asarray(v, np.float64)) for v in (a, b, c))
            )
            if t.bits == 64:
                return np.array([libm.fma(*v) for v in zip(a, b, c, strict=False)])
            return narrow(odd_sum(a * b, c), t, mode)

        self.arith(ins, 3, op)

    def op_div(self, ins: Ins) -> None:
        if ins.t.float:
            return self.float2(ins, np.divide, np.divide)
        self.arith(ins, 2, lambda t, a, b: int_div(a, b, t, False))

    def op_rem(self, ins: Ins) -> None:
        self.arith(ins, 2, lambda t, a, b: int_div(a, b, t, True))

    def op_neg(self, ins: Ins) -> None:
        self.arith(ins, 1, lambda t, a: -a)

    def op_abs(self, ins: Ins) -> None:
        self.arith(ins, 1, lambda t, a: np.abs(a))

    def op_min(self, ins: Ins, pick: Operation = np.fmin, nan: Operation = np.minimum) -> None:
        def op(t: Type, *v: Array) -> Array:
            if not t.float:
                return nan(*v)
            a, *more = np.broadcast_arrays(*v)
            for b in more:
                low = (
                    np.signbit(a) | np.signbit(b)
                    if pick is np.fmin
                    else np.signbit(a) & np.signbit(b)
                )
                r = (nan if "NaN" in ins.mods else pick)(a, b)
                a = np.where((a == 0) & (b == 0), np.where(low, -0.0, 0.0), r).astype(r.dtype)
            return a

        if "xorsign" in ins.mods:
            raise PtxError(f"{ins} is not emulated")
        self.arith(ins, len(ins.args) - 1, op)

    def op_max(self, ins: Ins) -> None:
        self.op_min(ins, np.fmax, np.maximum)

    def unary64(self, ins: Ins, fn: Operation) -> None:
        self.arith(ins, 1, lambda t, a: narrow(fn(np.asarray(a, np.float64)), t, self.mode(ins)))

    def op_rcp(self, ins: Ins) -> None:
        self.unary64(ins, lambda x: 1 / x)

    def op_sqrt(self, ins: Ins) -> None:
        self.unary64(ins, np.sqrt)

    def op_rsqrt(self, ins: Ins) -> None:
        self.unary64(ins, lambda x: 1 / np.sqrt(x))

    def op_ex2(self, ins: Ins) -> None:
        self.unary64(ins, np.exp2)

    def op_lg2(self, ins: Ins) -> None:
        self.unary64(ins, np.log2)

    def op_sin(self, ins: Ins) -> None:
        self.unary64(ins, np.sin)

    def op_cos(self, ins: Ins) -> None:
        self.unary64(ins, np.cos)

    def op_tanh(self, ins: Ins) -> None:
        self.unary64(ins, np.tanh)

    def op_copysign(self, ins: Ins) -> None:
        self.arith(ins, 2, lambda t, a, b: np.copysign(b, a))

    def op_testp(self, ins: Ins) -> None:
        v, t = self.get(ins.args[1], ins.t), ins.t
        tiny = np.abs(v) < np.finfo(t.np).tiny
        r = {
            "finite": np.isfinite(v),
            "infinite": np.isinf(v),
            "number": ~np.isnan(v),
            "notanumber": np.isnan(v),
            "normal": np.isfinite(v) & ~tiny,
            "subnormal": tiny & (v != 0),
        }[ins.mods[0]]
        self.put(ins.args[0], PRED, r)
