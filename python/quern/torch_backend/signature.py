"""Shapes and dtypes of a declaration's results, from its signature alone."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .debug.record import TYPES

_DTYPES = {name: dtype for dtype, name in TYPES.items()}
_ACCUMULATORS = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
}


def split_pattern(text: str) -> tuple[str, list[str] | None]:
    """`T[*R, C]` as its element and axes; no axes where there are no brackets.

    >>> split_pattern("T[*R, C]")
    ('T', ['*R', 'C'])
    """
    text = re.sub(r"^\(?\s*\w+\s*:\s*", "", text).strip().rstrip("?)") if ":" in text else text
    match = re.fullmatch(r"([\w()]+)\[(.*)\]\??", text.strip())
    if not match:
        return text.strip().rstrip("?"), None
    axes = [axis.strip() for axis in match.group(2).split(",")]
    return match.group(1), [axis for axis in axes if axis]


class Signature:
    """What a call of one declaration gives."""

    def __init__(self, declaration: Mapping[str, Any]) -> None:
        self._name = declaration["name"]
        self._is_elementwise = declaration["kind"] == "elementwise"
        given = (p for p in declaration["parameters"] if not p["compile_time"])
        self._parameters = list(given)
        self._results = declaration["results"]

    def results(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """Empty tensors like the results, for the parameters' values in order."""
        axes: dict[str, Any] = {}
        types: dict[str, torch.dtype] = {}
        shapes = []
        like = None
        for parameter, value in zip(self._parameters, values, strict=True):
            if not isinstance(value, torch.Tensor):
                axes[parameter["name"]] = value
                continue
            like = value if like is None else like
            shapes.append(value.shape)
            element, pattern = split_pattern(parameter["type"])
            types.setdefault(element, value.dtype)
            if pattern is not None:
                self._bind(pattern, value.shape, axes)
        if like is None:
            raise NotImplementedError(f"`{self._name}` takes no tensor")
        made = []
        for result in self._results:
            element, pattern = split_pattern(result)
            shape: Sequence[Any] = (
                torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
                if self._is_elementwise
                else self._shape(pattern or [], axes)
            )
            made.append(like.new_empty(shape, dtype=_dtype(element, types)))
        return made

    def _bind(self, pattern: Sequence[str], shape: Sequence[Any], axes: dict[str, Any]) -> None:
        extra = len(shape) - len(pattern)
        at = 0
        for axis in pattern:
            if axis.startswith("*"):
                # A pack takes what the axes by its side leave.
                axes.setdefault(axis[1:], tuple(shape[at : at + extra + 1]))
                at += extra + 1
                continue
            if axis.isidentifier():
                axes.setdefault(axis, shape[at])
            at += 1

    def _shape(self, pattern: Sequence[str], axes: dict[str, Any]) -> list[Any]:
        shape: list[Any] = []
        for axis in pattern:
            name, _, extent = axis.partition("=")
            value = _evaluate((extent or name).strip().lstrip("*"), axes)
            if extent:
                axes[name.strip()] = value
            if isinstance(value, tuple):
                shape += value
            else:
                shape.append(value)
        return shape


def _dtype(element: str, types: Mapping[str, torch.dtype]) -> torch.dtype:
    if element in types:
        return types[element]
    if inner := re.fullmatch(r"acc\((\w+)\)", element):
        dtype = _dtype(inner.group(1), types)
        return _ACCUMULATORS.get(dtype, dtype)
    if element in _DTYPES:
        return _DTYPES[element]
    raise NotImplementedError(f"the element type `{element}` does not follow from the arguments")


def _evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """An extent expression with the extents and scalars of a call."""

    def value(node: ast.AST) -> Any:
        match node:
            case ast.Expression(body=body):
                return value(body)
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](value(operand))
            case _:
                raise NotImplementedError(f"the extent `{text}` is not known before the call")

    return value(ast.parse(text, mode="eval"))
