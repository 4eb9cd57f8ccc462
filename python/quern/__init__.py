"""Quern: kernels in text, compiled in milliseconds, and a torch.compile backend.

>>> import numpy, quern
>>> k = quern.compile('''
... elementwise double[T: Number](x: T) -> T:
...     return x + x
... ''')
>>> k.double(numpy.ones(3, dtype="float32"))
array([2., 2., 2.], dtype=float32)
"""

from __future__ import annotations

import importlib
from typing import Any

from ._platform import require

__version__ = "0.1.0"

# Public names and the modules that hold them; loaded on first use, so that
# `import quern` alone imports neither torch nor the compiler.
_PUBLIC = {
    "Error": "_quern",
    "FallbackError": "quern.torch_backend.report",
    "Module": "_quern",
    "SourceWarning": "quern._session",
    "backend": "quern.torch_backend.backend",
    "compile": "quern._session",
    "counters": "quern.torch_backend.counters",
    "explain": "quern.torch_backend.explain",
    "load": "quern._session",
    "op": "quern.torch_backend.register",
    "operators": "quern._session",
    "options": "quern.torch_backend.options",
    "register_aten": "quern.torch_backend.register",
    "reset_counters": "quern.torch_backend.counters",
}


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module `quern` has no attribute `{name}`")
    require()
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC)


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic `%%quern` to a notebook: `%load_ext quern`."""
    from .notebook import load_ipython_extension as load

    load(shell)
