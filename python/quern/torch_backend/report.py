"""What the user is told of a compiled graph."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from .index_error import IndexRangeError as IndexRangeError
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
            "or register a kernel for it with quern.register_aten"
        )


def _line_of(text: str, name: str) -> str:
    return next((line for line in text.splitlines() if f" %{name} " in line), "")


def debug_folder() -> Path | None:
    """Where every stage of every graph goes, if the user wants it."""
    if folder := os.environ.get("QUERN_DEBUG"):
        return Path(folder)
    if os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1":
        from ..torch_names import get_debug_dir

        return Path(get_debug_dir()) / "quern"
    return None


def report(state: State, record: CompiledGraphRecord) -> None:
    """Tells whoever watches that a graph was compiled, and of operators that have
    no kernel once each."""
    for watcher in state.watchers:
        watcher.append(record)
    if flag("QUERN_VERBOSE"):
        print(f"quern: {record}", flush=True)
    if flag("QUERN_PROFILE"):
        from .profile import print_compile_times

        print_compile_times(record.name, record.times)
    warn_of_fallbacks(state, record.graph)


def warn_of_fallbacks(state: State, graph: Any) -> None:
    """Names an operator that has no kernel, once each in a process."""
    for _, overload, source, reason, kind in graph.opaque():
        if kind != "fallback" or overload in state.warned:
            continue
        state.warned.add(overload)
        place = f" ({source})" if source else ""
        warnings.warn(f"`{overload}`{place} runs through ATen: {reason}", stacklevel=3)


def fallback_counts(graph: Any) -> list[tuple[str, int]]:
    """Operators without a kernel and how often the graph calls each, most first."""
    names = (overload for _, overload, _, _, kind in graph.opaque() if kind == "fallback")
    return Counter(names).most_common()
