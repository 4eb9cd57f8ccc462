"""What happened since the counters were reset."""

from __future__ import annotations

from typing import Any

from .state import state


def counters() -> dict[str, Any]:
    """Graphs compiled, calls of them, launches of own kernels, and ATen calls by
    operator: `fallbacks` for want of a kernel, `preferred` where ATen is faster,
    `random` where numbers are drawn from torch's generator.

    >>> import quern
    >>> sorted(quern.counters())
    ['calls', 'fallbacks', 'graphs', 'launches', 'preferred', 'random']
    """
    result: dict[str, Any] = state().backend.counters()
    return result


def reset_counters() -> None:
    """Sets every counter to zero.

    >>> import quern
    >>> quern.reset_counters(); quern.counters()["calls"]
    0
    """
    state().backend.reset()
