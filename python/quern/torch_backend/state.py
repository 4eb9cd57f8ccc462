"""What all graphs of a process share: counters and the compiled graphs."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass
class State:
    """Made once, on first use."""

    recorder: Any
    watchers: list[list[tuple[str, str, Any]]] = dataclasses.field(default_factory=list)
    graphs: list[weakref.ReferenceType[Any]] = dataclasses.field(default_factory=list)

    def overloads(self, options: Mapping[str, str]) -> list[str]:
        """The operators that have a kernel, as far as the options allow."""
        return []

    def remember(self, part: str, graph: Any, module: Any) -> None:
        """Tells whoever watches that a graph was compiled."""
        for watcher in self.watchers:
            watcher.append((part, str(module.graph), graph))


@functools.cache
def state() -> State:
    """The state of this process."""
    from . import native

    return State(native().Recorder())
