"""The memory that tensors take during a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.autograd import profiler


def peak_bytes(step: Callable[[], Any]) -> int:
    """The most bytes of tensors that a step has at one time, beyond those before it."""
    with profiler.profile(profile_memory=True) as seen:
        step()
    now = most = 0
    for event in seen.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most
