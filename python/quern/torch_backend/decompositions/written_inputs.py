"""Inputs that a training graph writes, as they were before.

The forward writes them at its end. A backward that reads such an input, to use it or to compute
again what was made of it, would find the new numbers.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.utils.checkpoint import CheckpointPolicy

from ..repeats import memory_of

aten = torch.ops.aten


def copy_written_inputs(joint: GraphModule) -> list[str]:
    """Lets all that is computed of a written input read a copy, which the backward cannot make
    again. The names of the copies."""
    copies = []
    for node in joint.graph.find_nodes(op="placeholder"):
        readers = [user for user in node.users if not _writes(user, node)]
        if len(readers) == len(node.users) or not readers or memory_of(node) is None:
            continue
        with joint.graph.inserting_before(_behind_placeholders(joint)):
            copy = joint.graph.call_function(aten.clone.default, (node,))
        copy.meta.update(node.meta)
        value = node.meta["val"]
        with value.fake_mode:
            copy.meta["val"] = value.clone()
        copy.meta.pop("tensor_meta", None)
        copy.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        for reader in readers:
            reader.replace_input_with(node, copy)
        _retrace_views(node, copy)
        copies.append(copy.name)
    return copies


def _retrace_views(source: Node, copy: Node) -> None:
    """A copy has no gaps, so its views may have other strides than those of its source."""
    if copy.meta["val"].stride() == source.meta["val"].stride():
        return
    memory = memory_of(source)
    for node in copy.graph.nodes:
        if node.op == "call_function" and node is not copy and memory_of(node) == memory:
            given = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
            with copy.meta["val"].fake_mode:
                node.meta["val"] = node.target(*given[0], **given[1])
            node.meta.pop("tensor_meta", None)


def drop_copies(forward: GraphModule, copies: list[str]) -> None:
    """Leaves only those copies that the backward reads, itself or as views: the forward reads an
    input before it writes it."""
    output = forward.graph.output_node()
    kept = {memory_of(node) for node in output.all_input_nodes}
    for copy in forward.graph.find_nodes(op="call_function", target=aten.clone.default):
        (source,) = copy.all_input_nodes
        if copy.name in copies and kept.isdisjoint((memory_of(source), memory_of(copy))):
            copy.replace_all_uses_with(source)
            forward.graph.erase_node(copy)
    forward.recompile()


def _behind_placeholders(joint: GraphModule) -> Node:
    node: Node = next(node for node in joint.graph.nodes if node.op != "placeholder")
    return node


def _writes(user: Node, written: Node) -> bool:
    return user.target is aten.copy_.default and user.args[0] is written
