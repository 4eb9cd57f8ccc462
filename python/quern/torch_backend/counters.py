"""What happened since the counters were reset."""

from __future__ import annotations

from typing import Any

from .state import state


def counters() -> dict[str, Any]:
    """Graphs compiled, calls, launches of own kernels, ATen calls by operator.

    >>> import quern
    >>> sorted(quern.counters())
    ['aten_calls', 'calls', 'graphs', 'launches']
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
