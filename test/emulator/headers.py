"""Reads what a kernel takes from its text in the qn dialect."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADER = re.compile(
    r"qn\.(?:rowwise|kernel) @\w+ axes \[(?P<axes>[^\]]*)\]"
    r"(?P<wide> wide)?(?: listed)?(?: staged \d+)?\s*"
    r"(?:attributes \{.*?array<i64(?:: (?P<numbers>[^>]*))?>\})?\s*\((?P<arguments>[^{]*)\) \{"
)
OPERAND = re.compile(
    r"%\w+: (?:!qn\.tensor<(?P<element>\w+|complex<\w+>), \[(?P<axes>[^\]]*)\]>|(?P<scalar>\w+))"
)

STORED = r"qn\.store %[\w#]+, %arg(\d+)"


@dataclass
class Operand:
    """A tensor parameter: its place among the operands, and its axes."""

    number: int
    element: str
    axes: list[str]


@dataclass
class Header:
    """Axes and operands of a kernel; the last operands are its results."""

    axes: list[str]
    operands: list[Operand]
    scalars: int
    results: int
    #: Operands and the types of scalars, as the text has them.
    order: list[Operand | str]
    #: The axis along which tensors of a list are joined.
    joined: str = ""


def names(listed: str) -> list[str]:
    return [one.split(":")[0].strip() for one in listed.split(",") if one.strip()]


def read(text: str) -> Header:
    header = HEADER.search(text)
    if not header:
        raise RuntimeError("no kernel in the qn dialect")
    numbers = [int(n) for n in (header["numbers"] or "").split(",") if n.strip()]
    arguments = list(OPERAND.finditer(header["arguments"]))
    # Staged operands come last and have no number: the caller does not give them.
    del arguments[len(numbers) :]
    order = [
        a["scalar"] or Operand(n, a["element"], names(a["axes"]))
        for n, a in zip(numbers, arguments, strict=True)
    ]
    joined = re.search(r"qn\.joined .* ends .* along (\w+)", text)
    tensors = [one for one in order if isinstance(one, Operand)]
    return Header(
        names(header["axes"]),
        tensors,
        len(order) - len(tensors),
        len([n for n in set(re.findall(STORED, text)) if int(n) < len(numbers)]),
        order,
        joined[1] if joined else "",
    )
