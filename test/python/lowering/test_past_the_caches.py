"""Results larger than the last cache, stored past it where they are aligned: every element."""

from __future__ import annotations

import _quern
import pytest
import torch
from targets import runnable

SOURCE = """
elementwise scaled[T: Real](x: T, y: T) -> T:
    return x * y + x

rowwise shifted(x: f32[R, C], b: f32[C]) -> f32[R, C]:
    return x + b
"""
BYTES = 9 << 20  # the named targets' last cache has 8 MiB


@pytest.fixture(scope="module", params=[runnable(f"x86-64-v{n}") for n in (2, 3, 4)])
def module(request: pytest.FixtureRequest) -> _quern.Module:
    session = _quern.Session(cache="-", target=request.param, threads=2)
    return session.compile(SOURCE, "past.qn")


@pytest.mark.parametrize("rest", [0, 1, 13, 63])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int8])
def test_one_axis(module: _quern.Module, dtype: torch.dtype, rest: int) -> None:
    count = BYTES // dtype.itemsize + rest
    x = torch.randint(-9, 9, (count,)).to(dtype)
    y = torch.randint(-5, 5, (count,)).to(dtype)
    wanted = x * y + x
    assert torch.equal(module.scaled(x, y), wanted)
    shifted = torch.empty(count + 1, dtype=dtype)[1:]
    module.scaled(x, y, out=shifted)
    assert torch.equal(shifted, wanted)


@pytest.mark.parametrize("columns", [1 << 10, (1 << 10) + 16, 1031])
def test_rows(module: _quern.Module, columns: int) -> None:
    x = torch.randn(BYTES // 4 // columns + 1, columns)
    b = torch.randn(columns)
    assert torch.equal(module.shifted(x, b), x + b)
