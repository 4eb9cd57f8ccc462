"""Margins of labels in front of a first -1: torch's own parts count what stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_aten = torch.ops.aten
_NONE, _MEAN = 0, 1


def _classes(x: torch.Tensor) -> torch.Tensor:
    """A number alone is one class."""
    return x if x.dim() else x.reshape(1)


def _margins(x: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """For each row which class stands at a place, 0 where none does; what margin each
    other class has from it, else 0; and which classes stand at any place."""
    classes = x.shape[-1]
    places = torch.arange(classes, device=x.device)
    end = torch.where(target == -1, places, classes).amin(-1, keepdim=True)
    valid = places < end
    at = torch.where(valid, target, 0)
    labelled = ((at.unsqueeze(-1) == places) & valid.unsqueeze(-1)).any(-2)
    margins = 1 - x.gather(-1, at).unsqueeze(-1) + x.unsqueeze(-2)
    counts = valid.unsqueeze(-1) & ~labelled.unsqueeze(-2) & (margins > 0)
    return at, torch.where(counts, margins, 0), labelled


def _forward(x: torch.Tensor, target: torch.Tensor, reduction: int) -> Any:
    shape = x.shape
    x, target = _classes(x), _classes(target)
    _, margins, labelled = _margins(x, target)
    rows = margins.sum((-2, -1)) / x.shape[-1]
    if reduction != _NONE:
        rows = rows.mean() if reduction == _MEAN else rows.sum()
    return rows, labelled.to(x.dtype).reshape(shape)


def _backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    labelled: torch.Tensor,
) -> Any:
    shape = x.shape
    x, target = _classes(x), _classes(target)
    at, margins, _ = _margins(x, target)
    counts = (margins > 0).to(x.dtype)
    slope = counts.sum(-2).scatter_add(-1, at, -counts.sum(-1))
    rows = x.shape[0] if x.dim() == 2 and reduction == _MEAN else 1
    factor = gradient.unsqueeze(-1) if gradient.dim() else gradient
    return (slope * (factor / (x.shape[-1] * rows))).reshape(shape)


def loss_decompositions() -> dict[Any, Callable[..., Any]]:
    """Rows of the table."""
    return {
        _aten.multilabel_margin_loss_forward.default: _forward,
        _aten.multilabel_margin_loss_backward.default: _backward,
    }
