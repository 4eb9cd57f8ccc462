"""What a trace took for granted of sizes that only a call knows."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch.fx.node import Node

from ..torch_names import (
    OpOverload,
    PythonReferenceAnalysis,
    SymT,
    _assert_async,
    _side_effectful_functions,
    int_oo,
    symbol_is_type,
    sympy_interp,
    tree_leaves,
)
from .decompositions.data_sizes import DATA_SIZES
from .sizes import Sizes
from .source_lines import source_line

_SYMBOLS = {
    "Equality": "==",
    "Unequality": "!=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
}
# torch's own message of what it inserts; it says no value.
_OWN_MESSAGE = "Runtime assertion failed for expression"
_ENDLESS = {sympy.oo, -sympy.oo, int_oo, -int_oo}


def shape_env_of(module: torch.fx.GraphModule) -> Any:
    """torch's bookkeeping of the sizes in a graph; none where nothing is symbolic."""
    for node in module.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                return value.node.shape_env
            mode = getattr(value, "fake_mode", None)
            if mode is not None and mode.shape_env is not None:
                return mode.shape_env
    return None


_DATA_TAGS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


@contextlib.contextmanager
def sizes_kept(module: torch.fx.GraphModule) -> Iterator[None]:
    """Inside, what defines a size that depends on data is not left out of a graph for want of a
    reader: a trace that found the size equal to another one reads the other, and nobody would
    see that they differ."""
    defining = [node.target for node in module.graph.nodes if node.meta.get("unbacked_bindings")]
    if not defining:
        yield
        return
    own = {each for each in defining if isinstance(each, OpOverload)}
    kept = {each for each in (*DATA_SIZES, *own) if _DATA_TAGS & set(each.tags)}
    kept -= _side_effectful_functions
    _side_effectful_functions.update(kept)
    try:
        yield
    finally:
        _side_effectful_functions.difference_update(kept)


def compare_numbers(module: torch.fx.GraphModule) -> None:
    """Compares a number read from a tensor with what Dynamo found it equal to, as tensors. Once
    they are one number to torch, its tracer leaves the reading out."""
    graph, changed = module.graph, False
    for node in list(graph.nodes):
        if node.target is not operator.eq or not _is_asserted(node):
            continue
        for number, other in (node.args, reversed(node.args)):
            if not (isinstance(number, Node) and number.target == "item"):
                continue
            text = f"the program was compiled for {number} == {other} ({source_line(number)})"
            with graph.inserting_after(node):
                same = graph.call_function(torch.eq, (number.args[0], other))
            with graph.inserting_after(same):
                asserted = graph.call_function(_assert_async, (same, text))
            for made in (same, asserted):
                made.meta["stack_trace"] = number.meta.get("stack_trace")
            changed = True
    if changed:
        module.recompile()


def _is_asserted(node: Node) -> bool:
    return any("_assert_scalar" in str(user.target) for user in node.users)


def without_unread_sizes(module: torch.fx.GraphModule) -> None:
    """Leaves out what `sizes_kept` kept, where tracing found its sizes equal to no others."""
    shapes = shape_env_of(module)
    defining = [node for node in module.graph.nodes if node.meta.get("unbacked_bindings")]
    roots = Counter(shapes.replace(each) for node in defining for each in _symbols(node))
    for node in reversed(defining):
        own = [shapes.replace(each) for each in _symbols(node)]
        is_free = all(_is_unbacked(root) and roots[root] == 1 for root in own)
        known = isinstance(node.target, OpOverload)
        if known and not node.users and is_free and not node.target._schema.is_mutable:
            module.graph.erase_node(node)


def _symbols(node: Node) -> list[sympy.Symbol]:
    return list(node.meta.get("unbacked_bindings") or ())


def _is_unbacked(symbol: sympy.Basic) -> bool:
    kinds = (SymT.UNBACKED_INT, SymT.UNBACKED_FLOAT)
    return isinstance(symbol, sympy.Symbol) and bool(symbol_is_type(symbol, kinds))


