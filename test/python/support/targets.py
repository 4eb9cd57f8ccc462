"""This machine's instruction sets; targets by name, skipped where it cannot run their code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

#: An instruction set that each level has and the one below it lacks.
LEVELS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}


def cpu() -> dict[str, str]:
    """What the first core says of itself."""
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    pairs = [line.split(":", 1) for line in first.splitlines() if ":" in line]
    return {name.strip(): text.strip() for name, text in pairs}


def flags() -> set[str]:
    return set(cpu().get("flags", "").split())


def vendor() -> str:
    return cpu().get("vendor_id", "")


def is_wide() -> bool:
    """Whether this machine's vectors are of 64 bytes."""
    return "avx512f" in flags()


def has_tiles() -> bool:
    """Whether it has registers of tiles for bf16."""
    return "amx_bf16" in flags()


def runnable(target: str, *values: Any) -> Any:
    """A parameter: the target's name, or it and `values` as a tuple."""
    lacks = target in LEVELS and LEVELS[target] not in flags()
    mark = pytest.mark.skipif(lacks, reason=f"this machine has no {LEVELS.get(target)}")
    return pytest.param((target, *values) if values else target, marks=mark)
