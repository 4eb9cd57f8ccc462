"""Extents of named axes, `T[*R, (G C)]` and `P = (H - k) // s + 1`, with symbolic sizes."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
}
# `*S` in an extent: an operand with a value for each axis of the pack.
_PACK = re.compile(r"(^|[(,+\-*/%])\s*\*\s*(?=[A-Za-z_])")


class _UnknownError(Exception):
    """An extent that does not follow from what is known."""


def pattern_of(text: str) -> list[str]:
    """The axes of a type; none where there are no brackets.

    >>> pattern_of("y: T[*R, (G C), P = windows(H, k)]?")
    ['*R', '(G C)', 'P = windows(H, k)']
    """
    match = re.search(r"\[(.*)\]\s*\??\)?$", text.strip())
    if not match:
        return []
    axes, depth = [""], 0
    for letter in match.group(1):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            axes.append("")
        else:
            axes[-1] += letter
    return [axis.strip() for axis in axes if axis.strip()]


class Axes:
    """What is known of one call: numbers by name, and tensors' shapes with their axes."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._tensors: list[tuple[list[str], Sequence[Any]]] = []

    def add_number(self, name: str, value: Any) -> None:
        """A parameter that is a number, or a tuple of them."""
        self._known[name] = value

    def add_tensor(self, written: str, shape: Sequence[Any]) -> None:
        """A tensor parameter's type as it is written, and its shape."""
        self._tensors.append((pattern_of(written), shape))

    def solve(self) -> None:
        """Finds every axis that one of the tensors tells."""
        count = -1
        while count != len(self._known):
            count = len(self._known)
            for pattern, shape in self._tensors:
                self._bind(pattern, shape)

    def _bind(self, pattern: Sequence[str], shape: Sequence[Any]) -> None:
        packs = [axis[1:] for axis in pattern if axis.startswith("*")]
        unknown = [name for name in packs if not isinstance(self._known.get(name), tuple)]
        if len(unknown) > 1:
            return
        left = len(shape) - (len(pattern) - len(packs))
        left -= sum(len(self._known[name]) for name in packs if name not in unknown)
        at = 0
        for axis in pattern:
            name = axis.lstrip("*")
            width = 1
            if axis.startswith("*"):
                width = left if name in unknown else len(self._known[name])
                self._known[name] = tuple(shape[at : at + width])
            elif axis.startswith("("):
                self._split(axis[1:-1].split(), shape[at])
            elif axis.isidentifier():
                self._known.setdefault(axis, shape[at])
            at += width

    def _split(self, factors: Sequence[str], extent: Any) -> None:
        open_ones = [name for name in factors if not name.isdigit() and name not in self._known]
        if len(open_ones) != 1:
            return
        rest = [self._factor(name) for name in factors if name != open_ones[0]]
        self._known[open_ones[0]] = extent // math.prod(rest)

    def _factor(self, name: str) -> Any:
        return int(name) if name.isdigit() else self._known[name]

    def shape(self, pattern: Sequence[str]) -> list[Any] | None:
        """The sizes of a result, or nothing where they do not follow."""
        sizes: list[Any] = []
        try:
            for axis in pattern:
                name, _, extent = axis.partition("=")
                value = self._extent((extent or name).strip())
                if extent:
                    self._known[name.strip().lstrip("*")] = value
                sizes += value if isinstance(value, tuple) else [value]
        except _UnknownError:
            return None
        return sizes

    def _extent(self, text: str) -> Any:
        if re.fullmatch(r"\(\s*\w+(\s+\w+)+\s*\)", text):
            factors = text[1:-1].split()
            return math.prod(self._value(ast.parse(name, mode="eval").body) for name in factors)
        try:
            return self._value(ast.parse(_PACK.sub(r"\1 ", text).strip(), mode="eval").body)
        except SyntaxError:
            raise _UnknownError from None

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name) if name in self._known:
                return self._known[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return _each(_OPERATIONS[type(op)], self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATIONS:
                return _each(_OPERATIONS[type(op)], self._value(operand))
            case ast.Call(func=ast.Name(id="size"), args=[operand]):
                value = self._value(operand)
                return math.prod(value) if isinstance(value, tuple) else value
            case _:
                raise _UnknownError


def _each(operation: Callable[..., Any], *operands: Any) -> Any:
    """One value for each axis where an operand is a pack."""
    ranks = {len(each) for each in operands if isinstance(each, tuple)}
    if not ranks:
        return operation(*operands)
    if len(ranks) > 1:
        raise _UnknownError
    rank = ranks.pop()
    spread = [each if isinstance(each, tuple) else (each,) * rank for each in operands]
    return tuple(operation(*values) for values in zip(*spread, strict=True))
