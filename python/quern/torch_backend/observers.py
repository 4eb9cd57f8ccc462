"""Those who watch the steps of a graph while it runs: checks, times, recordings."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

Event = dict[str, Any]
"""What a step did; see Describe.cpp of the backend for its keys."""


class Observer(Protocol):
    """Told when a call begins, after each of its steps, and when it ends."""

    def begin(self, arguments: Sequence[Any]) -> None:
        """A call starts with these arguments."""

    def step(self, event: Event) -> None:
        """A step ran."""

    def end(self, seconds: float) -> None:
        """The call is over."""


class ObservedGraph:
    """A compiled graph whose calls are watched, one at a time."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._lock = threading.Lock()
        self._graph: Any = None
        self._boxed_call = True

    def attach(self, graph: Any) -> None:
        """Names the native graph, which was made with `step` as its observer."""
        self._graph = graph

    def step(self, event: Event) -> None:
        """What the native graph calls after each step."""
        for observer in self._observers:
            observer.step(event)

    def __call__(self, arguments: list[Any]) -> Any:
        """Runs the graph; empties the list of arguments."""
        with self._lock:
            for observer in self._observers:
                observer.begin(arguments)
            start = time.perf_counter()
            results = self._graph(arguments)
            seconds = time.perf_counter() - start
            for observer in self._observers:
                observer.end(seconds)
            return results
