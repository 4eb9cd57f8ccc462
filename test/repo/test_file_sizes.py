"""No file is longer than one can read in a sitting."""

from __future__ import annotations

import pytest
from tree import ROOT, tracked

LIMITS = {
    "*.cpp": 500,
    "*.h": 500,
    "*.td": 500,
    "*.def": 500,
    "dev": 500,
    "*.py": 400,
    "*.pyi": 400,
    "*.qn": 200,
    "lit-tests/*": 150,
}


@pytest.mark.parametrize("pattern", LIMITS)
def test_file_sizes(pattern: str) -> None:
    limit = LIMITS[pattern]
    too_long = []
    for name in tracked(pattern):
        lines = len((ROOT / name).read_bytes().splitlines())
        if lines > limit:
            too_long.append(f"{name}: {lines} lines, at most {limit}")
    assert not too_long, "\n".join(too_long)
