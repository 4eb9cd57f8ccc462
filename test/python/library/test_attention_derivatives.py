"""Derivatives of attention, whose heads go part by part, against float64 through ATen."""

from __future__ import annotations

import pytest
import quern
import torch
from tree import ROOT

KERNELS = quern.load(ROOT / "stdlib-kernels" / "attention.qn")
FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
#: Batches, heads, queries, keys: all at once, some batches, one batch, some heads, one head.
SIZES = [(2, 3, 5, 7), (40, 3, 60, 60), (2, 3, 200, 200), (2, 5, 260, 200), (1, 2, 400, 400)]


@pytest.mark.parametrize("kind", ["plain", "masked", "causal"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_parts(size: tuple[int, int, int, int], kind: str) -> None:
    batches, heads, queries, keys = size
    q, grad = torch.randn(2, batches, queries, heads, 8).transpose(2, 3)
    k, v = torch.randn(2, batches, heads, keys, 8)
    mask = torch.randn(batches, heads, queries, keys) if kind == "masked" else None
    causal = kind == "causal"
    wide = [x.double() for x in (grad, q, k, v)]
    wide_mask = None if mask is None else mask.double()
    out, sums = FORWARD(*wide[1:], 0.0, causal, attn_mask=wide_mask)
    expected = BACKWARD(*wide, out, sums, 0.0, causal, attn_mask=wide_mask)
    given = (grad, q, k, v, out.float(), sums.float())
    if causal:
        found = KERNELS.attention_causal_backward(*given)
    else:
        found = KERNELS.attention_backward(*given, mask)
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x.double(), y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4)], ids=str)
def test_nothing(size: tuple[int, int, int, int]) -> None:
    """No query leaves derivatives of keys and values that are 0."""
    batches, heads, queries, keys = size
    q = torch.ones(batches, heads, queries, 8)
    k = torch.ones(batches, heads, keys, 8)
    dq, dk, dv = KERNELS.attention_backward(q, q, k, k, q, q[..., 0], None)
    assert (dq.shape, dk.shape, dv.shape) == (q.shape, k.shape, k.shape)
    assert not dk.any()
    assert not dv.any()
