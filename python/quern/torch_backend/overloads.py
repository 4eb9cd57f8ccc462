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
    namespace, _, name = native().copy_name().partition("::")
    return getattr(getattr(torch.ops, namespace), name).default
