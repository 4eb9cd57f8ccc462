"""Which values of 16 bits a backward computes again and must find as the forward had them.

A value that is rounded in one graph and not in the other is another number. Smooth functions
change with it as little; at a comparison, a root or a quotient it may decide, or be no number."""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule
from torch.fx.node import Node

from ..torch_names import OpOverload

_MARK = "quern_recomputed"
#: Operators whose floats change little where those that they read do. Others are not known to.
_NAMES = """
    _log_softmax _log_softmax_backward_data _softmax _softmax_backward_data _to_copy abs add
    addmm alias baddbmm bmm cat clone convolution convolution_backward cos
    embedding_dense_backward empty erf exp expand full full_like gelu gelu_backward
    leaky_relu_backward mean mm mul native_batch_norm_backward native_dropout_backward
    native_group_norm_backward native_layer_norm native_layer_norm_backward neg ones_like permute
    relu reshape rsub select sigmoid sigmoid_backward silu silu_backward sin slice split
    split_with_sizes squeeze sub sum t tanh tanh_backward threshold_backward transpose unsqueeze
    view where zeros_like
"""
_SMOOTH = frozenset(_NAMES.split())


def mark_recomputed(forward: GraphModule, backward: GraphModule) -> None:
    """Marks such values in both graphs: the joint graph's nodes keep their names in them."""
    made = {node.name: node for node in forward.graph.nodes if node.op == "call_function"}
    counts: set[Node] = set()
    for node in reversed(backward.graph.nodes):
        if node.op != "call_function":
            continue
        if node in counts or not _is_smooth(node):
            counts.update(node.all_input_nodes)
        if node in counts and node.name in made:
            made[node.name].meta[_MARK] = node.meta[_MARK] = True


def _is_smooth(node: Node) -> bool:
    target = node.target
    if target is operator.getitem:
        return True
    if not isinstance(target, OpOverload) or target.namespace != "aten":
        return False
    if target.__name__ == "div.Tensor":
        return not isinstance(node.args[1], Node)
    value = node.meta.get("val")
    decides = isinstance(value, torch.Tensor) and not value.is_floating_point()
    return not decides and target.overloadpacket.__name__ in _SMOOTH


def is_recomputed(node: Node) -> bool:
    """Whether another graph makes the same value, which both must round."""
    return bool(node.meta.get(_MARK))
