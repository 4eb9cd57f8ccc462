"""Copies of a graph that lay out anew what their readers take as it lies."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Node

from ..torch_names import OpOverload, statically_known_true
from .overloads import copy_operator, is_preferred_as, is_reshape


def is_needless_copy(node: Node) -> bool:
    """Whether a copy's readers may read what it copies.

    Attention takes rows of operands by their strides, and what is made element by element
    of one tensor lies as that does. Readers that join several large tensors, reshape or
    sum them are left the layout that was asked for. What the graph gives out, and what it
    was given, which may be changed between forward and backward, stays copied.
    """
    if node.target is not copy_operator() or not isinstance(node.args[0], Node):
        return False
    source, value = node.args[0].meta.get("val"), node.meta.get("val")
    if not isinstance(source, torch.Tensor) or not isinstance(value, torch.Tensor):
        return False
    if _memory_of(node.args[0]).op != "call_function":
        return False
    if any(statically_known_true(stride == 0) for stride in source.stride()):
        return False
    if _lie_alike(source, value):
        return _stays_inside(node)
    return all(_takes_as_it_lies(user, node, source) for user in node.users)


def _stays_inside(node: Node) -> bool:
    """Whether no view of a node leaves the graph."""
    return all(
        user.op == "call_function"
        and is_known(user.target)
        and (not may_be_view(user.target) or _stays_inside(user))
        for user in node.users
    )


def is_known(target: Any) -> bool:
    """Whether an operator does nothing but give results."""
    if target is operator.getitem:
        return True
    return isinstance(target, OpOverload) and not target._schema.is_mutable


def _memory_of(node: Node) -> Node:
    """The node whose memory a view shows."""
    while node.op == "call_function" and may_be_view(node.target):
        if not isinstance(node.args[0], Node):
            break
        node = node.args[0]
    return node


def may_be_view(target: Any) -> bool:
    """Whether results of an operator may lie in its operands' memory."""
    if not isinstance(target, OpOverload):
        return True
    aliases = any(result.alias_info is not None for result in target._schema.returns)
    return aliases or is_reshape(target)


def _lie_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    pairs = zip(one.stride(), other.stride(), strict=True)
    return all(statically_known_true(a == b) for a, b in pairs)


def _takes_as_it_lies(user: Node, operand: Node, source: torch.Tensor) -> bool:
    if not is_known(user.target) or may_be_view(user.target):
        return False
    if is_preferred_as(user.target, "attention"):
        # Rows by any steps, but their elements side by side; masks as they are.
        return operand in user.args and statically_known_true(source.stride(-1) == 1)
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
