"""Norms of which the tracer's formulas say something else than ATen does.

Of 16-bit inputs with f32 parameters ATen keeps the statistics in f32: such norms are f32
throughout. Batch norms of inputs that lie in no memory format give contiguous results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...torch_names import is_channels_last_contiguous_or_false, is_contiguous_or_false

_aten = torch.ops.aten
_NARROW = (torch.bfloat16, torch.float16)

# Operator: where its input stands, and what else may have the input's type.
_NORMS: dict[Any, tuple[int, ...]] = {
    _aten.native_layer_norm.default: (0,),
    _aten.native_layer_norm_backward.default: (1, 0, 3, 4),
    _aten.native_group_norm.default: (0,),
    _aten.native_group_norm_backward.default: (1, 0, 2, 3),
    _aten._native_batch_norm_legit.default: (0,),
    _aten._native_batch_norm_legit.no_stats: (0,),
    _aten._native_batch_norm_legit_functional.default: (0,),
    _aten._native_batch_norm_legit_no_training.default: (0,),
    _aten.native_batch_norm.default: (0,),
    _aten.native_batch_norm_backward.default: (1, 0, 5, 6),
}


def _is_mixed(x: torch.Tensor, args: tuple[Any, ...]) -> bool:
    tensors = (each for each in args if isinstance(each, torch.Tensor))
    return x.dtype in _NARROW and any(each.dtype == torch.float32 for each in tensors)


def _is_permuted(op: Any, x: torch.Tensor) -> bool:
    is_batch = "batch_norm" in op.name()
    return is_batch and not (is_contiguous_or_false(x) or is_channels_last_contiguous_or_false(x))


def _mended(op: Any, places: tuple[int, ...], other: Any) -> Callable[..., Any]:
    def norm(*args: Any, **kwargs: Any) -> Any:
        x = args[places[0]]
        if _is_permuted(op, x):
            laid = list(args)
            laid[places[0]] = x.contiguous()
            return op(*laid, **kwargs)
        if not _is_mixed(x, args):
            return NotImplemented if other is None else other(*args, **kwargs)
        wide = list(args)
        for place in places:
            if args[place] is not None:
                wide[place] = args[place].to(torch.float32)
        first, *rest = op(*wide, **kwargs)
        return (None if first is None else first.to(x.dtype), *rest)

    return norm


def norm_decompositions(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """For every norm; what needs no mending goes on to its entry of `table`."""
    return {op: _mended(op, places, table.get(op)) for op, places in _NORMS.items()}
