"""Derivatives of mirrored borders of rows, against eager."""

from __future__ import annotations

import pytest
import torch
from aten_types import module

BACKWARD = torch.ops.aten.reflection_pad1d_backward.default
PADDINGS = ((1, 2), (3, 3), (0, 0), (0, 3), (3, 0), (-1, 2), (2, -2), (-1, -1))


def kernel(*given: object, **named: object) -> torch.Tensor:
    result: torch.Tensor = module("padding_backward.qn").pad_reflect1d_backward(*given, **named)
    return result


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("width", [4, 5, 33, 130])
def test_rows(dtype: torch.dtype, padding: tuple[int, int], width: int) -> None:
    """Both images of short rows meet."""
    x = torch.randn(3, 7, width).to(dtype)
    grad = torch.randn(3, 7, width + sum(padding)).to(dtype)
    grad.view(-1)[::41] = float("nan")
    grad.view(-1)[5::37] = float("inf")
    wide = BACKWARD(grad.double(), x.double(), padding)
    bound = 2e-2 if dtype.itemsize == 2 else 1e-6
    for own, out in ((grad, x), (grad.mT.contiguous().mT, x.mT.contiguous().mT)):
        got = torch.empty_like(out)
        kernel(own, x, *padding, out=got)
        torch.testing.assert_close(got.double(), wide, rtol=bound, atol=bound, equal_nan=True)


def test_without_rows() -> None:
    assert kernel(torch.randn(0, 3, 9), torch.randn(0, 3, 6), 1, 2).shape == (0, 3, 6)
