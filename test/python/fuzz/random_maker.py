"""A random PyTorch program while it grows: lines of text, shapes of named extents."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from random_inputs import NAMES, Given, Shape


@dataclass
class Program:
    """A function of the inputs as lines, each of which gives one name its value."""

    inputs: list[Given]
    lines: list[tuple[str, str]]
    results: list[str]

    def text(self) -> str:
        body = []
        known: set[str] = set()
        for given in self.inputs:
            for axis, extent in enumerate(given.shape):
                if extent in NAMES and extent not in known:
                    known.add(extent)
                    body.append(f"{extent} = {given.name}.size({axis})")
        body += [line for _, line in self.lines]
        body.append(f"return {', '.join(self.results)},")
        names = ", ".join(given.name for given in self.inputs)
        return f"def f({names}):\n" + "".join(f"    {line}\n" for line in body)


@dataclass
class Maker:
    """Grows a program line by line; every value's shape and kind are known.

    Kinds: `f` float32 of moderate size, `i` int64 in 0..2, `b` bool."""

    rng: random.Random
    inputs: list[Given] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    values: dict[str, tuple[Shape, str]] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)

    def input(self, shape: Shape, kind: str = "f") -> str:
        hows = ["plain", "permuted", "strided", "offset", "expanded"]
        how = self.rng.choices(hows, [6, 2, 1, 1, 1])[0]
        if how == "expanded" and kind == "f" and not shape:
            how = "plain"
        name = f"x{len(self.inputs)}"
        self.inputs.append(Given(name, shape, kind, how))
        self.values[name] = (shape, kind)
        return name

    def add(self, text: str, shape: Shape, kind: str = "f") -> str:
        name = f"v{len(self.lines)}"
        self.lines.append((name, f"{name} = {text}"))
        self.values[name] = (shape, kind)
        return name

    def pick(self, accept: Callable[[Shape], bool] = lambda _: True, kind: str = "f") -> str | None:
        """A value of the kind, late ones more often."""
        names = [n for n, (shape, k) in self.values.items() if k == kind and accept(shape)]
        if not names:
            return None
        return self.rng.choices(names, [1 + i for i in range(len(names))])[0]

    def shape(self, name: str) -> Shape:
        return self.values[name][0]

    def axis(self, name: str) -> int:
        return self.rng.randrange(len(self.shape(name)))


def factors_of(extent: str) -> list[str]:
    """What stands between the stars that are in no parentheses."""
    parts, depth = [""], 0
    for letter in extent:
        depth += (letter == "(") - (letter == ")")
        if letter == "*" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def product(*extents: str) -> str:
    factors = sorted(f for e in extents for f in factors_of(e) if f != "1")
    return "*".join(factors) or "1"


def literal(shape: Shape) -> str:
    return "(" + "".join(f"{extent}, " for extent in shape) + ")"
