"""A bound on the memory that a row of the operators' benchmark adds: samples that are made longer
may multiply each other in a result, as filters and images do."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST = 4 << 30  # bytes


def mapped() -> int:
    """Bytes of the process's address space that are in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@contextmanager
def bounded() -> Iterator[None]:
    """Within it an allocation that would exceed the bound fails."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped() + MOST, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
