"""What a benchmark ran on, for its record."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import quern
import torch


def processor() -> str:
    """The processor's own name where the system tells it."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def description() -> dict[str, str]:
    """Machine and versions, a line each."""
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": processor(),
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "processors": str(os.cpu_count()),
        "memory": f"{gibibytes:.0f} GiB",
        "system": " ".join([platform.system(), *re.findall(r"^\d+\.\d+", platform.release())]),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "quern": quern.__version__,
    }
