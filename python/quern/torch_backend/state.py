"""What all graphs of a process share: the native backend and who watches it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass
class CompiledGraphRecord:
    """One compiled graph, as `quern.explain` shows it."""

    part: str
    fx: str
    graph: Any


@dataclasses.dataclass
class State:
    """Made once, on first use."""

    backend: Any
    watchers: list[list[CompiledGraphRecord]] = dataclasses.field(default_factory=list)

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
