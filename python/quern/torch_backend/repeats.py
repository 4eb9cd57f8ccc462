"""What a training graph computes twice, in its forward, its backward or both, once.

The partitioner can do that by itself, but imports Inductor's lowerings for it, a third of a
second of a training step's cold start, and takes 0.0 for -0.0.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..torch_names import OpOverload


def merge_repeats(module: GraphModule) -> None:
    """Leaves of every two calls that give the same the first one. What shares memory with
    an output stays: the caller was promised tensors of their own."""
    output = next(iter(reversed(module.graph.nodes)))
    promised = {memory_of(node) for node in output.all_input_nodes} - {None}
    first: dict[Hashable, Node] = {}
    for node in list(module.graph.nodes):
        if _writes(node):
            first.clear()
        if not _is_pure(node) or memory_of(node) in promised:
            continue
        try:
            known = first.setdefault((node.target, _key(node.args), _key(node.kwargs)), node)
        except TypeError:  # a size that is not yet known has no hash
            continue
        if known is not node:
            node.replace_all_uses_with(known)
            module.graph.erase_node(node)


def memory_of(node: Node) -> int | None:
    """What a tensor and its views share."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return None
    memory: int = value.untyped_storage()._cdata
    return memory


def _writes(node: Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target._schema.is_mutable


def _is_pure(node: Node) -> bool:
    target = node.target
    if node.op != "call_function" or "unbacked_bindings" in node.meta:
        return False
    if not isinstance(target, OpOverload):
        return getattr(target, "__module__", "") == "_operator" and target is not operator.setitem
    return not _writes(node) and torch.Tag.nondeterministic_seeded not in target.tags


def _key(argument: Any) -> Hashable:
    """Equal for arguments that no operator tells apart: 1 is not 1.0, nor 0.0 -0.0."""
    if isinstance(argument, (list, tuple)):
        return tuple(map(_key, argument))
    if isinstance(argument, dict):
        return tuple((name, _key(each)) for name, each in argument.items())
    if isinstance(argument, (float, complex)):
        return type(argument), repr(argument)
    return type(argument), argument
