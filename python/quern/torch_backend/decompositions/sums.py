"""What a table is given from several sides, added where it is made.

The derivative of an embedding is a tensor of the table's size, mostly zeros. Where it is only
added to another one, to that of the product with the same table for one, its rows are added
to that in place of a sum of both."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ...torch_names import tree_map_only

_aten = torch.ops.aten
# Narrower ones would be rounded after every row.
_TYPES = (torch.float32, torch.float64)


def join_sums(module: GraphModule) -> None:
    """Changes the sums of a training graph with a derivative of an embedding in them."""
    for node in module.graph.find_nodes(op="call_function", target=_aten.add.Tensor):
        if len(node.args) != 2 or node.kwargs:
            continue
        for derivative, other in (node.args, node.args[::-1]):
            if _is_joined(node, derivative, other):
                _join(module, node, derivative, other)
                break
    module.graph.eliminate_dead_code()


def _is_joined(node: Node, derivative: Any, other: Any) -> bool:
    if not isinstance(derivative, Node) or not isinstance(other, Node) or derivative is other:
        return False
    if derivative.target is not _aten.embedding_dense_backward.default:
        return False
    if len(derivative.users) != 1 or len(derivative.args) != 5 or derivative.args[4]:
        return False
    index, wanted = derivative.args[1].meta["val"], node.meta["val"]  # type: ignore[union-attr]
    return index.dtype == torch.int64 and all(
        value.dtype in _TYPES
        and value.dtype == wanted.dtype
        and value.shape == wanted.shape
        and value.stride() == wanted.stride()
        for value in (derivative.meta["val"], other.meta["val"])
    )


def _join(module: GraphModule, node: Node, derivative: Node, other: Node) -> None:
    grad, index, _, padding, _ = derivative.args
    with module.graph.inserting_before(node):
        if not isinstance(padding, int) or padding >= 0:
            mask = _call(module, _aten.eq.Scalar, index, padding)
            mask = _call(module, _aten.unsqueeze.default, mask, -1)
            grad = _call(module, _aten.masked_fill.Scalar, grad, mask, 0)
        made = _call(module, _aten.index_put.default, other, [index], grad, True)
    made.meta |= {key: value for key, value in node.meta.items() if key not in made.meta}
    node.replace_all_uses_with(made)
    module.graph.erase_node(node)


def _call(module: GraphModule, target: Any, *args: Any) -> Node:
    node = module.graph.call_function(target, args)
    node.meta["val"] = target(*tree_map_only(Node, lambda each: each.meta["val"], args))
    return node
