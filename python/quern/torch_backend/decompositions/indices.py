"""Lists of indices brought into the form that kernels take: one shape, one type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...torch_names import (
    compute_elementwise_output_logical_to_physical_perm,
    statically_known_true,
)

_aten = torch.ops.aten
_Indices = Sequence[torch.Tensor | None]

# What is traced as row-major, or like its operand, and lies otherwise in eager.
TRACED_OTHERWISE = frozenset(
    {
        torch.ops.aten.index.Tensor,
        torch.ops.aten.isin.Tensor_Tensor,
        torch.ops.aten.max_unpool2d.default,
    }
)


def _shape(given: Sequence[torch.Tensor]) -> torch.Size:
    size: torch.Size = torch.broadcast_shapes(*(i.shape for i in given))  # type: ignore[no-untyped-call]
    return size


def _plain(indices: _Indices) -> list[torch.Tensor | None] | None:
    """The indices as int64 of one shape; nothing where they are so already, or
    where masks are among them, whose number of elements nobody knows."""
    given = [index for index in indices if index is not None]
    if any(index.dtype in (torch.bool, torch.uint8) for index in given):
        return None
    shape = _shape(given)
    if all(index.shape == shape and index.dtype == torch.int64 for index in given):
        return None
    return [index if index is None else index.to(torch.int64).expand(shape) for index in indices]


def _place(indices: _Indices) -> int:
    """Where the axes of the indices stand in what is read."""
    axes = [d for d, index in enumerate(indices) if index is not None]
    return axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0


def _shape_read(x: torch.Tensor, indices: _Indices) -> list[Any]:
    given = [index for index in indices if index is not None]
    rest = [n for d, n in enumerate(x.shape) if d >= len(indices) or indices[d] is None]
    place = _place(indices)
    return [*rest[:place], *_shape(given), *rest[place:]]


def _read(op: Any) -> Callable[..., Any]:
    def index(x: torch.Tensor, indices: _Indices) -> Any:
        plain = _plain(indices)
        return NotImplemented if plain is None else op(x, plain)

    return index


def _written(op: Any) -> Callable[..., Any]:
    def index_put(
        x: torch.Tensor, indices: _Indices, values: torch.Tensor, accumulate: bool = False
    ) -> Any:
        if _is_mask(indices) and statically_known_true(values.numel() == 1):
            return _masked(x, indices[0], values, accumulate)
        if any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in indices):
            return NotImplemented
        plain = _plain(indices)
        shape = _shape_read(x, indices)
        if plain is None and list(values.shape) == shape:
            return NotImplemented
        return op(x, plain or indices, values.expand(shape), accumulate)

    return index_put


def _is_mask(indices: _Indices) -> bool:
    return len(indices) == 1 and indices[0] is not None and indices[0].dtype == torch.bool


def _masked(x: torch.Tensor, mask: Any, value: torch.Tensor, accumulate: bool) -> torch.Tensor:
    """One value at every place of a mask of the first axes: places need no list.
    The result lies as the tensor does, however the mask lies."""
    order, _ = compute_elementwise_output_logical_to_physical_perm(x)
    mask = mask.reshape([*mask.shape, *[1] * (x.dim() - mask.dim())])
    mask, x = mask.permute(order).contiguous(), x.permute(order)
    value = value.reshape([])
    result = torch.where(mask, x + value if accumulate else value, x)
    return result.permute([order.index(d) for d in range(x.dim())])


def _behind_mask(op: Any) -> Callable[..., Any]:
    """Reads and additions where a mask of the indices' shape holds."""

    def masked(x: torch.Tensor, mask: torch.Tensor, indices: _Indices, other: Any) -> Any:
        plain = _plain(indices)
        if plain is None:
            return NotImplemented
        if isinstance(other, torch.Tensor):
            other = other.expand(_shape_read(x, indices))
        return op(x, mask, plain, other)

    return masked


def _by_one(op: Any) -> Callable[..., Any]:
    """A 0-d index is one of one element."""

    def indexed(
        x: torch.Tensor, dim: int, index: torch.Tensor, *rest: torch.Tensor, **others: Any
    ) -> Any:
        if index.dim() or not x.dim():
            return NotImplemented
        sources = (s if s.dim() else s.reshape(1) for s in rest)
        return op(x, dim, index.reshape(1), *sources, **others)

    return indexed


def _taken(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Elements as if the tensor had one axis."""
    result: torch.Tensor = _aten.index.Tensor(x.reshape(-1), [index])
    return result


def _put(
    x: torch.Tensor, index: torch.Tensor, source: torch.Tensor, accumulate: bool = False
) -> Any:
    if not x.is_contiguous():
        return NotImplemented
    flat = (x.reshape(-1), [index.reshape(-1)], source.reshape(-1))
    return _aten.index_put(*flat, accumulate).reshape(x.shape)


def _one_written(
    x: torch.Tensor,
    src: torch.Tensor,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: Any = 1,
) -> Any:
    """A slice of one position has no axis to go along."""
    first = 0 if start is None else start
    if not statically_known_true(src.shape[dim] == 1) or not statically_known_true(first >= 0):
        return NotImplemented
    if statically_known_true(x.shape[dim] == 1):
        return NotImplemented
    return _aten.select_scatter.default(x, src.squeeze(dim), dim, first)


def index_decompositions() -> dict[Any, Callable[..., Any]]:
    """For every operator that takes a list of indices."""
    table: dict[Any, Callable[..., Any]] = {}
    for op in (_aten.index.Tensor, _aten._unsafe_index.Tensor):
        table[op] = _read(op)
    for op in (_aten.index_put.default, _aten._unsafe_index_put.default):
        table[op] = _written(op)
    for op in (
        _aten._unsafe_masked_index.default,
        _aten._unsafe_masked_index_put_accumulate.default,
    ):
        table[op] = _behind_mask(op)
    for op in (_aten.index_select.default, _aten.index_add.default, _aten.index_copy.default):
        table[op] = _by_one(op)
    table[_aten.slice_scatter.default] = _one_written
    table[_aten.take.default] = _taken
    table[_aten.put.default] = _put
    return table
