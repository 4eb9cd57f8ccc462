"""ATen's overloads and their full names: `aten::add.Tensor`."""

from __future__ import annotations

import functools
from typing import Any

import torch

from . import native


def full_name(op: torch._ops.OpOverload) -> str:
    """With the namespace, and the overload where it has a name."""
    overload = op._schema.overload_name
    return op._schema.name + (f".{overload}" if overload else "")


@functools.cache
def copy_operator() -> Any:
    """The operator that copies a tensor."""
    return _default_of(native().copy_name())


@functools.cache
def permute_operator() -> Any:
    """The view with dimensions in another order."""
    return _default_of(native().permute_name())


def _default_of(name: str) -> Any:
    namespace, _, own = name.partition("::")
    return getattr(getattr(torch.ops, namespace), own).default


def is_preferred_as(target: Any, what: str) -> bool:
    """Whether ATen is preferred for an operator, which is one of these."""
    return isinstance(target, torch._ops.OpOverload) and full_name(target) in native().preferred_as(
        what
    )


def is_reshape(target: Any) -> bool:
    """Whether an operator is a view of another shape, if strides can say it."""
    return isinstance(target, torch._ops.OpOverload) and bool(
        native().is_reshape(full_name(target))
    )
