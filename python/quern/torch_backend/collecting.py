"""Python's full garbage collections, put off while a graph is compiled.

Each walks all objects of the process, a quarter of a second in one that has a model of torch's,
and tracing makes so many objects that two fell into a graph. Young garbage is collected as ever.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

#: Collections of the younger objects until a full one.
_NEVER = 1_000_000

_lock = threading.Lock()
_threads = 0
_before = _NEVER


@contextlib.contextmanager
def without_full_collections() -> Iterator[None]:
    """Several threads may be inside: the last one puts back what the first one found."""
    global _threads, _before
    with _lock:
        _threads += 1
        if _threads == 1:
            young, middle, _before = gc.get_threshold()
            gc.set_threshold(young, middle, _NEVER)
    try:
        yield
    finally:
        with _lock:
            _threads -= 1
            young, middle, full = gc.get_threshold()
            if _threads == 0 and full == _NEVER:
                gc.set_threshold(young, middle, _before)
