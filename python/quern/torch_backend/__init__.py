"""torch.compile(model, backend="quern"): the half of the package that needs torch."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from types import ModuleType

from quern._platform import require_torch


@functools.cache
def native() -> ModuleType:
    """The extension module, with a clear error where it does not fit torch."""
    import torch

    require_torch(torch.__version__)
    for name in ("quern._quern_torch", "_quern_torch"):
        if importlib.util.find_spec(name) is None:
            continue
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"quern's PyTorch backend does not load with torch {torch.__version__}: {error}"
            ) from error
    raise ImportError("this installation of quern was built without its PyTorch backend")
