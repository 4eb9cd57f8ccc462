"""Values that random programs found wrong: limits, what waits for its turn, what is rounded."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch
from targets import runnable


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_portable_limits_of_roots_of_negative_numbers(dtype: torch.dtype) -> None:
    """LLVM leaves the NaN of a root as it is, which is a negative one, where another is chosen."""
    text = """
@portable
rowwise largest[T: Float](x: T[R, C]) -> T[R]:
    return max(sqrt(x) over C)

@portable
rowwise least[T: Float](x: T[R, C]) -> T[R]:
    return min(-sqrt(x) over C)
"""
    k, x = quern.compile(text), torch.rand(3, 70, dtype=dtype)
    x[1, 5] = -1
    for found, wanted in ((k.largest(x), x.sqrt().amax(1)), (k.least(x), (-x.sqrt()).amin(1))):
        assert torch.equal(found.isnan(), torch.tensor([False, True, False]))
        torch.testing.assert_close(found[::2], wanted[::2])


def test_values_that_wait_in_a_result_are_made_once() -> None:
    """Rows that were finished got their unfinished values again with every later row."""
    text = """
rowwise both(x: f32[C, A]) -> (i32[A], u16[C, A]):
    let v = i16(x) if any(x > 100 over A) else i16(x)
    return max(i32(v) over C), u16(f32(v))
"""
    x = torch.arange(-33, 33).float().reshape(3, 22)
    top, rest = quern.compile(text).both(x)
    assert torch.equal(top, x.amax(0).int())
    assert torch.equal(rest.int(), x.clamp(min=0).int())


def test_what_is_scattered_is_rounded_once() -> None:
    """A narrower result took every sum rounded, not the last one."""
    text = """
rowwise narrow(x: f32[R, C], i: i64[M], y: f32[M]) -> bf16[R, C]:
    return scatter(x, at = (C = i), y, with = sum)
"""
    x, y = 3 * torch.randn(9, 40), torch.randn(120)
    i = torch.randint(0, 40, (120,))
    wanted = x.index_add(1, i, y.expand(9, 120)).bfloat16()
    assert torch.equal(quern.compile(text).narrow(x, i, y), wanted)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", ""])
def test_the_last_rows_of_a_square(target: str) -> None:
    """Three rows are made as four, the last one twice: a square's four lines are not they."""
    text = """
rowwise picked(x: f32[B, A]) -> f32[B, A]:
    let i = i64(x)
    return x.at(A = max(min(i, size(A) - 1), 0), B = max(min(i, size(B) - 1), 0), outside = 0)
"""
    k = _quern.Session(cache="-", target=target).compile(text, "picked.qn")
    for rows in (4, 16):
        x = torch.randint(-1, 12, (rows, 11)).float()
        y = torch.empty(11, rows).T
        k.picked(x, out=y)
        i = x.long()
        assert torch.equal(y, x[i.clamp(0, rows - 1), i.clamp(0, 10)])


@pytest.mark.parametrize("target", [runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4")])
def test_bits_behind_a_product_of_short_numbers(target: str) -> None:
    """Of 16-bit factors LLVM 22 shifts the upper half by what is wanted behind it: no value."""
    text = """
elementwise signed(a: i8, b: i16) -> (i16, i16, i16):
    return i16(mulhi(i64(a), i64(b))), i16(mulhi(i32(a), i32(b))), i16((i64(a) * i64(b)) >> 40)

elementwise unsigned(a: u8, b: i64) -> (u16, u16):
    let p = i64(a) * (b & 65535)
    return u16(mulhi(u32(a), u32(b & 65535))), ~u16(p >> 33)
"""
    k = _quern.Session(cache="-", target=target).compile(text, "products.qn")
    a = torch.randint(-128, 128, (100,), dtype=torch.int8)
    b = torch.randint(-(2**15), 2**15, (100,), dtype=torch.int16)
    sign = torch.where(a.long() * b.long() < 0, -1, 0).short()
    assert all(torch.equal(found, sign) for found in k.signed(a, b))
    none, every = k.unsigned(a.view(torch.uint8), b.long())
    assert torch.equal(none.int(), torch.zeros(100).int())
    assert torch.equal(every.int(), torch.full((100,), 65535).int())


@pytest.mark.parametrize("target", [runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4")])
def test_a_sign_of_what_is_rounded_twice(target: str) -> None:
    """LLVM 22 rounds the number that a sign is taken of too: from 64 bits to 16 by a call."""
    text = """
@portable
rowwise angles(x: mut f16[*B, C, A]):
    x = f16(f32(atan2(sum(f64(j) over j: 0 .. 5), f64(x))))
"""
    k = _quern.Session(cache="-", target=target).compile(text, "angles.qn")
    x = torch.randn(17, 7).half()
    wanted = torch.atan2(torch.tensor(10.0).double(), x.double()).float().half()
    k.angles(x)
    assert torch.equal(x, wanted)
