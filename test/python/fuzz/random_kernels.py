"""Random well-typed `elementwise` kernels: text, and what it means on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st
from scalar_reference import (
    BINARY,
    FLOATS,
    INTEGERS,
    TORCH,
    TYPES,
    UNARY,
    Array,
    cast,
    is_float,
)

Environment = dict[str, Array]
Meaning = Callable[[Environment], Array]


@dataclass(frozen=True)
class Term:
    """A piece of text of element type `type`, and its value."""

    text: str
    type: str
    meaning: Meaning


@dataclass
class Kernel:
    """A kernel `k` as text, and what it gives."""

    source: str
    parameters: list[tuple[str, str]]
    result: str
    evaluate: Meaning


def number(t: str, draw: st.DrawFn) -> Term:
    """A literal, made typed by a cast, so that its type is never in question."""
    if t == "bool":
        value = draw(st.booleans())
        return Term(str(value).lower(), t, lambda _: np.asarray(value))
    if is_float(t):
        quarter = draw(st.integers(-40, 40))
        text = f"{t}({quarter / 4})"
        return Term(text, t, lambda _: cast(np.asarray(quarter / 4), "f64", t))
    low = 0 if t.startswith("u") else -9
    whole = draw(st.integers(low, 9))
    return Term(f"{t}({whole})", t, lambda _: cast(np.asarray(whole), "i64", t))


def binary_operators(t: str) -> list[str]:
    if t == "bool":
        return ["and", "or", "&", "|", "^"]
    if is_float(t):
        return ["+", "-", "*", "/", "max", "min"]
    return ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "max", "min"]


def unary_operators(t: str) -> list[str]:
    if t == "bool":
        return ["not"]
    if is_float(t):
        return ["-", "abs", "sqrt", "floor", "ceil", "trunc", "rint"]
    return ["-", "~"]


class Builder:
    """Draws expressions over the names that are bound so far."""

    def __init__(self, draw: st.DrawFn, bound: list[Term]) -> None:
        self.draw, self.bound = draw, bound

    def expression(self, t: str, depth: int) -> Term:
        leaves = [term for term in self.bound if term.type == t]
        if depth == 0:
            if leaves and self.draw(st.integers(0, 3)):
                return self.draw(st.sampled_from(leaves))
            return self.cast(t, 0) if self.draw(st.booleans()) else number(t, self.draw)
        forms = [self.binary, self.unary, self.cast, self.conditional]
        if t == "bool":
            forms.append(self.comparison)
        return self.draw(st.sampled_from(forms))(t, depth - 1)

    def binary(self, t: str, depth: int) -> Term:
        op = self.draw(st.sampled_from(binary_operators(t)))
        left, right = self.expression(t, depth), self.expression(t, depth)
        call = op in ("max", "min")
        text = f"{op}({left.text}, {right.text})" if call else f"({left.text} {op} {right.text})"
        return Term(text, t, lambda e: BINARY[op](left.meaning(e), right.meaning(e)))

    def unary(self, t: str, depth: int) -> Term:
        op = self.draw(st.sampled_from(unary_operators(t)))
        operand = self.expression(t, depth)
        name = op.isidentifier() and op != "not"
        text = f"{op}({operand.text})" if name else f"({op} {operand.text})"
        return Term(text, t, lambda e: UNARY[op](operand.meaning(e)))

    def cast(self, t: str, depth: int) -> Term:
        bound = [term.type for term in self.bound]
        source = self.draw(st.sampled_from(bound if depth == 0 and bound else TYPES))
        leaves = [term for term in self.bound if term.type == source]
        operand = leaves[0] if depth == 0 and leaves else self.expression(source, depth)
        return Term(f"{t}({operand.text})", t, lambda e: cast(operand.meaning(e), source, t))

    def conditional(self, t: str, depth: int) -> Term:
        condition = self.expression("bool", depth)
        left, right = self.expression(t, depth), self.expression(t, depth)
        return Term(
            f"({left.text} if {condition.text} else {right.text})",
            t,
            lambda e: np.where(condition.meaning(e), left.meaning(e), right.meaning(e)),
        )

    def comparison(self, _: str, depth: int) -> Term:
        t = self.draw(st.sampled_from(TYPES[:-1]))
        op = self.draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        if is_float(t) and self.draw(st.integers(0, 5)) == 0:
            test = self.draw(st.sampled_from(["isnan", "isinf"]))
            operand = self.expression(t, depth)
            return Term(
                f"{test}({operand.text})", "bool", lambda e: UNARY[test](operand.meaning(e))
            )
        left, right = self.expression(t, depth), self.expression(t, depth)
        return Term(
            f"({left.text} {op} {right.text})",
            "bool",
            lambda e: BINARY[op](left.meaning(e), right.meaning(e)),
        )


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
    result = draw(st.sampled_from([*FLOATS, *INTEGERS, "bool"]))
    parameters = [(f"p{i}", t) for i, t in enumerate(types)]
    bound = [Term(n, t, lambda e, n=n: e[n]) for n, t in parameters]  # type: ignore[misc]
    lines, lets = [], []
    for i in range(draw(st.integers(0, 3))):
        term = Builder(draw, bound).expression(draw(st.sampled_from(TYPES)), 2)
        lines.append(f"    let v{i} = {term.text}")
        lets.append((f"v{i}", term.meaning))
        name = f"v{i}"
        bound.append(Term(name, term.type, lambda e, n=name: e[n]))  # type: ignore[misc]
    final = Builder(draw, bound).expression(result, 3)
    lines.append(f"    return {final.text}")

    def evaluate(environment: Environment) -> Array:
        values = dict(environment)
        for name, meaning in lets:
            values[name] = meaning(values)
        return final.meaning(values)

    written = ", ".join(f"{n}: {t}" for n, t in parameters)
    source = f"elementwise k({written}) -> {result}:\n" + "\n".join(lines) + "\n"
    return Kernel(source, parameters, result, evaluate)


def values(t: str, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Elements with many edges among them."""
    rng = np.random.default_rng(seed)
    if t == "bool":
        return torch.from_numpy(np.asarray(rng.integers(0, 2, shape)).astype(bool))
    if is_float(t):
        plain = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
        edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 3e4, -128.5])
        picked = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), plain)
        return torch.from_numpy(np.asarray(picked)).to(TORCH[t])
    info = torch.iinfo(TORCH[t])
    small = rng.integers(0 if info.min == 0 else -9, 10, shape)
    edges = np.array([info.min, info.max, 0, 1], dtype=object)
    picked = np.where(rng.random(shape) < 0.3, rng.choice(edges, shape), small)
    held = np.asarray(picked, dtype=object).astype(f"{'u' if info.min == 0 else ''}int{info.bits}")
    return torch.from_numpy(np.array(held))


def same_bits(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal bits; one NaN is as good as another."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if not got.dtype.is_floating_point:
        return bool(torch.equal(got, wanted))
    a, b = got.double().numpy(), wanted.double().numpy()
    same = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(same | (np.isnan(a) & np.isnan(b))))
