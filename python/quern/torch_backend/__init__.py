"""torch.compile(model, backend="quern"): the half of the package that needs torch."""

from __future__ import annotations

import functools
from types import ModuleType


@functools.cache
def native() -> ModuleType:
    """The extension module, with a clear error where it does not fit torch."""
    import torch  # noqa: F401  (its libraries must be loaded first)

    try:
        from quern import _quern_torch
    except ImportError as error:
        raise ImportError(
            f"quern's PyTorch backend does not load with torch {torch.__version__}: {error}"
        ) from error
    return _quern_torch
