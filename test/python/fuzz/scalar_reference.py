"""The language's scalar semantics on NumPy arrays: the other side of random kernels.

Small floats are held as f32 until a cast or the store rounds them (docs/decisions/0006).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
TYPES = (*FLOATS, *INTEGERS, "bool")

HELD: dict[str, Any] = {
    "f16": np.float32,
    "bf16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "bool": np.bool_,
    **{
        f"{s}{b}": np.dtype(f"{'int' if s == 'i' else 'uint'}{b}").type
        for s in "iu"
        for b in (8, 16, 32, 64)
    },
}
TORCH: dict[str, torch.dtype] = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
}


def is_float(t: str) -> bool:
    return t in FLOATS


def bits(t: str) -> int:
    return 8 if t == "bool" else int(t.lstrip("iubf"))


def round_small(x: Array, t: str) -> Array:
    """An f32 array rounded to `t`, still in f32."""
    if t not in ("f16", "bf16"):
        return x
    return torch.from_numpy(np.array(x)).to(TORCH[t]).to(torch.float32).numpy()


def float_to_integer(x: Array, t: str) -> Array:
    info = np.iinfo(HELD[t])
    whole = np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64))
    low, high = whole <= float(info.min), whole >= float(info.max)
    middle = np.where(low | high, 0, whole)
    result = middle.astype(HELD[t])
    return np.where(low, info.min, np.where(high, info.max, result)).astype(HELD[t])


def cast(x: Array, source: str, target: str) -> Array:
    if target == "bool":
        return np.asarray(x != 0)
    if is_float(target):
        # Integers and f64 reach small floats through f32.
        return round_small(x.astype(HELD[target]), target)
    if is_float(source):
        return float_to_integer(x, target)
    return x.astype(HELD[target])


def floor_divide(a: Array, b: Array) -> Array:
    smallest = a == np.iinfo(a.dtype).min if a.dtype.kind == "i" else np.zeros_like(a, bool)
    wraps = smallest & (b == a.dtype.type(-1)) if a.dtype.kind == "i" else smallest
    safe = np.where((b == 0) | wraps, a.dtype.type(1), b)
    return np.where(b == 0, a.dtype.type(0), a // safe).astype(a.dtype)


def modulo(a: Array, b: Array) -> Array:
    zero = (b == 0) | (b == a.dtype.type(-1) if a.dtype.kind == "i" else b == 0)
    safe = np.where(zero, a.dtype.type(1), b)
    return np.where(zero, a.dtype.type(0), a % safe).astype(a.dtype)


def shift(a: Array, amount: Array, left: bool) -> Array:
    width = a.dtype.itemsize * 8
    unsigned = amount.astype(f"u{a.dtype.itemsize}")
    inside = unsigned < width
    by = np.where(inside, unsigned, 0).astype(a.dtype)
    moved = a << by if left else a >> by
    sign = a >> a.dtype.type(width - 1)
    beyond = np.zeros_like(a) if left or a.dtype.kind == "u" else sign
    return np.where(inside, moved, beyond).astype(a.dtype)


def maximum(a: Array, b: Array) -> Array:
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    # Between zeros the positive one is the greater.
    zeros = np.where(np.signbit(a), b, a)
    return np.where((a == 0) & (b == 0), zeros, np.maximum(a, b)).astype(a.dtype)


def minimum(a: Array, b: Array) -> Array:
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    zeros = np.where(np.signbit(a), a, b)
    return np.where((a == 0) & (b == 0), zeros, np.minimum(a, b)).astype(a.dtype)


BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": floor_divide,
    "%": modulo,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: shift(a, b, True),
    ">>": lambda a, b: shift(a, b, False),
    "max": maximum,
    "min": minimum,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
UNARY = {
    "-": lambda a: a.dtype.type(0) - a if a.dtype.kind in "iu" else -a,
    "~": lambda a: ~a,
    "not": lambda a: ~a,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "isnan": np.isnan,
    "isinf": np.isinf,
}


def load(tensor: torch.Tensor, t: str) -> Array:
    wide = tensor.to(torch.float32) if t in ("f16", "bf16") else tensor
    return wide.numpy()


def store(x: Array, t: str) -> torch.Tensor:
    return torch.from_numpy(np.array(x, dtype=HELD[t])).to(TORCH[t])
