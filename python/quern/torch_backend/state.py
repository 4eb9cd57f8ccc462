"""What all graphs of a process share: the native backend and who watches it."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from .. import _environment
from .assumptions import shape_env_of
from .source_lines import source_line


@dataclasses.dataclass
class CompiledGraphRecord:
    """One compiled graph, as `quern.explain` shows it."""

    name: str
    """`graph0_forward`."""
    part: str
    """`inference`, `forward` or `backward`."""
    module: torch.fx.GraphModule
    """The graph that AOTAutograd handed over."""
    graph: Any
    """The native graph."""
    before: str = ""
    """The graph that Dynamo traced, before AOTAutograd."""
    times: dict[str, float] = dataclasses.field(default_factory=dict)
    """Seconds that each stage took."""

    @property
    def fx(self) -> str:
        """AOTAutograd's graph as a text."""
        return str(self.module.graph)

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

    @property
    def assumptions(self) -> str:
        """What holds in every call: torch guards some of it, the graph looks at the rest."""
        shapes = shape_env_of(self.module)
        guards = [f"  {guard.expr}\n" for guard in shapes.guards] if shapes else []
        checked: str = self.graph.assumptions_text()
        return "guarded by torch:\n" + "".join(guards) + "checked in every call:\n" + checked

    @property
    def operators(self) -> list[tuple[str, int]]:
        """Every operator of the graph and how often it stands there, most first."""
        calls = (node for node in self.module.graph.nodes if node.op == "call_function")
        return Counter(str(node.target) for node in calls).most_common()

    @property
    def table(self) -> str:
        """The FX graph as a table: name, operator, what it gives, the user's line."""
        rows = [("node", "operator", "gives", "line")]
        for node in self.module.graph.nodes:
            value = node.meta.get("val")
            gives = ""
            if isinstance(value, torch.Tensor):
                dtype = str(value.dtype).removeprefix("torch.")
                gives = f"{dtype}{list(value.shape)}"
            rows.append((node.name, str(node.target), gives, source_line(node)))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(
            "  "
            + "  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0], strict=True))
            for row in rows
        )

    def __str__(self) -> str:
        counts = Counter((overload, kind) for _, overload, _, _, kind in self.graph.opaque())
        aten = [f"{n:6} x {name} ({kind})" for (name, kind), n in counts.most_common()]
        parts = [
            f"{self.part} graph {self.name}",
            "operators:",
            *(f"{n:6} x {name}" for name, n in self.operators),
            "through ATen:",
            *(aten or ["  nothing"]),
            "nodes:",
            self.table,
            "groups:",
            self.groups,
            "program:",
            self.program,
            self.plan,
            self.assumptions,
        ]
        return "\n".join(parts)


@dataclasses.dataclass
class State:
    """Made once, on first use."""

    backend: Any
    watchers: list[list[CompiledGraphRecord]] = dataclasses.field(default_factory=list)
    warned: set[str] = dataclasses.field(default_factory=set)
    before: dict[str, int] = dataclasses.field(default_factory=dict)
    """The session's counts when the counters were reset."""

    added: list[tuple[str, tuple[tuple[str, str], ...]]] = dataclasses.field(default_factory=list)
    """What users registered: the hash of the source, and its operators."""

    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    """Their texts, by the names of their modules."""
    loaded: int = 0
    """Graphs that came from AOTAutograd's cache."""

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

    _environment.warn()
    return State(native().Backend())
