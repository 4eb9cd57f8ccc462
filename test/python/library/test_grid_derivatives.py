"""Derivatives of samples at the places of a grid, in every mode and layout, against eager."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from aten_types import module

MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
BACKWARD = torch.ops.aten.grid_sampler_2d_backward.default
SHAPES = (
    (2, 3, 5, 7, 4, 6),
    (1, 20, 9, 3, 2, 17),
    (3, 1, 1, 1, 1, 1),
    (0, 3, 5, 7, 4, 6),
    (2, 0, 5, 7, 4, 6),
    (2, 3, 5, 7, 0, 6),
)
LAYOUTS = {
    "rows": lambda x: x,
    "channels": lambda x: x.to(memory_format=torch.channels_last),
    "turned": lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
    "gaps": lambda x: torch.stack([x, x], -1)[..., 1],
}


def kernel(mode: str) -> Any:
    file = "grid_sampler_cubic.qn" if mode == "bicubic" else "grid_sampler_backward.qn"
    return getattr(module(file), f"grid_{mode}_backward")


def given(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Gradient, image, and a grid of which some places are outside."""
    n, c, h, w, p, q = shape
    grid = torch.rand(n, p, q, 2, dtype=torch.float64) * 2.6 - 1.3
    return tuple(
        x.to(dtype) for x in (torch.randn(n, c, p, q), torch.randn(n, c, h, w), grid)
    )  # fmt: skip


def compare(mode: str, padding: int, aligned: bool, tensors: tuple[torch.Tensor, ...]) -> None:
    ours = kernel(mode)(*tensors, padding, aligned, output_mask="11")
    theirs = BACKWARD(*tensors, MODES[mode], padding, aligned, [True, True])
    for one, other in zip(ours, theirs, strict=True):
        bound = 1e-9 if other.dtype == torch.float64 else 1e-4
        torch.testing.assert_close(one, other, rtol=bound, atol=bound, equal_nan=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_shapes(mode: str, padding: int, aligned: bool) -> None:
    for shape in SHAPES:
        # Eager refuses images without elements, and looks at nothing without places.
        if 0 not in shape[1:]:
            compare(mode, padding, aligned, given(shape, torch.float64))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES[3:])
def test_without_elements(mode: str, shape: tuple[int, ...]) -> None:
    dx, moved = kernel(mode)(*given(shape, torch.float32), 0, False, output_mask="11")
    assert (dx == 0).all()
    assert (moved == 0).all()
    assert dx.shape == shape[:4]


@pytest.mark.parametrize("mode", MODES)
def test_layouts(mode: str) -> None:
    grad, x, grid = given(SHAPES[0], torch.float32)
    for of_grad, of_x in itertools.product(LAYOUTS.values(), repeat=2):
        compare(mode, 1, False, (of_grad(grad), of_x(x), grid))
    compare(mode, 2, True, (grad, x, LAYOUTS["turned"](grid)))


@pytest.mark.parametrize("mode", MODES)
def test_values_outside_of_numbers(mode: str) -> None:
    """What lies outside of the image gives nothing, whatever its gradient is."""
    grad, x, grid = given(SHAPES[0], torch.float32)
    grad.view(-1)[::7] = float("nan")
    grad.view(-1)[3::11] = float("inf")
    grid[0, 0, :, 0] = 5.0
    compare(mode, 0, False, (grad, x, grid))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mask", ["10", "01"])
def test_one_of_both(mode: str, mask: str) -> None:
    tensors = given(SHAPES[1], torch.float32)
    got = kernel(mode)(*tensors, 0, False, output_mask=mask)
    got = next(x for x in (got if isinstance(got, (tuple, list)) else [got]) if x is not None)
    whole = BACKWARD(*tensors, MODES[mode], 0, False, [True, True])[mask.index("1")]
    torch.testing.assert_close(got, whole, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_floats(mode: str, dtype: torch.dtype) -> None:
    """Sums are wide and rounded once."""
    tensors = given(SHAPES[1], dtype)
    wide = BACKWARD(*(x.double() for x in tensors), MODES[mode], 0, False, [True, True])
    for one, other in zip(kernel(mode)(*tensors, 0, False, output_mask="11"), wide, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), other, rtol=2e-2, atol=2e-1)


@pytest.mark.parametrize("mode", ["trilinear", "nearest3d"])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_volumes(mode: str, padding: int, aligned: bool) -> None:
    function = getattr(module("grid_sampler_3d.qn"), f"grid_{mode}_backward")
    for n, c, d, h, w, o, p, q in ((2, 3, 4, 5, 7, 3, 4, 6), (1, 18, 1, 3, 2, 2, 1, 17)):
        grad, x = torch.randn(n, c, o, p, q), torch.randn(n, c, d, h, w)
        grid = torch.rand(n, o, p, q, 3) * 2.6 - 1.3
        grad.view(-1)[::9] = float("nan")
        for one in (x, x.to(memory_format=torch.channels_last_3d), x.mT.contiguous().mT):
            ours = function(grad, one, grid, padding, aligned, output_mask="11")
            theirs = torch.ops.aten.grid_sampler_3d_backward(
                grad, one, grid, int(mode == "nearest3d"), padding, aligned, [True, True]
            )
            for got, wanted in zip(ours, theirs, strict=True):
                torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4, equal_nan=True)
    grad, x, grid = (
        torch.randn(2, 3, 0, 4, 5),
        torch.randn(2, 3, 4, 5, 6),
        torch.rand(2, 0, 4, 5, 3),
    )
    dx, moved = function(grad, x, grid, padding, aligned, output_mask="11")
    assert (dx == 0).all()
    assert moved.shape == grid.shape
