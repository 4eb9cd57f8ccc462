"""ATen's overloads and their full names: `aten::add.Tensor`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch

from .._session import operators
from ..torch_names import OpOverload
from . import native


def full_name(op: OpOverload) -> str:
    """With the namespace, and the overload where it has a name."""
    name, overload = str(op._schema.name), op._schema.overload_name
    return name + (f".{overload}" if overload else "")


@functools.cache
def copy_operator() -> Any:
    """The operator that copies a tensor."""
    return _default_of(native().copy_name())


@functools.cache
def permute_operator() -> Any:
    """The view with dimensions in another order."""
    return _default_of(native().permute_name())


@functools.cache
def expand_operator() -> Any:
    """The view that is spread along axes."""
    return _default_of(native().expand_name())


def _default_of(name: str) -> Any:
    namespace, _, own = name.partition("::")
    return getattr(getattr(torch.ops, namespace), own).default


def is_preferred_as(target: Any, what: str) -> bool:
    """Whether ATen is preferred for an operator, which is one of these."""
    return isinstance(target, OpOverload) and full_name(target) in native().preferred_as(what)


def is_reshape(target: Any) -> bool:
    """Whether an operator is a view of another shape, if strides can say it."""
    return isinstance(target, OpOverload) and bool(native().is_reshape(full_name(target)))


def keeps_axes(target: Any) -> bool:
    """Whether an operator is a view of the same axes in another order, or of parts of one."""
    return isinstance(target, OpOverload) and bool(native().keeps_axes(full_name(target)))


@functools.cache
def _elementwise() -> frozenset[str]:
    return frozenset(row["overload"] for row in operators() if row["kind"] == "elementwise")


def is_elementwise(target: Any) -> bool:
    """Whether an operator of torch's own has an elementwise kernel, and draws no numbers."""
    if not isinstance(target, OpOverload):
        return False
    is_torch = target.namespace in ("aten", "prims")
    is_random = torch.Tag.nondeterministic_seeded in target.tags
    return is_torch and not is_random and full_name(target) in _elementwise()


def draws(target: OpOverload, arguments: Mapping[str, Any]) -> bool:
    """Whether a call takes random numbers: attention without dropout takes none."""
    is_random = torch.Tag.nondeterministic_seeded in target.tags
    return is_random and arguments.get("dropout_p") != 0.0