def _text(expr: sympy.Basic) -> str:
    operation = _SYMBOLS.get(type(expr).__name__)
    return f"{expr.args[0]} {operation} {expr.args[1]}" if operation else str(expr)


def computed(
    expr: sympy.Basic, symbols: list[sympy.Symbol], hints: list[float]
) -> tuple[Callable[..., list[Any]], str, float]:
    """A function that computes `expr` from the symbols' values, the kind of its result,
    and the result for `hints`."""

    kind: type = float
    if isinstance(expr, sympy.logic.boolalg.Boolean):
        kind = bool
    elif expr.is_integer:
        kind = int

    def call(*values: Any) -> list[Any]:
        known = dict(zip(symbols, values, strict=True))
        return [kind(sympy_interp(PythonReferenceAnalysis, known, expr))]

    [hint] = call(*hints)
    return call, kind.__name__, int(hint) if kind is bool else hint


class Assumptions:
    """Tells a builder what every call is to look at, each thing once."""

    def __init__(self, builder: Any, sizes: Sizes, shape_env: Any) -> None:
        self._builder = builder
        self._sizes = sizes
        self._shapes = shape_env
        self._told: dict[int, tuple[Any, ...]] = {}
        self._lines: dict[sympy.Basic, str] = {}

    def before(self, node: Node) -> set[sympy.Basic]:
        """The roots of what `node` defines that other nodes or inputs defined already."""
        roots = {self._shapes.replace(each) for each in _symbols(node)}
        return {root for root in roots if self._sizes.knows(root)}

    def after(self, node: Node, known: set[sympy.Basic]) -> None:
        """Has the results of a node whose sizes depend on data compared with what tracing
        found them equal to."""
        bindings = node.meta.get("unbacked_bindings")
        if not bindings or node.target is operator.getitem:
            return
        equal = []
        for symbol in bindings:
            root = self._shapes.replace(symbol)
            self._lines.setdefault(root, source_line(node))
            if root in known or not isinstance(root, sympy.Symbol):
                equal.append(f"{symbol} == {root}")
        self._builder.defines_sizes(", ".join(equal))

    def add(self, value: object, message: str, source: str) -> None:
        """A condition that the graph itself asserts."""
        message = "" if message.startswith(_OWN_MESSAGE) else message
        if isinstance(value, torch.SymBool):
            self._tell(value.node.expr, message, source)
        elif not value:
            self._tell(sympy.false, message, source)

    def finish(self) -> None:
        """Adds what torch noted and would assert later, and the ranges it reckoned with. The
        user's own conditions come first: others may follow from them."""
        self._add_noted()
        for each in sorted(self._told.values(), key=lambda each: not each[3]):
            self._builder.assume(*each)

    def _add_noted(self) -> None:
        if self._shapes is None:
            return
        for deferred in self._shapes.deferred_runtime_asserts.values():
            for each in deferred:
                expr = self._shapes.replace(each.expr)
                if all(self._sizes.knows(symbol) for symbol in expr.free_symbols):
                    self._tell(expr, "", "")
        for symbol, values in self._shapes.var_to_range.items():
            if not (_is_unbacked(symbol) and self._sizes.knows(symbol)):
                continue
            if values.lower not in _ENDLESS:
                self._tell(sympy.Ge(symbol, values.lower, evaluate=False), "", "")
            if values.upper not in _ENDLESS and values.upper < sys.maxsize - 1:
                self._tell(sympy.Le(symbol, values.upper, evaluate=False), "", "")

    def _tell(self, expr: sympy.Basic, message: str, source: str) -> None:
        if expr == sympy.true:
            return
        holds = self._sizes.of_expression(expr)
        if holds in self._told:
            return
        symbols = sorted(expr.free_symbols, key=str)
        compared = expr.args if type(expr).__name__ in _SYMBOLS else symbols
        sides = [self._sizes.of_expression(each) for each in compared]
        lines = (self._lines.get(each, "") for each in symbols)
        line = source or next((each for each in lines if each), "")
        self._told[holds] = (holds, sides, _text(expr), message, line)
