"""Parts of unequal lengths as reads by place: what is padded, taken out of padding, repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...torch_names import statically_known_true

_aten = torch.ops.aten


def _padded(
    values: torch.Tensor, offsets: Sequence[torch.Tensor], lengths: Sequence[Any], fill: float = 0.0
) -> Any:
    """`values[offsets[b] + i]` at `[b, i]` where that is before `offsets[b + 1]`."""
    if len(offsets) != 1 or values.dim() < 2 or statically_known_true(values.shape[0] == 0):
        return NotImplemented
    first, end = offsets[0][:-1, None], offsets[0][1:, None]
    place = first + torch.arange(lengths[0], dtype=first.dtype, device=first.device)
    inside = place < end
    read = _aten.index.Tensor(values, [torch.where(inside, place, 0)])
    return torch.where(inside.reshape([*inside.shape, *[1] * (values.dim() - 1)]), read, fill)


def _unpadded(padded: torch.Tensor, offsets: Sequence[torch.Tensor], total: Any = None) -> Any:
    """The converse; a part longer than the padding is an index out of range."""
    if len(offsets) != 1 or total is None or statically_known_true(padded.numel() == 0):
        return NotImplemented
    place = torch.arange(total, dtype=offsets[0].dtype, device=padded.device)
    row = torch.searchsorted(offsets[0][1:], place, right=True)
    column = place - _aten.index.Tensor(offsets[0], [row])
    return _aten.index.Tensor(padded, [row, column])


def _repeated(repeats: torch.Tensor, *, output_size: Any = None) -> Any:
    """The places of elements that are repeated so often, where the sum is known."""
    if output_size is None or repeats.dtype not in (torch.int32, torch.int64):
        return NotImplemented
    ends = repeats.cumsum(0)
    fits = (ends[-1:].sum() == output_size) & (repeats >= 0).all()
    _aten._assert_async.msg(fits, "`repeats` must not be negative and sum to `output_size`")
    place = torch.arange(output_size, device=repeats.device)
    return torch.searchsorted(ends, place, right=True).to(repeats.dtype)


def ragged_decompositions() -> dict[Any, Callable[..., Any]]:
    """For operators between a tensor and its parts of unequal lengths."""
    return {
        _aten._jagged_to_padded_dense_forward.default: _padded,
        _aten._padded_dense_to_jagged_forward.default: _unpadded,
        _aten.repeat_interleave.Tensor: _repeated,
    }
