"""The encoder layer that torch runs as one operator in inference, as its parts.

`torch.nn.TransformerEncoderLayer` calls it where no gradient is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

_aten = torch.ops.aten
_KEYS = 1  # The kind of a mask of keys, a row for each of the batch.


def _attention(
    x: torch.Tensor, heads: int, weights: list[torch.Tensor], mask: torch.Tensor | None
) -> torch.Tensor:
    batch, length, width = x.shape
    qkv = functional.linear(x, weights[0], weights[1])
    split = qkv.view(batch, length, 3, heads, width // heads)
    q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
    y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    if mask is not None:  # The operator's softmax is the plain one.
        y = torch.where(mask.any(-1, keepdim=True), y, torch.nan)
    together = y.transpose(1, 2).reshape(batch, length, width)
    return functional.linear(together, weights[2], weights[3])


def _allowed(mask: torch.Tensor | None, kind: int | None) -> torch.Tensor | None:
    """What may be looked at; the operator's mask says what may not."""
    if mask is None:
        return None
    allowed = ~mask.to(torch.bool)
    return allowed[:, None, None] if kind == _KEYS else allowed


def _layer(
    x: torch.Tensor,
    width: int,
    heads: int,
    *rest: Any,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> Any:
    attention, (use_gelu, norm_first, eps), tail = rest[:4], rest[4:7], list(rest[7:])
    (first, second), ffn = (tail[:2], tail[2:4]), tail[4:8]
    if len(tail) > 8:
        mask = tail[8]
    if len(tail) > 9:
        mask_type = tail[9]
    if x.is_nested or x.dim() != 3:
        return NotImplemented

    def norm(y: torch.Tensor, parameters: list[torch.Tensor]) -> torch.Tensor:
        weight, bias = parameters
        return functional.layer_norm(y, (width,), weight, bias, eps)

    def forward(y: torch.Tensor) -> torch.Tensor:
        hidden = functional.linear(y, ffn[0], ffn[1])
        active = functional.gelu(hidden) if use_gelu else functional.relu(hidden)
        return functional.linear(active, ffn[2], ffn[3])

    def attend(y: torch.Tensor) -> torch.Tensor:
        return _attention(y, heads, list(attention), _allowed(mask, mask_type))

    if norm_first:
        x = x + attend(norm(x, first))
        return x + forward(norm(x, second))
    x = norm(x + attend(x), first)
    return norm(x + forward(x), second)


def encoder_decompositions() -> dict[Any, Callable[..., Any]]:
    """For the one operator."""
    return {_aten._transformer_encoder_layer_fwd.default: _layer}
