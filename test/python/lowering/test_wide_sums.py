"""Sums of rows that an operand names: every way in which a row may end."""

from __future__ import annotations

import pytest
import quern
import torch

NAMED = """
rowwise named[T: Float](w: T[V, D], i: i64[K, N], share: acc(T)[K, N]) -> T[K, D]:
    return sum(w.at(V = i) * share over N)

rowwise counted[T: Float](w: T[V, D], i: i64[K, N]) -> (T[K, D], i64[K]):
    let n = sum(i64(1) over N where i > 2)
    return sum(w.at(V = i) over N where i > 2), n
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("width", [1, 17, 32, 48, 64, 100, 255, 256, 257, 336, 600])
def test_every_width(width: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    k = quern.compile(NAMED)
    w, i = torch.randn(9, width).to(dtype), torch.randint(0, 9, (5, 7))
    share = torch.rand(5, 7, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
    expected = (w.double()[i] * share.double()[..., None]).sum(1)
    got = torch.as_tensor(k.named(w, i, share)).double()
    torch.testing.assert_close(got, expected, atol=tolerance, rtol=tolerance)
    some, n = k.counted(w, i)
    kept = (i > 2).double()
    expected = (w.double()[i] * kept[..., None]).sum(1)
    got = torch.as_tensor(some).double()
    torch.testing.assert_close(got, expected, atol=tolerance, rtol=tolerance)
    assert torch.equal(torch.as_tensor(n), (i > 2).sum(1))
