"""Use f16, bf16, f32, f64, i8 to i64, u8, bool: the dtype is kept."""

from __future__ import annotations

import pytest
import torch

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_arithmetic(dtype: torch.dtype) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x + y) * x - y

    x, y = (torch.randint(0, 5, (4, 9)).to(dtype) for _ in range(2))
    result = torch.compile(f, backend="quern")(x, y)
    assert result.dtype == dtype
    torch.testing.assert_close(result, f(x, y))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(dtype: torch.dtype) -> None:
    x = torch.randn(5, 31).to(dtype)
    result = torch.compile(torch.softmax, backend="quern")(x, -1)
    assert result.dtype == dtype
    torch.testing.assert_close(result, torch.softmax(x, -1))


def test_bool() -> None:
    x, y = torch.randint(0, 2, (2, 50)).bool()
    f = torch.compile(lambda a, b: (a & ~b) | (a ^ b), backend="quern")
    assert torch.equal(f(x, y), (x & ~y) | (x ^ y))
