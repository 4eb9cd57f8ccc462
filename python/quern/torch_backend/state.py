"""What all graphs of a process share: the native backend and who watches it."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass
class CompiledGraphRecord:
    """One compiled graph, as `quern.explain` shows it."""

    part: str
    """`inference`, `forward` or `backward`."""
    fx: str
    """The graph that AOTAutograd handed over."""
    graph: Any
    """The native graph."""

    @property
    def program(self) -> str:
        """The generated Quern text."""
        text: str = self.graph.program_text()
        return text

    @property
    def groups(self) -> str:
        """The fused groups, and the reason why each stopped growing."""
        text: str = self.graph.groups_text()
        return text

    @property
    def plan(self) -> str:
        """The steps of a call."""
        text: str = self.graph.plan_text()
        return text

    def __str__(self) -> str:
        counts = Counter((overload, kind) for _, overload, _, _, kind in self.graph.opaque())
        operators = [f"{n:6} x {name} ({kind})" for (name, kind), n in counts.most_common()]
        parts = [
            f"{self.part} graph",
            "through ATen:",
            *(operators or ["  nothing"]),
            "groups:",
            self.groups,
            "program:",
            self.program,
            self.plan,
        ]
        return "\n".join(parts)


@dataclasses.dataclass
class State:
    """Made once, on first use."""

    backend: Any
    watchers: list[list[CompiledGraphRecord]] = dataclasses.field(default_factory=list)
    warned: set[str] = dataclasses.field(default_factory=set)

    def overloads(self, options: Mapping[str, str]) -> list[str]:
        """The operators that have a kernel, as far as the options allow."""
        if options["executor"] == "aten":
            return []
        names: list[str] = self.backend.overloads()
        return names


@functools.cache
def state() -> State:
    """The state of this process."""
    from . import native

    return State(native().Backend())
