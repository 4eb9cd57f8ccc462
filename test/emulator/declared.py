"""Reads what a declaration says in front of its body: parameters, axes, results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: Brackets that hold commas and colons of their own.
OPEN, CLOSE = "([{", ")]}"
#: What `quern build` takes for a type parameter that does not admit f32.
TAKEN = {"Int": "i64", "Integral": "i64", "Bool": "bool", "Complex": "c64"}


@dataclass
class Typed:
    """`mut U[N, (G C), *S]?`: an element, and axes unless it is a number."""

    element: str
    #: The parts of each axis: several where they are joined.
    axes: list[list[str]] | None = None
    mutable: bool = False
    listed: bool = False


@dataclass
class Parameter:
    """A name, its type, and the default if there is one."""

    name: str
    typed: Typed
    default: str = ""


@dataclass
class Declaration:
    """Everything up to the colon."""

    kind: str
    name: str
    #: Constraints of type parameters, and what the others say they are.
    types: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    parameters: list[Parameter] = field(default_factory=list)
    results: list[Typed] = field(default_factory=list)

    @property
    def packs(self) -> list[str]:
        """The names of all packs that tensors among the parameters have."""
        tensors = [p.typed for p in self.parameters if p.typed.element != "int"]
        parts = [part for one in tensors for axis in one.axes or [] for part in axis]
        return sorted({part[1:] for part in parts if part[0] == "*"})


def level(text: str, begin: int) -> int:
    """The place behind the bracket that closes the one at `begin`."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] in OPEN) - (text[place] in CLOSE)
        if depth == 0:
            return place + 1
    raise ValueError(f"no end of {text[begin : begin + 40]}")


def split(text: str, mark: str = ",") -> list[str]:
    """The parts between marks that stand in no brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += (one in OPEN) - (one in CLOSE)
        if one == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += one
    return [part.strip() for part in parts if part.strip()]


def typed(text: str) -> Typed:
    text = text.strip().removesuffix("?")
    made = Typed("", mutable=text.startswith("mut "))
    text = text.removeprefix("mut ").strip()
    if text.startswith("list["):
        made = typed(text.removeprefix("list[")[:-1])
        made.listed = True
        return made
    made.element, _, rest = text.partition("[")
    if rest:
        made.axes = [one.split("=")[0].strip("() ").split() for one in split(rest[:-1])]
    return made


def declared(text: str, name: str) -> Declaration:
    """The declaration with this name in a module's text."""
    found = re.search(rf"^(\w+) {name}(?=[\[(])", text, re.MULTILINE)
    if not found:
        raise ValueError(f"no {name}")
    made, place = Declaration(found[1], name), found.end()
    if text[place] == "[":
        end = level(text, place)
        for one in split(text[place + 1 : end - 1]):
            parameter, _, kind = one.partition(":")
            kept = made.types if kind.strip()[0].isupper() else made.constants
            kept[parameter.strip()] = kind.strip()
        place = end
    end = level(text, place)
    for one in split(text[place + 1 : end - 1]):
        parameter, _, kind = one.partition(":")
        kind, *default = split(kind, "=")
        made.parameters.append(Parameter(parameter.strip(), typed(kind), "".join(default)))
    results = re.match(r"\s*->\s*", text[end:])
    if results:
        begin = end + results.end()
        listed = text[begin : split_end(text, begin)]
        inside = listed[1:-1] if listed[0] == "(" else listed
        made.results = [typed(one) for one in split(inside)]
    return made


def split_end(text: str, begin: int) -> int:
    """The place of the next colon that stands in no brackets."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] in OPEN) - (text[place] in CLOSE)
        if text[place] == ":" and depth == 0:
            return place
    raise ValueError("no colon")
