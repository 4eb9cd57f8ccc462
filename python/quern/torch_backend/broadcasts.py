"""Operators on tensors as if they had other axes, on views that have these axes.

The library's products and attention name every axis of what they add, and what moves or
finds elements names one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_aten = torch.ops.aten
_Other = Callable[..., Any] | None


def _otherwise(other: _Other, *args: Any, **kwargs: Any) -> Any:
    return NotImplemented if other is None else other(*args, **kwargs)


def _added(op: Any, other: _Other) -> Callable[..., Any]:
    """What is added to a product has the product's axes."""

    def add(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, **factors: Any) -> Any:
        result = _otherwise(other, c, a, b, **factors)
        shape = [*a.shape[:-1], *b.shape[a.dim() - 1 :]]
        if result is not NotImplemented or list(c.shape) == shape:
            return result
        return op(c.expand(shape), a, b, **factors)

    return add


def _masked(op: Any, query: int) -> Callable[..., Any]:
    """A mask has the axes of the products of queries and keys."""

    def attention(*args: Any, attn_mask: torch.Tensor | None = None, **rest: Any) -> Any:
        q, k = args[query : query + 2]
        shape = [*q.shape[:-1], k.shape[-2]]
        if attn_mask is None or list(attn_mask.shape) == shape:
            return NotImplemented
        return op(*args, attn_mask=attn_mask.expand(shape), **rest)

    return attention


def _rolled(x: torch.Tensor, shifts: Any, dims: Any = ()) -> Any:
    """Without an axis, elements move as if the tensor had one."""
    if dims:
        return NotImplemented
    return _aten.roll.default(x.reshape(-1), shifts, [0]).reshape(x.shape)


def _repeated(x: torch.Tensor, repeats: Any) -> Any:
    """As if it had an axis for each number."""
    missing = len(repeats) - x.dim()
    if missing <= 0:
        return NotImplemented
    return _aten.repeat.default(x.reshape([1] * missing + list(x.shape)), repeats)


def _of_all(op: Any) -> Callable[..., Any]:
    """The place of an extremum without an axis is that in one axis of all elements."""

    def place(x: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        if dim is not None or x.dim() == 0:
            return NotImplemented
        found = op(x.reshape(-1), 0)
        return found.reshape([1] * x.dim()) if keepdim else found

    return place


def broadcast_decompositions(
    table: dict[Any, Callable[..., Any]],
) -> dict[Any, Callable[..., Any]]:
    """For such operators; what has all axes goes on to its entry of `table`."""
    products = (_aten.addmm, _aten.baddbmm, _aten.addmv)
    result = {op.default: _added(op.default, table.get(op.default)) for op in products}
    forward = _aten._scaled_dot_product_flash_attention_for_cpu.default
    backward = _aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    result[forward] = _masked(forward, 0)
    result[backward] = _masked(backward, 1)
    result[_aten.roll.default] = _rolled
    result[_aten.repeat.default] = _repeated
    for op in (_aten.argmax.default, _aten.argmin.default):
        result[op] = _of_all(op)
    return result
