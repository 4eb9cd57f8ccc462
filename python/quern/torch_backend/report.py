"""What the user is told of a compiled graph."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from .options import flag
from .state import CompiledGraphRecord, State


class FallbackError(RuntimeError):
    """An operator has no kernel and the options forbid to run it through ATen."""


def refuse_fallbacks(graph: Any) -> None:
    """Raises for the first node that would run through ATen."""
    for name, overload, source, reason in graph.opaque():
        place = f" at {source}" if source else ""
        raise FallbackError(
            f"`{overload}` (node `{name}`{place}) has no kernel: {reason}\n"
            f"{_line_of(graph.graph_text(), name)}\n"
            'hint: leave out options={"fallback": "error"} to run it through ATen, '
            "or add a kernel for it"
        )


def _line_of(text: str, name: str) -> str:
    return next((line for line in text.splitlines() if f" %{name} " in line), "")


def report(state: State, part: str, module: torch.fx.GraphModule, graph: Any) -> None:
    """Tells whoever watches that a graph was compiled."""
    for watcher in state.watchers:
        watcher.append(CompiledGraphRecord(part, str(module.graph), graph))
    if flag("QUERN_VERBOSE"):
        print(summary(part, graph), flush=True)


def summary(part: str, graph: Any) -> str:
    """Counts of operators, groups and reasons, and the program."""
    counts = Counter(overload for _, overload, _, _ in graph.opaque())
    lines = [f"quern: {part} graph"]
    lines += [f"  {count:4} x {name} through ATen" for name, count in counts.most_common()]
    return "\n".join([*lines, graph.groups_text(), graph.program_text()])
