"""Programs that the fuzzer found: where elements lie."""

from __future__ import annotations

import pytest
import quern
import torch


def test_one_element_for_all_places() -> None:
    text = """
rowwise picked(x: u32[N], i: i64[K]) -> u32[K]:
    return x.at(N = i, outside = u32(7))
"""
    i = torch.randint(-2, 12, (100,))
    x = torch.tensor([3], dtype=torch.uint32).expand(8)
    wanted = [3 if 0 <= place < 8 else 7 for place in i.tolist()]
    assert quern.compile(text).picked(x, i).tolist() == wanted


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_few_small_floats_at_places_that_memory_names(dtype: torch.dtype) -> None:
    text = """
rowwise picked[T: Float](x: T[N], i: i64[K]) -> T[K]:
    return x.at(N = i, outside = 2)
"""
    x = torch.randn(50).to(dtype)
    i = torch.randint(0, 1000, (300,))
    i[::7] %= 50
    wanted = [float(x[place]) if place < 50 else 2.0 for place in i.tolist()]
    assert quern.compile(text).picked(x, i).float().tolist() == wanted
