"""Types of PTX and the constants that several modules share."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

#: A NumPy array. Its element type changes with every instruction.
Array = Any
GLOBAL, SHARED, LOCAL, PARAM = (
    0x7000_0000_0000,
    0x0100_0000_0000,
    0x0200_0000_0000,
    0x0300_0000_0000,
)
WINDOWS = {"shared": SHARED, "local": LOCAL, "param": PARAM, "const": 0, "global": 0}
UINT = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
SINT = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}
RUN, WAIT, EXIT, MEET = 0, 1, 2, 3
FENCES = {
    "membar",
    "fence",
    "nanosleep",
    "prefetch",
    "prefetchu",
    "pragma",
    "discard",
    "applypriority",
    "griddepcontrol",
    "setmaxnreg",
    "brkpt",
    "pmevent",
}


class PtxError(RuntimeError):
    """What is wrong with a text, or with what it does."""


class Type:
    """A type of PTX and the NumPy type that carries it."""

    def __init__(self, name: str):
        self.name, self.kind = name, "bf" if name.startswith("bf") else name[0]
        self.packed = name.endswith("x2")
        self.bits = (
            1 if name == "pred" else int(re.search(r"\d+", name)[0]) * (2 if self.packed else 1)
        )
        self.float = self.kind in ("f", "bf") or name == "tf32"
        if name == "pred":
            self.np = np.bool_
        elif self.kind == "f" and not self.packed:
            self.np = FLOAT[self.bits]
        elif name == "tf32":
            self.np, self.bits = np.uint32, 32
        else:
            self.np = (SINT if self.kind == "s" else UINT).get(self.bits)


TYPES = {
    n: Type(n)
    for n in [
        "pred",
        "b8",
        "u8",
        "s8",
        "b16",
        "u16",
        "s16",
        "b32",
        "u32",
        "s32",
        "b64",
        "u64",
        "s64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "f16x2",
        "bf16x2",
        "tf32",
        "u16x2",
        "s16x2",
        "f32x2",
        "b128",
    ]
}
KNOWN = frozenset(
    [
        "rn",
        "rz",
        "rm",
        "rp",
        "rna",
        "rni",
        "rzi",
        "rmi",
        "rpi",
        "ftz",
        "sat",
        "relu",
        "NaN",
        "approx",
        "full",
        "lo",
        "hi",
        "wide",
        "cc",
        "and",
        "or",
        "xor",
        "popc",
        "min",
        "max",
        "add",
        "inc",
        "dec",
        "exch",
        "cas",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "ls",
        "hs",
        "equ",
        "neu",
        "ltu",
        "leu",
        "gtu",
        "geu",
        "num",
        "nan",
        "global",
        "shared",
        "local",
        "const",
        "param",
        "cta",
        "cluster",
        "gpu",
        "sys",
        "relaxed",
        "acquire",
        "release",
        "acq_rel",
        "volatile",
        "weak",
        "sc",
        "nc",
        "ca",
        "cg",
        "cs",
        "lu",
        "cv",
        "wb",
        "wt",
        "L1",
        "L2",
        "64B",
        "128B",
        "256B",
        "evict_first",
        "evict_last",
        "evict_normal",
        "evict_unchanged",
        "no_allocate",
        "L2_cache_hint",
        "v2",
        "v4",
        "v8",
        "uni",
        "up",
        "down",
        "bfly",
        "idx",
        "sync",
        "warp",
        "aligned",
        "all",
        "any",
        "ballot",
        "uni",
        "red",
        "arrive",
        "wait",
        "trans",
        "x1",
        "x2",
        "x4",
        "m8n8",
        "row",
        "col",
        "async",
        "commit_group",
        "wait_group",
        "wait_all",
        "to",
        "shiftamt",
        "clamp",
        "wrap",
        "l",
        "r",
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
        "bulk",
        "tensormap",
        "proxy",
        "alias",
        "noftz",
        "xorsign",
        "abs",
        "entry",
        "mma_async",
        "unpredicated",
        "satfinite",
    ]
)
KNOWN_SHAPE = re.compile(r"m\d+n\d+k\d+$")


def is_known(modifier: str) -> bool:
    """Whether a modifier means something here, or nothing anywhere."""
    return modifier in KNOWN


B16, B32, B64, U32, PRED, F32, F64 = (
    TYPES[n] for n in ("b16", "b32", "b64", "u32", "pred", "f32", "f64")
)
