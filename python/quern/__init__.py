"""Quern: a small kernel language with an embedded compiler."""

from __future__ import annotations

import importlib
from typing import Any

# Public names and the modules that hold them; loaded on first use, so that
# `import quern` alone does not import torch.
_PUBLIC = {
    "backend": "torch_backend.backend",
    "counters": "torch_backend.counters",
    "reset_counters": "torch_backend.counters",
}


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module `quern` has no attribute `{name}`")
    return getattr(importlib.import_module(f"quern.{module}"), name)
