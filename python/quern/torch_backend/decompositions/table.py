"""Which operators AOTAutograd takes apart before the graph reaches us."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ...torch_names import (
    OpOverload,
    _core_aten_decompositions_post_autograd,
    get_decompositions,
    statically_known_true,
)
from ..overloads import full_name
from .bags import bag_decompositions
from .derivatives import derivative_decompositions
from .encoder import encoder_decompositions
from .fills import fill_decompositions
from .foreach import foreach_decompositions
from .indices import index_decompositions
from .losses import loss_decompositions
from .norms import norm_decompositions
from .ragged import ragged_decompositions

# Operators of the core table that ATen runs as one kernel faster than as
# their parts, and whose parts gain nothing from fusion.
_WHOLE = (
    "_scaled_dot_product_flash_attention_for_cpu",
    "baddbmm",
    "col2im",
    "im2col",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "embedding_dense_backward",
    "native_batch_norm_backward",
    "native_group_norm_backward",
    "native_layer_norm_backward",
    "nll_loss2d_backward",
    "nll_loss2d_forward",
    "nll_loss_backward",
    "nll_loss_forward",
    "mv",
    "dot",
    "grid_sampler_2d",
    "cumprod_backward",
    "unfold_backward",
    "isin",
    "linspace",
    "roll",
    "triu",
    "tril",
    "_weight_norm_interface",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "reflection_pad1d_backward",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
    "bernoulli",
    "max_unpool2d",
    "nan_to_num",
)


# Operators that are better as their parts, which fuse with their neighbours, even
# where the library has a row for the whole.
_APART = (
    torch.ops.aten._native_batch_norm_legit.default,
    torch.ops.aten._native_batch_norm_legit_no_training.default,
    torch.ops.aten.slice_backward.default,
)


# Operators outside of the core table that are only their parts: a view and a copy of
# it, or another overload of what the library has.
_PARTS = (
    torch.ops.aten.as_strided_copy.default,
    torch.ops.aten.bitwise_and.Scalar_Tensor,
    torch.ops.aten.bitwise_left_shift.Scalar_Tensor,
    torch.ops.aten.bitwise_or.Scalar_Tensor,
    torch.ops.aten.bitwise_right_shift.Scalar_Tensor,
    torch.ops.aten.bitwise_xor.Scalar_Tensor,
    torch.ops.aten.cudnn_batch_norm.default,
    torch.ops.aten.cudnn_batch_norm_backward.default,
    torch.ops.aten.dist.default,
    torch.ops.aten.isin.Scalar_Tensor,
    torch.ops.aten.isin.Tensor_Scalar,
    torch.ops.aten.linspace.Scalar_Tensor,
    torch.ops.aten.linspace.Tensor_Scalar,
    torch.ops.aten.linspace.Tensor_Tensor,
    torch.ops.aten.logspace.Scalar_Tensor,
    torch.ops.aten.logspace.Tensor_Scalar,
    torch.ops.aten.logspace.Tensor_Tensor,
    torch.ops.aten.narrow_copy.default,
    torch.ops.aten.permute_copy.default,
    torch.ops.aten.remainder.Scalar_Tensor,
    torch.ops.aten.special_zeta.other_scalar,
    torch.ops.aten.special_zeta.self_scalar,
    torch.ops.aten.tril_indices.default,
    torch.ops.aten.triu_indices.default,
    torch.ops.aten.unbind_copy.int,
    torch.ops.aten.view_copy.default,
)


# Views of ATen's that are copies to us: kernels read numbers, not how they are marked.
_MARKS = (
    torch.ops.aten._conj.default,
    torch.ops.aten._neg_view.default,
    torch.ops.aten.view_as_complex.default,
    torch.ops.aten.view_as_real.default,
)


@functools.lru_cache(maxsize=8)
def _table(kept: frozenset[str]) -> dict[Any, Callable[..., Any]]:
    whole = ({f"aten::{name}" for name in _WHOLE} | kept) - set(map(full_name, _APART))
    # The public table asks every namespace for its composite operators (0.1 s), which
    # torch takes apart by itself before or without a table.
    core: dict[Any, Callable[..., Any]] = dict(_core_aten_decompositions_post_autograd())
    core |= get_decompositions(_APART)
    table = {
        op: function
        for op, function in core.items()
        if isinstance(op, OpOverload)
        and op.namespace == "aten"
        and op._schema.name not in whole
        and full_name(op) not in whole
    }
    table |= {
        op: function
        for op, function in get_decompositions(_PARTS).items()
        if isinstance(op, OpOverload) and full_name(op) not in kept
    }
    if "aten::mm" in kept:
        table[torch.ops.aten.addmm.default] = _product_and_bias
    table[torch.ops.aten.repeat.default] = _repeated
    table[torch.ops.aten._to_copy.default] = _number_copied
    for op in _MARKS:
        table[op] = _once(op)
    table |= bag_decompositions()
    table |= derivative_decompositions()
    table |= fill_decompositions()
    table |= norm_decompositions(table)
    table |= encoder_decompositions()
    table |= loss_decompositions()
    table |= ragged_decompositions()
    return table | foreach_decompositions() | index_decompositions()


def _product_and_bias(
    bias: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Any:
    """A row added to a product, which fuses with what follows; ATen's `addmm` first
    copies it to every row of the result. Narrow types would be rounded once more."""
    if bias.dtype != torch.float32 or bias.dim() != 1 or beta != 1 or alpha != 1:
        return NotImplemented
    return torch.mm(left, right) + bias


def _repeated(x: torch.Tensor, repeats: Any) -> Any:
    """As if it had an axis for each number."""
    missing = len(repeats) - x.dim()
    if missing <= 0:
        return NotImplemented
    return torch.ops.aten.repeat.default(x.reshape([1] * missing + list(x.shape)), repeats)


def _number_copied(x: Any, *, dtype: torch.dtype | None = None, **_: Any) -> Any:
    """What torch traces as a number has no copy of its own."""
    if isinstance(x, torch.Tensor):
        return NotImplemented
    return torch.ops.aten.scalar_tensor.default(x, dtype=dtype)


def _once(op: Any) -> Callable[..., Any]:
    """The copy is made once along the axes that step nowhere: what the view gives
    shares its elements as the tensor does, and nobody may write those."""

    def marked(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):  # torch traces its numbers as such
            return NotImplemented
        part = x
        for axis, (size, stride) in enumerate(zip(x.shape, x.stride(), strict=True)):
            if statically_known_true(stride == 0) and statically_known_true(size > 1):
                part = part.narrow(axis, 0, 1)
        if part is x:
            return NotImplemented
        result = op(part)
        return result.expand([*x.shape[: result.dim()], *result.shape[x.dim() :]])

    return marked


def decomposition_table(overloads: Iterable[str]) -> dict[Any, Callable[..., Any]]:
    """The table for a library that has a kernel for each of `overloads`."""
    return _table(frozenset(overloads))
