"""Which layout the values inside a graph have, whatever that of its inputs.

Copies that only lay out anew what their readers take as it lies are left out. What
eager would leave turned round for all that is added to it, a stream of a convolution's
results behind a permutation, is laid in rows where rows are first added: norms of
Whisper's encoder took six times as long as along rows. And convolution networks run
channels-last: oneDNN's convolutions and everything around them are faster so; eager,
f32, two threads of an AMD EPYC (Zen 4), torch 2.13, only the images channels-last,
ratio to contiguous images:
MobileNetV3 inference 1.40, training step 1.94; U-Net 1.15, 1.08; ResNet-18 1.04, 1.03;
ConvNeXt, whose own permutations leave few images contiguous, 1.01, 0.98 (left alone).
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..torch_names import (
    OpOverload,
    detect_fake_mode,
    statically_known_true,
    tree_leaves,
    tree_map_only,
)
from .copies import is_needless_copy
from .overloads import (
    copy_operator,
    is_elementwise,
    is_preferred_as,
    is_reshape,
    permute_operator,
)

_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


class _PromiseError(Exception):
    """A promise of the graph cannot be kept with another layout."""


def relaid(module: GraphModule) -> GraphModule:
    """The module without needless copies, and with its convolutions' images
    channels-last, if most are not; outputs keep the strides that it promised."""
    images = [node.args[0].meta["val"] for node in module.graph.nodes if _is_convolution(node)]
    changed = [image for image in images if _could_change(image)]
    turns = len(changed) >= 2 and 2 * len(changed) >= len(images)
    settles = any(turned_operand(node) for node in module.graph.nodes)
    copies = any(is_needless_copy(node) for node in module.graph.nodes)
    for settle in (True, False) if settles else (False,):
        if not (turns or settle or copies):
            break
        other = copied(module)
        try:
            _Relaying(other, turns, settle).run()
        except _PromiseError:
            continue
        other.recompile()
        return other
    return module


def turned_operand(node: Node) -> Node | None:
    """The operand whose turned layout an elementwise result takes although another one
    lies in rows; images are not meant."""
    result = _value(node)
    if not is_elementwise(node.target) or not isinstance(result, torch.Tensor):
        return None
    operands = node.all_input_nodes
    turned = [each for each in operands if _is_turned(_value(each)) and _like(each, result)]
    if len(turned) != 1 or not any(_lies_in_rows(_value(each)) for each in operands):
        return None
    return turned[0]


def _like(node: Node, result: torch.Tensor) -> bool:
    value = _value(node)
    return bool(value.shape == result.shape and value.stride() == result.stride())


def _is_plain(value: Any) -> bool:
    """Whether a value is a tensor of known sizes that is no image."""
    if not isinstance(value, torch.Tensor) or value.dim() < 2 or value.dim() in _FORMATS:
        return False
    return not any(isinstance(each, torch.SymInt) for each in (*value.shape, *value.stride()))


def _is_turned(value: Any) -> bool:
    """Whether a tensor takes all of its memory, but not row by row."""
    if not _is_plain(value) or value.is_contiguous():
        return False
    return bool(value.permute(_order(value)).is_contiguous()) and value.shape[-1] > 1


def _lies_in_rows(value: Any) -> bool:
    return _is_plain(value) and value.is_contiguous()


def copied(module: GraphModule) -> GraphModule:
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
    return is_preferred_as(target, "convolution")


def _takes(target: Any, name: str) -> bool:
    """Whether an operator has an argument of that name."""
    return isinstance(target, OpOverload) and any(
        argument.name == name for argument in target._schema.arguments
    )


def _could_change(image: torch.Tensor) -> bool:
    form = _FORMATS.get(image.dim())
    return (
        form is not None
        and image.device.type == "cpu"
        and image.is_contiguous()
        and not image.is_contiguous(memory_format=form)
    )


def _value(node: Any) -> Any:
    return node.meta.get("val") if isinstance(node, Node) else node


def _strides(value: Any) -> list[Any]:
    """The strides of every tensor in a value."""
    return [each.stride() for each in tree_leaves(value) if isinstance(each, torch.Tensor)]


class _Relaying:
    """Goes through a graph in order, infers every value anew, and inserts copies."""

    def __init__(self, module: GraphModule, turns: bool, settles: bool) -> None:
        self.graph = module.graph
        self.turns = turns
        self.settles = settles
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
        #: Those whose operands are no longer the nodes they were.
        self.given_others: set[Node] = set()

    def run(self) -> None:
        for node in list(self.graph.nodes):
            if node.op == "output":
                self.restore_operands(node)
            elif is_needless_copy(node):
                self.leave_out(node)
            elif node.op == "call_function":
                if self.turns and _has_heavy_weights(node):
                    self.restore_operands(node)
                elif self.turns and _is_convolution(node) and _could_change(_value(node.args[0])):
                    image = node.args[0]
                    relaid = self.clone(image, node, _FORMATS[_value(image).dim()])
                    node.replace_input_with(image, relaid)
                self.infer(node)
                if self.settles and (operand := turned_operand(node)):
                    rows = self.clone(operand, node, torch.contiguous_format)
                    node.replace_input_with(operand, rows)
                    self.given_others.add(node)
                    self.infer(node)
                if self.settles and is_needless_copy(node):
                    self.leave_out(node)

    def leave_out(self, copy: Node) -> None:
        self.given_others.update(copy.users)
        copy.replace_all_uses_with(copy.all_input_nodes[0])
        self.graph.erase_node(copy)

    def infer(self, node: Node) -> None:
        """Gives a node the value that its operands have now."""
        if node not in self.given_others and not any(
            self.is_relaid(operand) for operand in node.all_input_nodes
        ):
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
            if not is_reshape(node.target):
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
            if self.is_relaid(operand):
                user.replace_input_with(operand, self.restored(operand, user))

    def restored(self, node: Node, user: Node) -> Node:
        promised = self.promised[node]
        if not isinstance(promised, torch.Tensor):
            raise _PromiseError
        if promised.is_contiguous():
            return self.clone(node, user, torch.contiguous_format)
        # What is turned back at the end is sooner left as it was.
        if self.settles and _is_plain(promised):
            raise _PromiseError
        order = _order(promised)
        turned = self.insert(user, permute_operator(), (node, order))
        copied = self.clone(turned, user, torch.contiguous_format)
        back = [order.index(d) for d in range(len(order))]
        made = self.insert(user, permute_operator(), (copied, back))
        if _strides(_value(made)) != _strides(promised):
            raise _PromiseError
        return made

    def clone(self, node: Node, user: Node, form: torch.memory_format) -> Node:
        made = self.insert(user, copy_operator(), (node,), {"memory_format": form})
        self.promised[made] = self.promised[node]
        return made

    def insert(self, user: Node, target: Any, args: Any, kwargs: Any = None) -> Node:
        with self.graph.inserting_before(user):
            made: Node = self.graph.call_function(target, args, kwargs)
        made.meta = dict(args[0].meta if user.op == "output" else user.meta)
        made.meta["val"] = self.promised[made] = self.evaluated(made)
        return made


def _order(value: torch.Tensor) -> list[int]:
    """The dimensions as they lie in memory, those with the longest steps first."""
    strides = value.stride()
    if any(isinstance(stride, torch.SymInt) for stride in strides):
        raise _PromiseError
    return sorted(range(len(strides)), key=lambda d: -strides[d])


def _has_heavy_weights(node: Node) -> bool:
    """Whether a convolution, or its derivative, has more numbers in its weights than in
    its images. oneDNN turns weights round for images that lie channels-last, in every
    call, and their derivatives back: the images are sooner turned, and take less memory."""
    if not _is_preferred_convolution(node.target):
        return False
    first = 1 if _takes(node.target, "grad_output") else 0
    image, weight = _value(node.args[first]), _value(node.args[first + 1])
    others = (_value(node.args[0]) if first else _value(node), image)
    known = all(isinstance(each, torch.Tensor) for each in (*others, weight))
    return known and statically_known_true(weight.numel() > sum(each.numel() for each in others))


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
    if isinstance(target, OpOverload):
        return str(target.namespace) in ("aten", "prims")
    return isinstance(target, types.BuiltinFunctionType)
