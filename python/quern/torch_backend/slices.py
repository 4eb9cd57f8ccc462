"""Large values made of smaller ones and read in slices only: made for each slice, not whole.

An associative scan reads the even and the odd places of what it scans, and half of them once more.
Its readers compute those places themselves from operands of a fraction of the size: the whole would
be the graph's largest tensor, and live from the first slice to the last.
"""

from __future__ import annotations

import math
import operator
import types
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..torch_names import detect_fake_mode, free_unbacked_symbols, optimization_hint, tree_map_only
from .copies import is_known, may_be_view
from .layout import copied
from .overloads import expand_operator, is_elementwise, keeps_axes

#: A whole is left that takes more operators, or is read in more slices.
_MOST_OPERATORS = 8
_MOST_SLICES = 8
#: How many times over the slices may compute the whole.
_MOST_OFTEN = 2
#: Of what the whole has, all that it is made of together has at most one part in so many.
_LEAST_SPREAD = 4
#: What a size that only data decide is taken for.
_UNKNOWN = 64


def sliced(module: GraphModule) -> GraphModule:
    """The module with such values made slice by slice; itself where it has none."""
    if not any(_spread(node) for node in module.graph.nodes):
        return module
    other = copied(module)
    # From the end: an operator before another one may then be read in slices, too.
    for node in reversed(list(other.graph.nodes)):
        if spread := _spread(node):
            spread.take_apart()
    other.recompile()
    return other


@dataclass(frozen=True)
class _Spread:
    """A value, the operators that only it needs, and views of parts of it that others read."""

    whole: Node
    members: list[Node]
    slices: list[Node]

    def take_apart(self) -> None:
        graph = self.whole.graph
        with graph.inserting_before(self.whole):
            shape = graph.materialize_symints(self.whole.meta["val"].shape)
        for view in self.slices:
            with graph.inserting_before(view):
                made = self._made(shape, _path(self.whole, view))
            # Its readers find the axes in the order that they knew.
            made.meta["val"] = _evaluated(torch.empty_like, (view.meta["val"],))
            for user in list(view.users):
                if not _is_slicing(user):
                    user.replace_input_with(view, made)
        for node in [*reversed(_views(self.whole)), *self.members]:
            if not node.users:
                graph.erase_node(node)

    def _made(self, shape: list[Any], path: list[Node]) -> Node:
        """The whole's operators once more, of the parts of their operands along a path."""
        parts: dict[Node, Node] = {}
        for member in reversed(self.members):
            for operand in member.all_input_nodes:
                if operand not in parts:
                    parts[operand] = _part(operand, shape, path)
            given = tree_map_only(Node, parts.__getitem__, (member.args, member.kwargs))
            parts[member] = _call(member, member.target, *given)
        return parts[self.whole]


def _part(operand: Node, shape: list[Any], path: list[Node]) -> Node:
    """What views on a path show of an operand that is spread to a shape."""
    value = operand.meta["val"]
    # A tensor without axes decides less about types than one that has some.
    if not isinstance(value, torch.Tensor) or not value.dim():
        return operand
    part = _call(operand, expand_operator(), (operand, shape))
    for view in path:
        part = _call(view, view.target, (part, *view.args[1:]), view.kwargs)
    return part


def _call(like: Node, target: Any, args: Any, kwargs: Any = None) -> Node:
    """A node at the graph's place of insertion that comes from where another one does."""
    made: Node = like.graph.call_function(target, args, kwargs)
    values = tree_map_only(Node, lambda node: node.meta["val"], (args, kwargs or {}))
    made.meta = {**like.meta, "val": _evaluated(target, *values)}
    return made


def _evaluated(target: Any, args: Any, kwargs: Any = None) -> Any:
    mode = detect_fake_mode(list(args))
    assert mode is not None, "a value of a traced graph is not fake"
    with mode:
        return target(*args, **(kwargs or {}))


def _is_slicing(node: Node) -> bool:
    """Whether a node is a view of parts of an axis or of axes in another order."""
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node) and _is_slicing(node.args[0])
    return keeps_axes(node.target)


def _views(node: Node) -> list[Node]:
    """All views of a node that only look at parts of it, each before those of it."""
    found: list[Node] = []
    for user in node.users:
        if _is_slicing(user):
            found += [user, *_views(user)]
    return found


def _path(whole: Node, view: Node) -> list[Node]:
    """The views from the first one of a node to this one."""
    path: list[Node] = []
    while view is not whole:
        path.insert(0, view)
        assert isinstance(view.args[0], Node)
        view = view.args[0]
    return path


def _spread(node: Node) -> _Spread | None:
    """What a node is if it is better made slice by slice."""
    if not is_elementwise(node.target) or not all(_is_slicing(user) for user in node.users):
        return None
    if free_unbacked_symbols(node.meta["val"].shape):
        return None
    slices = [view for view in _views(node) if not all(map(_is_slicing, view.users))]
    if not 0 < len(slices) <= _MOST_SLICES or not all(map(_is_read_as_it_is, slices)):
        return None
    members = _members(node)
    if members is None or not _saves(node, slices) or _may_change(node, slices):
        return None
    return _Spread(node, members, slices)


def _is_read_as_it_is(view: Node) -> bool:
    """Whether no reader of a view looks at the same memory in a way of its own."""
    return all(
        _is_slicing(user) or (is_known(user.target) and not may_be_view(user.target))
        for user in view.users
    )


def _members(whole: Node) -> list[Node] | None:
    """A node and operators that only it needs, each after its reader, if what they are made of
    is small beside it."""
    members, small = [whole], set()
    for member in members:
        for operand in member.all_input_nodes:
            if _is_only_for(operand, member):
                members.append(operand)
            else:
                small.add(operand)
    if any("val" not in operand.meta for operand in small):
        return None
    size = sum(_elements(operand.meta["val"]) for operand in small)
    is_spread = _LEAST_SPREAD * size <= _elements(whole.meta["val"])
    return members if is_spread and len(members) <= _MOST_OPERATORS else None


def _is_only_for(operand: Node, member: Node) -> bool:
    return (
        is_elementwise(operand.target)
        and list(operand.users) == [member]
        and list(operand.meta["val"].shape) == list(member.meta["val"].shape)
    )


def _elements(value: Any) -> int:
    """How many elements a tensor has in memory."""
    if not isinstance(value, torch.Tensor):
        return 0
    return math.prod(
        optimization_hint(size, _UNKNOWN)
        for size, stride in zip(value.shape, value.stride(), strict=True)
        if optimization_hint(stride, _UNKNOWN)
    )


def _saves(whole: Node, slices: list[Node]) -> bool:
    """Whether slices are parts that together are not made too often."""
    size = _elements(whole.meta["val"])
    parts = [_elements(view.meta["val"]) for view in slices]
    return max(parts) < size and sum(parts) <= _MOST_OFTEN * size


def _may_change(whole: Node, slices: list[Node]) -> bool:
    """Whether anything between a node and its slices may write to what it is made of."""
    node, left = whole.next, set(slices)
    while left:
        left.discard(node)
        counts = isinstance(node.target, types.BuiltinFunctionType)
        if node.op == "call_function" and not (counts or is_known(node.target)):
            return True
        node = node.next
    return False
