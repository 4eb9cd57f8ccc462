"""What the user is told of a compiled graph."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from .options import flag
from .state import CompiledGraphRecord, State


class FallbackError(RuntimeError):
    """An operator has no kernel, and the options forbid to run it through ATen."""


def refuse_fallbacks(graph: Any) -> None:
    """Raises for the first node that would run through ATen for want of a kernel."""
    for name, overload, source, reason, kind in graph.opaque():
        if kind != "fallback":
            continue
        place = f" at {source}" if source else ""
        raise FallbackError(
            f"`{overload}` (node `{name}`{place}) has no kernel: {reason}\n"
            f"{_line_of(graph.graph_text(), name)}\n"
            'hint: leave out options={"fallback": "error"} to run it through ATen, '
            "or register a kernel for it"
        )


def _line_of(text: str, name: str) -> str:
    return next((line for line in text.splitlines() if f" %{name} " in line), "")


def _write_folder(folder: Path, record: CompiledGraphRecord) -> None:
    """Every stage of one graph as a file."""
    name: str = record.graph.graph_text().split()[1]
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    stages = {
        "fx.txt": record.fx,
        "graph.txt": record.graph.graph_text(),
        "groups.txt": record.groups,
        "program.qn": record.program,
        "plan.txt": record.plan,
    }
    for file, text in stages.items():
        (place / file).write_text(text + "\n", encoding="utf-8")


def report(state: State, part: str, module: torch.fx.GraphModule, graph: Any) -> None:
    """Tells whoever watches that a graph was compiled, and of operators that have
    no kernel once each."""
    record = CompiledGraphRecord(part, str(module.graph), graph)
    for watcher in state.watchers:
        watcher.append(record)
    if flag("QUERN_VERBOSE"):
        print(f"quern: {record}", flush=True)
    if folder := os.environ.get("QUERN_DEBUG"):
        _write_folder(Path(folder), record)
    for _, overload, source, reason, kind in graph.opaque():
        if kind != "fallback" or overload in state.warned:
            continue
        state.warned.add(overload)
        place = f" ({source})" if source else ""
        warnings.warn(f"`{overload}`{place} runs through ATen: {reason}", stacklevel=2)


def fallback_counts(graph: Any) -> list[tuple[str, int]]:
    """Operators without a kernel and how often the graph calls each, most first."""
    names = (overload for _, overload, _, _, kind in graph.opaque() if kind == "fallback")
    return Counter(names).most_common()
