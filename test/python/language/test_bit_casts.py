"""`bitcast` between all types of equal width, against the bytes that the elements lie in."""

from __future__ import annotations

from itertools import product

import _quern
import pytest
import torch

WIDTHS = {
    8: {
        "i8": torch.int8,
        "u8": torch.uint8,
        "f8e4m3": torch.float8_e4m3fn,
        "f8e5m2": torch.float8_e5m2,
    },
    16: {"i16": torch.int16, "u16": torch.uint16, "f16": torch.float16, "bf16": torch.bfloat16},
    32: {"i32": torch.int32, "u32": torch.uint32, "f32": torch.float32},
    64: {"i64": torch.int64, "u64": torch.uint64, "f64": torch.float64, "c64": torch.complex64},
    128: {"c128": torch.complex128},
}
PAIRS = [(width, *pair) for width, types in WIDTHS.items() for pair in product(types, types)]


def bytes_without_nan(width: int) -> torch.Tensor:
    """Elements of `width` bits that are no NaN in any type: no exponent is all ones."""
    draw = torch.Generator().manual_seed(width)
    made = torch.randint(0, 256, (70, width // 8), dtype=torch.uint8, generator=draw)
    return made & 0xBB


@pytest.mark.parametrize(("width", "one", "other"), PAIRS)
@pytest.mark.parametrize("target", ["x86-64-v2", ""])
def test_every_pair(width: int, one: str, other: str, target: str) -> None:
    text = f"elementwise f(x: {one}) -> {other}:\n    return bitcast[{other}](x)\n"
    text += f"rowwise g(x: {one}[A, B]) -> {other}[B, A]:\n    return bitcast[{other}](x)\n"
    module = _quern.Session(cache="-", target=target, threads=1).compile(text, "bits.qn")
    raw = bytes_without_nan(width)
    x = raw.view(WIDTHS[width][one]).reshape(70)
    assert torch.equal(module.f(x).view(torch.uint8).reshape(raw.shape), raw)
    turned = module.g(x.reshape(2, 35)).T.contiguous().view(torch.uint8)
    assert torch.equal(turned.reshape(raw.shape), raw)


def test_types_that_parameters_stand_for() -> None:
    text = "fn other[T: Any, U: Any](x: U) -> T:\n    return bitcast[T](x)\n"
    text += "elementwise f[T: Any, U: Any](x: U) -> T:\n    return bitcast[T](x)\n"
    module = _quern.Session(cache="-").compile(text, "bits.qn")
    assert torch.equal(module.f(torch.ones(3), T="i32"), torch.full((3,), 0x3F800000))
    with pytest.raises(_quern.Error, match="QN"):
        module.f(torch.ones(3), T="i64")
