"""Convolution networks run channels-last inside, whatever the layout of their inputs.

oneDNN's convolutions and everything around them are faster so; eager, f32, two threads of
an AMD EPYC (Zen 4), torch 2.13, only the images channels-last, ratio to contiguous images:
MobileNetV3 inference 1.40, training step 1.94; U-Net 1.15, 1.08; ResNet-18 1.04, 1.03;
ConvNeXt, whose own permutations leave few images contiguous, 1.01, 0.98 (left alone).
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves, tree_map_only

from . import native
from .overloads import copy_operator, full_name

_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


class _PromiseError(Exception):
    """A promise of the graph cannot be kept with another layout."""


def channels_last(module: GraphModule) -> GraphModule:
    """The module with its convolutions' images channels-last, if most are not;
    outputs keep the strides that the module promised."""
    images = [node.args[0].meta["val"] for node in module.graph.nodes if _is_convolution(node)]
    changed = [image for image in images if _could_change(image)]
    if len(changed) < 2 or 2 * len(changed) < len(images):
        return module
    other = _copied(module)
    try:
        _Relaying(other).run()
    except _PromiseError:
        return module
    other.recompile()
    return other


def _copied(module: GraphModule) -> GraphModule:
    """A module with a graph of its own, whose nodes have metadata of their own."""
    graph = torch.fx.Graph()
    places: dict[Node, Node] = {}
    graph.output(graph.graph_copy(module.graph, places))
    # Only now: the module takes the constants that its graph names.
    other = GraphModule(module, graph)
    for old, new in places.items():
        new.meta = dict(old.meta)
    _end(other).meta = dict(_end(module).meta)
    return other


def _end(module: GraphModule) -> Node:
    return module.graph.output_node()


def _is_convolution(node: Node) -> bool:
    return (
        _is_preferred_convolution(node.target)
        and not _takes(node.target, "grad_output")
        and isinstance(_value(node.args[0]), torch.Tensor)
    )


def _is_preferred_convolution(target: Any) -> bool:
    """Of either direction; only ATen's are faster with channels last."""
    return isinstance(target, torch._ops.OpOverload) and full_name(target) in native().preferred_as(
        "convolution"
    )


def _is_reshape(target: Any) -> bool:
    return isinstance(target, torch._ops.OpOverload) and bool(
        native().is_reshape(full_name(target))
    )


def _takes(target: Any, name: str) -> bool:
    """Whether an operator has an argument of that name."""
    return isinstance(target, torch._ops.OpOverload) and any(
        argument.name == name for argument in target._schema.arguments
    )


def _could_change(image: torch.Tensor) -> bool:
    form = _FORMATS.get(image.dim())
    return (
        form is not None and image.is_contiguous() and not image.is_contiguous(memory_format=form)
    )


def _value(node: Any) -> Any:
    return node.meta.get("val") if isinstance(node, Node) else node


def _strides(value: Any) -> list[Any]:
    """The strides of every tensor in a value."""
    return [each.stride() for each in tree_leaves(value) if isinstance(each, torch.Tensor)]


class _Relaying:
    """Goes through a graph in order, infers every value anew, and inserts copies."""

    def __init__(self, module: GraphModule) -> None:
        self.graph = module.graph
        inputs = [_value(node) for node in self.graph.find_nodes(op="placeholder")]
        mode = detect_fake_mode(inputs)
        if mode is None:
            raise _PromiseError
        self.mode = mode
        for node in self.graph.find_nodes(op="get_attr"):
            constant = getattr(module, str(node.target), None)
            if isinstance(constant, torch.Tensor):
                node.meta["val"] = mode.from_tensor(constant, static_shapes=True)
        #: What each node promised before.
        self.promised = {node: _value(node) for node in self.graph.nodes}

    def run(self) -> None:
        for node in list(self.graph.nodes):
            if node.op == "output":
                self.restore_operands(node)
            elif node.op == "call_function":
                if _is_convolution(node) and _could_change(_value(node.args[0])):
                    image = node.args[0]
                    relaid = self.clone(image, node, _FORMATS[_value(image).dim()])
                    node.replace_input_with(image, relaid)
                self.infer(node)

    def infer(self, node: Node) -> None:
        """Gives a node the value that its operands have now."""
        if not any(self.is_relaid(operand) for operand in node.all_input_nodes):
            return
        if (
            _takes(node.target, "storage_offset")  # reads memory as it lies
            or not _takes_any_strides(node.target)
            or _is_broken_channels_last(node)
        ):
            self.restore_operands(node)
            return
        try:
            node.meta["val"] = self.evaluated(node)
        except (RuntimeError, ValueError):
            # A view that this layout does not allow.
            if not _is_reshape(node.target):
                raise _PromiseError from None
            self.restore_operands(node)

    def is_relaid(self, node: Node) -> bool:
        return _strides(_value(node)) != _strides(self.promised[node])

    def evaluated(self, node: Node) -> Any:
        args, kwargs = tree_map_only(Node, _value, (node.args, node.kwargs))
        function: Any = node.target
        with self.mode:
            return function(*args, **kwargs)

    def restore_operands(self, user: Node) -> None:
        """Gives one user the strides that it was promised."""
        for operand in user.all_input_nodes:
            if not self.is_relaid(operand):
                continue
            promised = self.promised[operand]
            if not (isinstance(promised, torch.Tensor) and promised.is_contiguous()):
                raise _PromiseError
            restored = self.clone(operand, user, torch.contiguous_format)
            user.replace_input_with(operand, restored)

    def clone(self, node: Node, user: Node, form: torch.memory_format) -> Node:
        with self.graph.inserting_before(user):
            made: Node = self.graph.call_function(copy_operator(), (node,), {"memory_format": form})
        made.meta = dict(node.meta if user.op == "output" else user.meta)
        made.meta["val"] = self.evaluated(made)
        self.promised[made] = self.promised[node]
        return made


def _is_broken_channels_last(node: Node) -> bool:
    """Whether oneDNN's derivative of a convolution by its weights writes past its
    memory: one step a window, windows apart, less channels than a vector has lanes
    (oneDNN's issue 6035)."""
    if not (_is_preferred_convolution(node.target) and _takes(node.target, "grad_output")):
        return False
    weight, stride = _value(node.args[2]), node.args[4]
    lanes = 64 // weight.element_size()
    windows = weight.shape[2:]
    return bool(max(stride) > 1 and max(windows) == 1 and weight.shape[1] < lanes)  # type: ignore[arg-type]


def _takes_any_strides(target: Any) -> bool:
    """ATen's operators and Python's own on sizes do; others are not known."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target.namespace) in ("aten", "prims")
    return isinstance(target, types.BuiltinFunctionType)
