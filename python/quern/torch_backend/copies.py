"""Copies of a graph that lay out anew what their readers take as it lies."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from .overloads import copy_operator, is_preferred_as


def is_needless_copy(node: Node) -> bool:
    """Whether a copy's readers may read what it copies.

    Attention takes its operands by their strides, and what is made element by element
    of one tensor lies as that does. Readers that join several large tensors, reshape or
    sum them are left the layout that was asked for.
    """
    if node.target is not copy_operator() or not isinstance(node.args[0], Node):
        return False
    source, value = node.args[0].meta.get("val"), node.meta.get("val")
    if not isinstance(source, torch.Tensor) or not isinstance(value, torch.Tensor):
        return False
    if any(user.op != "call_function" for user in node.users):
        return False
    if _lie_alike(source, value):
        return True
    is_repeated = any(statically_known_true(stride == 0) for stride in source.stride())
    return not is_repeated and all(_takes_as_it_lies(user, node) for user in node.users)


def _lie_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    pairs = zip(one.stride(), other.stride(), strict=True)
    return all(statically_known_true(a == b) for a, b in pairs)


def _takes_as_it_lies(user: Node, operand: Node) -> bool:
    if is_preferred_as(user.target, "attention"):
        return True
    if torch.Tag.pointwise not in getattr(user.target, "tags", ()):
        return False
    others = [each.meta.get("val") for each in user.all_input_nodes if each is not operand]
    return all(_is_repeated_in(user.meta.get("val"), other) for other in others)


def _is_repeated_in(result: Any, operand: Any) -> bool:
    """Whether an operand has fewer elements than the result."""
    if not isinstance(result, torch.Tensor) or not isinstance(operand, torch.Tensor):
        return not isinstance(operand, torch.Tensor)
    if operand.dim() < result.dim():
        return True
    pairs = zip(operand.shape, result.shape, strict=True)
    return any(
        statically_known_true(a == 1) and not statically_known_true(b == 1) for a, b in pairs
    )
