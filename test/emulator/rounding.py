"""Rounding, division and bit counting as PTX defines them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from emulator.ptx_types import UINT, Array, Type


def odd_sum(p: Array, c: Array) -> Array:
    """p + c rounded to odd, so that a second rounding to a narrower type is exact."""
    s = p + c
    v = s - p
    e = (p - (s - v)) + (c - v)
    fix = (
        np.isfinite(s)
        & (e != 0)
        & (np.atleast_1d(s).view(np.uint64).reshape(s.shape) & np.uint64(1) == 0)
    )
    return np.where(fix, np.nextafter(s, np.where(e > 0, np.inf, -np.inf)), s)


def narrow(x: Any, t: Type, mode: str = "rn") -> Array:
    """Round float64 to a float type; bf16 is carried as the float32 of the same value."""
    x = np.asarray(x, np.float64)
    if t.kind == "bf":
        f = x.astype(np.float32)
        back = f.astype(np.float64)  # make f odd where it is inexact, then round its upper half
        u = np.atleast_1d(f).view(np.uint32).reshape(f.shape)
        over = np.abs(back) > np.abs(x)
        u = np.where(np.isfinite(f) & (back != x), np.where(over, u - 1, u) | 1, u).astype(
            np.uint32
        )
        if mode == "rn":
            r = u + np.uint32(0x7FFF) + (u >> np.uint32(16) & np.uint32(1))
        else:
            up = {"rz": np.zeros(u.shape, bool), "rm": x < 0, "rp": x > 0}[mode] & (u & 0xFFFF != 0)
            r = u + np.where(up, np.uint32(0x10000), np.uint32(0))
        r = np.where(np.isnan(x), np.uint32(0x7FFF0000), np.where(np.isinf(x), u, r)) & np.uint32(
            0xFFFF0000
        )
        return r.astype(np.uint32).view(np.float32)
    y = x.astype(t.np)
    if mode != "rn":
        w = y.astype(np.float64)
        wrong = {"rz": np.abs(w) > np.abs(x), "rm": w > x, "rp": w < x}[mode]
        toward = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}[mode]
        y = np.where(wrong, np.nextafter(y, t.np(toward)), y)
    return y


def flush(x: Array) -> Array:
    return (
        np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)
        if x.dtype == np.float32
        else x
    )


def high_mul(a: Array, b: Array, t: Type) -> Array:
    if t.bits < 64:
        w = np.int64 if t.kind == "s" else np.uint64
        return (a.astype(w) * b.astype(w) >> w(t.bits)).astype(t.np)
    a, b = np.broadcast_arrays(a, b)
    return (
        np.array(
            [
                (int(x) * int(y) >> 64) & (2**64 - 1)
                for x, y in zip(a.ravel(), b.ravel(), strict=True)
            ],
            np.uint64,
        )
        .reshape(a.shape)
        .view(t.np)
    )


def int_div(a: Array, b: Array, t: Type, rem: bool) -> Array:
    zero = b == 0
    b = np.where(zero, t.np(1), b)
    if t.kind != "s":
        q, r = a // b, a % b
    else:
        ua, ub = (
            np.where(v < 0, -v, v).view(UINT[t.bits])
            for v in np.broadcast_arrays(np.atleast_1d(a), np.atleast_1d(b))
        )
        q, r = (ua // ub).view(t.np), (ua % ub).view(t.np)
        q, r = np.where((a < 0) != (b < 0), -q, q), np.where(a < 0, -r, r)
    return (
        np.where(zero, a, r) if rem else np.where(zero, t.np(-1) if t.kind == "s" else ~t.np(0), q)
    )


def count_bits(u: Array) -> Array:
    return np.bitwise_count(u).astype(np.uint32)


def leading(u: Array, bits: int) -> Array:
    u = np.atleast_1d(u).astype(np.uint64)
    n = np.zeros(u.shape, np.uint32)
    for s in (32, 16, 8, 4, 2, 1):
        big = u >> np.uint64(s) != 0
        n, u = n + np.where(big, np.uint32(s), np.uint32(0)), np.where(big, u >> np.uint64(s), u)
    return np.where(u == 0, np.uint32(bits), np.uint32(bits - 1) - n)


def to_int(x: Array, t: Type, mode: str) -> Array:
    x = np.asarray(x, np.float64)
    r = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](x)
    lo, hi = (-(2 ** (t.bits - 1)), 2 ** (t.bits - 1) - 1) if t.kind == "s" else (0, 2**t.bits - 1)
    out = np.where((r > lo) & (r < float(hi)), r, 0).astype(
        np.int64 if t.kind == "s" else np.uint64
    )
    out = np.where(
        r >= float(hi), np.array(hi, out.dtype), np.where(r <= lo, np.array(lo, out.dtype), out)
    )
    return np.where(np.isnan(x), np.array(0, out.dtype), out).astype(t.np)


def literal(a: str) -> tuple[Any, ...]:
    if re.match(r"0[fF][0-9a-fA-F]{8}$", a):
        return "f", int(a[2:], 16), 32
    if re.match(r"0[dD][0-9a-fA-F]{16}$", a):
        return "f", int(a[2:], 16), 64
    if re.match(r"-?(0[xX][0-9a-fA-F]+|\d+)U?$", a):
        return "i", int(a.rstrip("U"), 8 if re.match(r"-?0\d", a) else 0)
    return "i", float(a)


def align_up(n: int, a: int) -> int:
    return (n + a - 1) // a * a
