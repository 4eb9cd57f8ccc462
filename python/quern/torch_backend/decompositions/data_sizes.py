"""Operators whose results have sizes, or are numbers, that depend on data."""

from __future__ import annotations

import torch

_aten = torch.ops.aten

#: Those that torch tags so and that a traced graph may hold.
DATA_SIZES = (
    _aten._local_scalar_dense.default,
    _aten._unique.default,
    _aten._unique2.default,
    _aten.argwhere.default,
    _aten.bincount.default,
    _aten.index.Tensor,
    _aten.item.default,
    _aten.masked_select.default,
    _aten.nonzero.default,
    _aten.one_hot.default,
    _aten.repeat_interleave.Tensor,
    _aten.unique_consecutive.default,
    _aten.unique_dim.default,
    _aten.unique_dim_consecutive.default,
)
