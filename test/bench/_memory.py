"""The memory of a model's step: peak of its tensors, and what its process holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch.profiler import ProfilerActivity, profile, record_function

MB = 1 << 20
MEASURED = "measured step"
ALLOWED_RESIDENT = 250 * MB


def peak_bytes(step: Callable[[], Any]) -> int:
    """The most that tensors held at a time beyond what was held before, from every
    allocation and release, those in the backend's own memory among them. The profiler knows
    the sizes only of what was allocated under it: the step before, whose gradients this one
    releases, runs there too."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        step()
        with record_function(MEASURED):
            step()
    events = record.profiler.kineto_results.events()
    start = next(e.start_ns() for e in events if e.name() == MEASURED)
    memory = [e for e in events if e.name() == "[memory]" and e.start_ns() >= start]
    held = most = 0
    for event in sorted(memory, key=lambda e: e.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


def resident_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise OSError("the system does not say how much memory is resident")


def print_row(name: str, eager: dict[str, int], ours: dict[str, int]) -> bool:
    """One model's line; whether it is within what is allowed."""
    more = ours["resident"] - eager["resident"]
    good = ours["peak"] <= eager["peak"] and more <= ALLOWED_RESIDENT
    cells = [eager["peak"] / MB, ours["peak"] / MB, ours["peak"] / eager["peak"], more / MB]
    text = "  ".join(f"{cell:9.2f}" for cell in cells)
    print(f"{name:12}  {text}{'' if good else '  over'}", flush=True)
    return good
