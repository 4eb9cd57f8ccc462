"""Attention with scores and masks that a function gives, as its parts, which fuse to one kernel."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

# The package has the operator under the module's name.
_flex = import_module("torch._higher_order_ops.flex_attention")


def attention_parts(query: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """The operator's results, made of products and sums."""
    out, *sums = _flex.math_attention(query, *args, **kwargs)
    if not query.is_contiguous():
        out = _flex._permute_strides(out, query.stride())
    return out, *sums
