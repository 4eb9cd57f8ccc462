"""QUERN_PROFILE: how long a graph took to trace, plan, compile, and takes to run."""

from __future__ import annotations

import atexit
import dataclasses
from collections.abc import Sequence
from typing import Any

from .observers import Event


def clock(seconds: float) -> str:
    """A time as H:MM:SS.ffffff.

    >>> clock(3723.25)
    '1:02:03.250000'
    """
    micros = round(seconds * 1e6)
    minutes, rest = divmod(micros, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest // 1_000_000:02}.{rest % 1_000_000:06}"


@dataclasses.dataclass
class _Step:
    title: str
    calls: int = 0
    seconds: float = 0.0


class Profiler:
    """Adds up the calls of one graph; prints them when the process ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._steps: dict[int, _Step] = {}
        self._calls: list[float] = []
        atexit.register(self.report)

    def begin(self, arguments: Sequence[Any]) -> None:
        """Nothing to do."""

    def step(self, event: Event) -> None:
        """Adds one step's time."""
        title = event.get("kernel") or event["operator"]
        step = self._steps.setdefault(event["number"], _Step(title))
        step.calls += 1
        step.seconds += event["nanoseconds"] * 1e-9

    def end(self, seconds: float) -> None:
        """Adds the call's."""
        self._calls.append(seconds)

    def report(self) -> None:
        """Prints the calls, and the steps from the longest on."""
        if not self._calls:
            return
        total = sum(self._calls)
        head = f"{len(self._calls)} runs, the first {clock(self._calls[0])}, all {clock(total)}"
        print(f"quern: {self._name}: {head}")
        for step in sorted(self._steps.values(), key=lambda s: -s.seconds):
            share = 100 * step.seconds / total
            print(f"  {clock(step.seconds)} {share:5.1f} %  {step.calls:6} x {step.title}")


def print_compile_times(name: str, times: dict[str, float]) -> None:
    """One line a stage."""
    print(f"quern: {name}: compiled in {clock(sum(times.values()))}")
    for stage, seconds in times.items():
        print(f"  {clock(seconds)}  {stage}", flush=True)
