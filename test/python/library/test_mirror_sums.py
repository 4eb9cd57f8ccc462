"""Derivatives of mirrored borders of one to three axes, against eager."""

from __future__ import annotations

import pytest
import torch
from aten_types import module

BACKWARD = torch.ops.aten.reflection_pad1d_backward.default
OF_SEVERAL = {
    2: (torch.ops.aten.reflection_pad2d_backward.default, "pad_reflect2d_backward"),
    3: (torch.ops.aten.reflection_pad3d_backward.default, "pad_reflect3d_backward"),
}
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    "padding", [(1, 2, 3, 1, 2, 3), (0, 3, 0, 0, 3, 0), (-1, 2, 1, -1, -1, -1)]
)
@pytest.mark.parametrize("shape", [(4, 5, 6), (5, 4, 33), (34, 40)])
def test_several_axes(dtype: torch.dtype, padding: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Short rows are turned, long ones copied; corners have images of both axes."""
    borders = padding[: 2 * len(shape)]
    ends = [sum(borders[i : i + 2]) for i in range(0, len(borders), 2)][::-1]
    x = torch.randn(2, 3, *shape).to(dtype)
    grad = torch.randn(2, 3, *(a + b for a, b in zip(shape, ends, strict=True))).to(dtype)
    eager, name = OF_SEVERAL[len(shape)]
    wide = eager(grad.double(), x.double(), borders)
    bound = 2e-2 if dtype.itemsize == 2 else 1e-6
    memory = torch.channels_last if len(shape) == 2 else torch.channels_last_3d
    for layout in (torch.contiguous_format, memory):
        out = torch.empty_like(x.contiguous(memory_format=layout))
        function = getattr(module("padding_backward.qn"), name)
        function(grad.contiguous(memory_format=layout), x, *borders, out=out)
        torch.testing.assert_close(out.double(), wide, rtol=bound, atol=bound)
