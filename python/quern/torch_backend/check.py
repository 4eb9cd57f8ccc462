"""QUERN_CHECK: every step of a graph against eager, and the first that differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from _quern import Error
from torch.fx.node import Node

from ..torch_names import OpOverload, tree_leaves
from . import native
from .observers import Event
from .overloads import draws
from .source_lines import source_line

# Differences allowed, relative to the largest number of the tensor (at least 1):
# the order of a sum is free, and a fused kernel rounds once where eager does twice.
_TOLERANCES = {
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float64: 1e-8,
    torch.complex128: 1e-8,
}


def difference(ours: torch.Tensor, theirs: torch.Tensor) -> str:
    """How two tensors differ, or nothing."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"ours is {_kind(ours)}, eager's is {_kind(theirs)}"
    if theirs.numel() == 0 or theirs.layout != torch.strided:
        return ""
    wide = torch.complex128 if theirs.is_complex() else torch.float64
    a, b = ours.detach().to(wide), theirs.detach().to(wide)
    same = (a == b) | (a.isnan() & b.isnan())
    finite = b[b.isfinite()].abs()
    scale = max(1.0, float(finite.max())) if finite.numel() else 1.0
    close = (a - b).abs() <= _TOLERANCES.get(theirs.dtype, 0) * scale
    wrong = ~(same | close)
    count = int(wrong.sum())
    if count == 0:
        return ""
    worst = int(torch.where(wrong, (a - b).abs().nan_to_num(torch.inf), -1).argmax())
    place = [int(i) for i in torch.unravel_index(torch.tensor(worst), theirs.shape)]
    mine, other = ours.flatten()[worst].item(), theirs.flatten()[worst].item()
    return (
        f"{count} of {theirs.numel()} elements differ; at {place} ours is {mine}, eager's {other}"
    )


def _kind(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


class Checker:
    """Runs the nodes of one graph through ATen beside its own steps."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        name: str,
        apart: Callable[[Checker], Any] | None = None,
    ) -> None:
        self._module = module
        self._name = name
        self._nodes = {node.name: node for node in module.graph.nodes}
        self._apart = apart
        self._values: dict[Node, Any] = {}
        self._arguments: list[Any] = []

    def begin(self, arguments: Sequence[Any]) -> None:
        """Takes copies: a graph may write its arguments."""
        self._values = {}
        self._arguments = [_copy(value) for value in arguments]
        inputs = (node for node in self._module.graph.nodes if node.op == "placeholder")
        for node, value in zip(inputs, self._arguments, strict=True):
            self._values[node] = _copy(value)

    def step(self, event: Event) -> None:
        """Compares what the step made; raises for the first difference."""
        for name, position, ours in event["values"]:
            node = self._nodes[name]
            if node.op == "placeholder":
                # A kernel that writes to an argument: what it writes has a node of its own.
                continue
            if node not in self._values and _is_random(node):
                self._take(node, ours, event)
                continue
            theirs = self._value(node)
            if isinstance(theirs, (list, tuple)):
                theirs = theirs[position]
            if native().is_allocation(event["operator"]) or not isinstance(ours, torch.Tensor):
                continue
            if isinstance(theirs, torch.Tensor) and (why := difference(ours, theirs)):
                self._complain(node, event, why)

    def end(self, seconds: float) -> None:
        """Lets go of the values."""
        self._values = {}

    def _take(self, node: Node, ours: Any, event: Event) -> None:
        """Numbers drawn at random are what they are, but finite where eager's all are."""
        with torch.random.fork_rng(_devices(ours)):
            theirs = tree_leaves(self._run(node, *self._arguments_of(node)))
        made = [value for name, _, value in event["values"] if name == node.name]
        if all(map(_is_finite, theirs)) and not all(map(_is_finite, made)):
            self._complain(node, event, "numbers are drawn, but eager's are all finite")
        if len(event["values"]) == 1:
            self._values[node] = _copy(ours)
        else:
            self._values[node] = [_copy(value) for _, _, value in event["values"]]

    def _value(self, node: Node) -> Any:
        if node not in self._values:
            self._values[node] = self._run(node, *self._arguments_of(node))
        return self._values[node]

    def _arguments_of(self, node: Node) -> Any:
        return torch.fx.map_arg((node.args, node.kwargs), self._value)

    def _run(self, node: Node, args: Any, kwargs: Any) -> Any:
        if node.op == "get_attr":
            value: Any = self._module
            for part in str(node.target).split("."):
                value = getattr(value, part)
            return value
        assert callable(node.target)
        with torch.no_grad():
            return node.target(*args, **kwargs)

    def _complain(self, node: Node, event: Event, why: str) -> None:
        if self._apart and len(event["nodes"]) > 1:
            # The same call with every operator a kernel of its own raises at
            # the very node, unless it is fusion that makes the difference.
            apart = Checker(self._module, self._name)
            self._apart(apart)([_copy(value) for value in self._arguments])
        kernel = f"  kernel    {event['kernel']}\n" if event.get("kernel") else ""
        fused = f"  made of   {', '.join(event['nodes'])}\n" if len(event["nodes"]) > 1 else ""
        raise Error(
            f"node `{node.name}` of {self._name} is not what eager gives: {why}\n"
            f"  operator  {node.target}\n{kernel}{fused}"
            f"  line      {source_line(node) or 'unknown'}\n"
            '  hint      options={"executor": "aten"} runs the graph through ATen'
        )


def _is_random(node: Node) -> bool:
    if not isinstance(node.target, OpOverload):
        return False
    schema = node.target._schema.arguments
    given = {parameter.name: parameter.default_value for parameter in schema}
    given |= dict(zip(given, node.args, strict=False)) | node.kwargs
    return draws(node.target, given)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or bool(value.isfinite().all())


def _devices(value: Any) -> list[torch.device]:
    """Whose generators a call that gives this may draw from, besides the host's."""
    is_far = isinstance(value, torch.Tensor) and value.is_cuda
    return [value.device] if is_far else []
