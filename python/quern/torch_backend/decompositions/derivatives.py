"""Derivatives of convolutions, which ATen computes one after the other in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...torch_names import statically_known_true

_aten = torch.ops.aten


def _backward(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor, *rest: Any) -> Any:
    """By the bias it is a sum that joins what is around it; ATen computes that by the
    weights, too, wherever it is asked for the bias's. And that by the weights comes first
    where they are smaller than the images: what it needs is released before the
    derivative by the image is there."""
    *sizes, wanted = rest
    by_image, by_weights, by_bias = wanted
    parts = by_image and by_weights and not _is_heavy(grad, x, w)
    if not (by_bias or parts):
        return NotImplemented

    def call(*masks: bool) -> Any:
        if not any(masks):
            return None, None, None
        return _aten.convolution_backward.default(grad, x, w, *sizes, [*masks, False])

    image, weights, _ = call(by_image and not parts, by_weights)
    if parts:
        image, _, _ = call(True, False)
    bias = grad.sum([0, *range(2, grad.dim())]) if by_bias else None
    return image, weights, bias


def _is_heavy(grad: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> bool:
    return not statically_known_true(w.numel() <= grad.numel() + x.numel())


def derivative_decompositions() -> dict[Any, Callable[..., Any]]:
    """For the operator that has all of them as its results."""
    return {_aten.convolution_backward.default: _backward}
