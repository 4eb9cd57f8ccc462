"""Attention with scores and masks that a function gives, as its parts, which fuse to one kernel."""

from __future__ import annotations

from typing import Any

import torch

from ...torch_names import _permute_strides, math_attention


def attention_parts(query: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """The operator's results, made of products and sums."""
    out, *sums = math_attention(query, *args, **kwargs)
    if not query.is_contiguous():
        out = _permute_strides(out, query.stride())
    return out, *sums
