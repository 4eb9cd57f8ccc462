"""Tensors of one number that take only their type and place from another: they need not
wait for it, and whoever reads them computes the number instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def fill_decompositions() -> dict[Any, Callable[..., Any]]:
    """What a new tensor's type and place are named after is left out."""
    aten = torch.ops.aten
    return {
        aten.new_zeros.default: _like(aten.zeros.default),
        aten.new_ones.default: _like(aten.ones.default),
        aten.new_full.default: _like(aten.full.default),
    }


def _like(op: Any) -> Callable[..., Any]:
    def filled(
        x: torch.Tensor,
        size: Sequence[Any],
        *value: Any,
        dtype: torch.dtype | None = None,
        layout: torch.layout | None = None,
        device: torch.device | None = None,
        pin_memory: bool | None = None,
    ) -> Any:
        layout = x.layout if layout is None else layout
        if layout != torch.strided or pin_memory:
            return NotImplemented
        return op(
            size,
            *value,
            dtype=x.dtype if dtype is None else dtype,
            device=x.device if device is None else device,
        )

    return filled
