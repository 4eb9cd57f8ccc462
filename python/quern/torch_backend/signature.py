"""Types and shapes of a declaration's results for tensors that have no memory yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..torch_names import _disable_current_modes, tree_leaves, tree_map
from .extents import Axes, pattern_of

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
Made = torch.Tensor | list[torch.Tensor] | None
# What the binder says of one result: an element type's name and sizes.
Spec = tuple[str, Sequence[int]]


def run_time(declaration: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parameters in parentheses."""
    return [p for p in declaration["parameters"] if not p["compile_time"]]


def call_kernel(function: Any, parameters: Sequence[Mapping[str, Any]], values: Any) -> Any:
    """Calls a kernel, or asks for its results, leaving out numbers that keep their default."""
    given = {
        parameter["name"]: value
        for parameter, value in zip(parameters, values, strict=True)
        if value is not None or parameter["tensor"]
    }
    return function(**given)


class Signature:
    """What a call of one declaration gives. The binder says it for sizes that are known;
    of symbolic ones the declaration's own extents are evaluated, and where they say less
    than the binder the sizes become constants of the graph."""

    def __init__(self, declaration: Mapping[str, Any], kernel: Any) -> None:
        self._kernel = kernel
        self._is_elementwise = declaration["kind"] == "elementwise"
        self._parameters = run_time(declaration)
        self._results = declaration["results"]

    def results(self, values: Sequence[Any]) -> list[Made]:
        """Empty tensors like the results, for the parameters' values in order."""
        tensors = [each for each in tree_leaves(values) if isinstance(each, torch.Tensor)]
        like = tensors[0] if tensors else torch.empty(())
        sizes = [each for tensor in tensors for each in tensor.shape]
        specs = self._specs(values, _hint)
        if not any(isinstance(each, _SYMBOLIC) for each in [*sizes, *tree_leaves(values)]):
            return [_empty(like, spec) for spec in specs]
        shapes = self._symbolic_shapes(values, specs)
        if shapes is None:
            return [_empty(like, spec) for spec in self._specs(values, int)]
        return [
            _empty(like, spec and (spec[0], shape))
            for spec, shape in zip(specs, shapes, strict=True)
        ]

    def _specs(self, values: Sequence[Any], known: Callable[[Any], int]) -> list[Any]:
        """What the binder says for tensors of these shapes, which need no memory."""

        def stand_in(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                sizes = [known(n) for n in value.shape]
                return torch.empty((), dtype=value.dtype, device="cpu").expand(sizes)
            if isinstance(value, torch.SymFloat):
                return float(known(value)) if known is int else value.node.hint
            return known(value) if isinstance(value, _SYMBOLIC) else value

        with _disable_current_modes():
            stand_ins = tree_map(stand_in, list(values))
            return list(call_kernel(self._kernel.results, self._parameters, stand_ins))

    def _symbolic_shapes(self, values: Sequence[Any], specs: Sequence[Any]) -> list[Any] | None:
        """The shape of each result, or nothing where not all of them can be told."""
        axes = Axes()
        tensors = []
        for parameter, value in zip(self._parameters, values, strict=True):
            if isinstance(value, torch.Tensor):
                tensors.append(value.shape)
                axes.add_tensor(parameter["type"], value.shape)
            elif value is not None and not isinstance(value, list):
                axes.add_number(parameter["name"], value)
            elif value is not None and not parameter["tensor"]:
                axes.add_number(parameter["name"], tuple(value))
        axes.solve()
        shapes: list[Any] = []
        for written, spec in zip(self._results, specs, strict=True):
            if self._is_elementwise:
                shape: Any = torch.broadcast_shapes(*tensors)  # type: ignore[no-untyped-call]
            else:
                shape = None if isinstance(spec, list) else axes.shape(pattern_of(written))
            if spec is not None and (shape is None or [_hint(n) for n in shape] != list(spec[1])):
                return None
            shapes.append(shape)
        return shapes


def _hint(size: Any) -> int:
    """The size that the tracer saw."""
    if not isinstance(size, _SYMBOLIC):
        return int(size)
    hint = size.node.hint
    if hint is None:
        raise NotImplementedError(f"the size `{size}` depends on values: no shape follows from it")
    return int(hint)


def _empty(like: torch.Tensor, spec: Any) -> Made:
    if spec is None:
        return None
    if isinstance(spec, list):
        return [like.new_empty(sizes, dtype=getattr(torch, name)) for name, sizes in spec]
    return like.new_empty(spec[1], dtype=getattr(torch, spec[0]))
