"""Paired timing: every round runs all contestants in turn, ratios are taken within a round."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]
SPIN = 1e-2  # seconds that threads of OpenMP may spin after a call before they sleep
SETTLE = 5e-3  # seconds of calls that are not timed


def repetitions(call: Call, target: float) -> int:
    """How often to call it so that one measurement takes about `target` seconds."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        spent = time.perf_counter() - start
        if spent >= target / 2:
            return max(1, round(count * target / spent))
        count *= 4


def rounds(calls: dict[str, Call], count: int = 15, target: float = 2e-3) -> dict[str, list[float]]:
    """Microseconds a call, per contestant and round. Before the clock starts the
    threads that the one before left spinning go to sleep, and calls bring data and threads in."""
    repeats = {name: repetitions(call, target) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            time.sleep(SPIN)
            settled = time.perf_counter() + SETTLE
            while time.perf_counter() < settled:
                call()
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append(1e6 * (time.perf_counter() - start) / repeats[name])
    return times


def median(times: list[float]) -> float:
    return statistics.median(times)


def lower_quartile_ratio(ours: list[float], theirs: list[float]) -> float:
    """How many times faster we are, at the lower quartile of the paired rounds."""
    ratios = sorted(b / a for a, b in zip(ours, theirs, strict=True))
    return ratios[len(ratios) // 4]


def geomean(values: list[float]) -> float:
    return statistics.geometric_mean(values) if values else float("nan")
