"""What happened since the counters were reset."""

from __future__ import annotations

from typing import Any

from .state import state


def counters() -> dict[str, Any]:
    """Graphs compiled, calls of them, launches of own kernels, and ATen calls by
    operator: `fallbacks` for want of a kernel, `preferred` where ATen is faster,
    `random` where numbers are drawn from torch's generator. `compiles` counts
    kernels that were compiled, `disk_hits` those found in the cache on disk,
    `loaded` graphs that AOTAutograd's cache had.

    >>> import quern
    >>> list(quern.counters())[:3]
    ['compiles', 'disk_hits', 'loaded']
    """
    current = state()
    now = current.backend.session_counters()
    made = {name: count - current.before.get(name, 0) for name, count in now.items()}
    return {**made, "loaded": current.loaded, **current.backend.counters()}


def reset_counters() -> None:
    """Sets every counter to zero.

    >>> import quern
    >>> quern.reset_counters(); quern.counters()["calls"]
    0
    """
    current = state()
    current.before = current.backend.session_counters()
    current.loaded = 0
    current.backend.reset()
