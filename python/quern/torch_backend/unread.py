"""Operators some of whose results nobody reads, as operators that do not compute these."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, Node

_aten = torch.ops.aten

# What gives several results, and what gives the first of them alone.
_FIRST_ALONE: dict[Any, Any] = {
    _aten.max_pool2d_with_indices.default: _aten.max_pool2d.default,
    _aten.max_pool3d_with_indices.default: _aten.max_pool3d.default,
}


def _is_first(user: Node) -> bool:
    return bool(user.target is operator.getitem and user.args[1] == 0)


def drop_unread_results(graph: Graph) -> None:
    """Replaces every node of the table of which only the first result is read."""
    for node in list(graph.nodes):
        alone = _FIRST_ALONE.get(node.target)
        users = list(node.users)
        if alone is None or not users or not all(map(_is_first, users)):
            continue
        with graph.inserting_before(node):
            first: Node = graph.call_function(alone, node.args, node.kwargs)
        first.meta = dict(users[0].meta)
        for user in users:
            user.replace_all_uses_with(first)
            graph.erase_node(user)
        graph.erase_node(node)
