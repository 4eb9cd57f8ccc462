"""Calls of test/emulator/unusual.qn and test/kernels/oddities.qn: everything but what is usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

F8 = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
DTYPES = {
    **F8, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u8": torch.uint8, "bool": torch.bool, "c64": torch.complex64, "c128": torch.complex128,
}  # fmt: skip


@dataclass
class Call:
    """Arguments in order, and what `T` is."""

    name: str
    arguments: list[Any]
    types: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        shapes = [x.shape for x in self.arguments if isinstance(x, torch.Tensor)]
        words = ["x".join(map(str, shape)) for shape in shapes]
        return "-".join([self.name, *self.types.values(), *words])


def real(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def whole(low: int, high: int, *shape: int) -> torch.Tensor:
    maker = torch.Generator().manual_seed(sum(shape))
    return torch.randint(low, high, shape, generator=maker)


def turned(*shape: int) -> torch.Tensor:
    """Complex numbers near the unit circle."""
    return torch.polar(1 + real(*shape).double() / 50, real(*shape, seed=1).double())


def rows() -> Iterator[Call]:
    for shape in ((3, 7), (2, 100), (1, 1030), (4, 0), (0, 5)):
        x = real(*shape)
        pair = [x.to(F8["f8e4m3"]), real(*shape, seed=1).to(F8["f8e5m2"])]
        yield Call("small_floats", pair)
        for t in ("f32", "bf16", "f16"):
            yield Call("quantised", [x.to(DTYPES[t])], {"T": t})
        yield Call("drawn", [x, 12345, 0.3])
        for t in ("f32", "f64", "bf16") if shape[1] else ():
            yield Call("of_scan", [x.to(DTYPES[t])], {"T": t})
        yield Call("bits_of", [x > 0.3, whole(-9, 9, *shape).to(torch.int8)])
        yield Call("three_ways", [x])
        for t in ("f32", "i8", "i64"):
            yield Call("best_two", [(20 * x).to(DTYPES[t])], {"T": t})
            yield Call("best_columns", [(20 * x).to(DTYPES[t])], {"T": t})
        yield Call("products_of_complex", [turned(*shape).to(torch.complex64)], {"T": "c64"})


def orders() -> Iterator[Call]:
    for shape, k in (((3, 7), 2), ((2, 100), 100), ((2, 300), 17)):
        for t in ("f32", "i8", "bf16", "bool"):
            x = (3 * real(*shape)).to(DTYPES[t])
            if t == "f32":
                x[0, shape[1] // 2] = float("nan")
            yield Call("first_few", [x, k], {"T": t})
    for v, n in ((5, 9), (70, 300), (3, 0)):
        for t in ("f32", "i16", "f64"):
            into, x = ((9 * real(m, seed=v)).to(DTYPES[t]) for m in (v, n))
            yield Call("scattered", [into, whole(0, v, n).int(), x, real(n) > 0], {"T": t})
    for t in ("f32", "u8"):
        for h, w, k, s, d in ((9, 11, 3, 2, 1), (20, 33, 2, 1, 3), (5, 5, 1, 1, 1)):
            yield Call("windowed", [(9 * real(2, h, w).abs()).to(DTYPES[t]), k, s, d], {"T": t})
    for t in ("f32", "i32"):
        for sizes in ((3, 5, 1), (40, 0, 33), (200, 90, 7)):
            parts = [(9 * real(2, n)).to(DTYPES[t]) for n in sizes]
            yield Call("joined_scans", parts, {"T": t})
    yield Call("read_of_scan", [whole(-9, 9, 3, 50), whole(0, 50, 3, 70)])
    for n in (1, 12, 70):
        yield Call("spectrum", [turned(n).to(torch.complex64)])
    yield Call("collatz", [torch.arange(256).to(torch.uint8)])
    words = whole(0, 1 << 31, 300).to(torch.uint32)
    yield Call("halves_and_words", [real(300).half(), real(300, seed=1).bfloat16(), words])


def threads() -> Iterator[Call]:
    for t in ("f8e4m3", "f8e5m2", "bf16"):
        x = real(100).to(DTYPES[t])
        yield Call("small_float_lanes", [x, real(4, 100).to(x.dtype), torch.zeros(100)], {"T": t})
    x = real(2900).double()
    yield Call("much_shared", [x, torch.zeros_like(x), torch.zeros(1).long()])
    for t, n in (("c64", 100), ("c128", 1)):
        z = turned(n).to(DTYPES[t])
        yield Call("complex_block", [z, torch.zeros(4, n, dtype=z.dtype)], {"T": t})
    ends = [torch.zeros(70), torch.zeros(70).int(), torch.zeros(13).to(torch.uint32)]
    yield Call("drawn_walk", [99, *ends])
    for blocks in (2, 0):
        yield Call("far_places", [whole(-9, 9, 100), whole(0, 1, 100), 4294967311, blocks])
    for r, c in ((3, 70), (1, 1), (2, 33)):
        zeros = [torch.zeros(2, r).long(), torch.zeros(2, r).double(), torch.zeros(r).bool()]
        yield Call("runs_of_rows", [real(r, c).half(), *zeros])
    for m, n, k in ((33, 20, 70), (16, 16, 16), (64, 48, 128)):
        a, b = real(m, k).bfloat16(), real(k, n).bfloat16()
        mask = torch.arange(-(-k // 16)) % 3 != 1
        yield Call("masked_tiles", [a, b, mask, torch.zeros(m, n)])


def lifted() -> list[Call]:
    return [*rows(), *orders()]


def explicit() -> list[Call]:
    return list(threads())
