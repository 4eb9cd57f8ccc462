"""Symbolic sizes of a traced graph, from sympy to the graph's own expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import sympy  # type: ignore[import-untyped]
import torch

from ..torch_names import SymT, symbol_is_type


class SizeBuilder(Protocol):
    """The part of the native graph builder that makes size expressions."""

    def constant(self, value: int) -> int:
        """The integer `value`."""

    def real(self, value: float) -> int:
        """The float `value`."""

    def symbol(self, name: str, hint: float) -> int:
        """The symbol called `name`, worth `hint` while tracing."""

    def apply(self, op: str, operands: list[int]) -> int:
        """An operation of the table in SizeOps.def."""


# torch's and sympy's functions by name; all take their operands in order.
_OPERATIONS = {
    "Add": "+",
    "Mul": "*",
    "Pow": "**",
    "PowByNatural": "**",
    "FloatPow": "**",
    "FloorDiv": "//",
    "CleanDiv": "//",
    "CeilDiv": "ceildiv",
    "Mod": "%",
    "PythonMod": "%",
    "IntTrueDiv": "/",
    "FloatTrueDiv": "/",
    "Min": "min",
    "Max": "max",
    "ToFloat": "float",
    "TruncToInt": "trunc",
    "TruncToFloat": "trunc",
    "FloorToInt": "floor",
    "floor": "floor",
    "CeilToInt": "ceil",
    "ceiling": "ceil",
    "RoundToInt": "round",
    "Abs": "abs",
    "BitwiseFn_bitwise_and": "&",
    "BitwiseFn_bitwise_or": "|",
    "BitwiseFn_bitwise_xor": "^",
    "LShift": "<<",
    "RShift": ">>",
    "OpaqueUnaryFn_sqrt": "sqrt",
    "OpaqueUnaryFn_exp": "exp",
    "OpaqueUnaryFn_log": "log",
    "OpaqueUnaryFn_log2": "log2",
    "OpaqueUnaryFn_sin": "sin",
    "OpaqueUnaryFn_cos": "cos",
    "OpaqueUnaryFn_tan": "tan",
    "OpaqueUnaryFn_sinh": "sinh",
    "OpaqueUnaryFn_cosh": "cosh",
    "OpaqueUnaryFn_tanh": "tanh",
    "OpaqueUnaryFn_asin": "asin",
    "OpaqueUnaryFn_acos": "acos",
    "OpaqueUnaryFn_atan": "atan",
    "OpaqueUnaryFn_asinh": "asinh",
    "Equality": "==",
    "Unequality": "!=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
    "And": "and",
    "Or": "or",
    "Not": "not",
    "Where": "select",
}


def _is_float(symbol: sympy.Symbol) -> bool:
    return bool(symbol_is_type(symbol, (SymT.FLOAT, SymT.UNBACKED_FLOAT)))


class UnknownSizeError(Exception):
    """What stands for a size is none."""


Compute = Callable[[sympy.Basic, list[sympy.Symbol]], int]


class Sizes:
    """Turns SymInts and numbers into expression numbers of one builder."""

    def __init__(self, builder: SizeBuilder, compute: Compute) -> None:
        self._builder = builder
        self._compute = compute
        self._known: dict[sympy.Basic, int] = {}
        self._hints: dict[sympy.Basic, float] = {}

    def of(self, value: object) -> int:
        """The expression of a number, plain or symbolic."""
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            expr = value.node.expr
            if expr not in self._known:
                self._note_hints(value, expr)
            return self._expression(expr)
        if isinstance(value, float):
            return self._builder.real(value)
        if isinstance(value, (int, bool)):
            return self._builder.constant(int(value))
        raise UnknownSizeError(f"`{value}` is not a size")

    def of_expression(self, expr: sympy.Basic) -> int:
        """The expression of what torch's own bookkeeping says of sizes."""
        return self._expression(expr)

    def knows(self, symbol: sympy.Basic) -> bool:
        """Whether the graph so far has the symbol."""
        return symbol in self._known

    def hint(self, symbol: sympy.Basic) -> float:
        """What the symbol was worth while tracing."""
        return self._hints.get(symbol, 2.0 if _is_float(symbol) else 2)

    def of_all(self, values: Sequence[object]) -> list[int]:
        """The expressions of several sizes or strides."""
        return [self.of(value) for value in values]

    def result_of(self, value: object) -> int:
        """Likewise, for what a node brings in: a bool read from a tensor is
        traced as `u0 == 1`, and it is `u0` that the node defines."""
        if isinstance(value, torch.SymBool):
            symbols = value.node.expr.free_symbols
            if len(symbols) == 1:
                return self._expression(next(iter(symbols)))
        return self.of(value)

    def _note_hints(self, value: Any, expr: sympy.Basic) -> None:
        known = value.node.shape_env.backed_var_to_val
        for symbol in expr.free_symbols:
            if symbol in known:
                kind = float if _is_float(symbol) else int
                self._hints[symbol] = kind(known[symbol])

    def _expression(self, expr: sympy.Basic) -> int:
        known = self._known.get(expr)
        if known is None:
            known = self._known[expr] = self._build(expr)
        return known

    def _build(self, expr: sympy.Basic) -> int:
        leaf = self._leaf(expr)
        if leaf is not None:
            return leaf
        name = type(expr).__name__
        if name == "ModularIndexing":
            base, divisor, modulus = map(self._expression, expr.args)
            quotient = self._builder.apply("//", [base, divisor])
            return self._builder.apply("%", [quotient, modulus])
        if name == "Piecewise":
            return self._piecewise(expr)
        if name == "Identity":
            return self._expression(expr.args[0])
        operation = _OPERATIONS.get(name)
        if operation is None:
            return self._compute(expr, sorted(expr.free_symbols, key=str))
        operands = [self._expression(arg) for arg in expr.args]
        return self._builder.apply(operation, operands)

    def _leaf(self, expr: sympy.Basic) -> int | None:
        if isinstance(expr, sympy.Symbol):
            return self._builder.symbol(expr.name, self.hint(expr))
        if expr is sympy.true or expr is sympy.false:
            return self._builder.constant(int(expr is sympy.true))
        if isinstance(expr, sympy.Integer):
            return self._builder.constant(int(expr))
        if isinstance(expr, sympy.Number):
            return self._builder.real(float(expr))
        return None

    def _piecewise(self, expr: sympy.Basic) -> int:
        chosen: int | None = None
        for value, condition in reversed(expr.args):
            this = self._expression(value)
            if chosen is None:
                chosen = this
                continue
            operands = [self._expression(condition), this, chosen]
            chosen = self._builder.apply("select", operands)
        if chosen is None:
            raise UnknownSizeError(f"the size `{expr}` has no case")
        return chosen
