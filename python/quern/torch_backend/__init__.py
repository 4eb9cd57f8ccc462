"""torch.compile(model, backend="quern"): the half of the package that needs torch."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import warnings
from pathlib import Path
from types import ModuleType

from .._platform import numbers, unmet_torch
from ..torch_names import missing


def _module(version: tuple[int, int]) -> str:
    """The extension module for a minor release of torch."""
    return "_quern_torch_{}_{}".format(*version)


@functools.cache
def built_for() -> tuple[tuple[int, int], ...]:
    """The minor releases of torch that this installation has an extension module for."""
    compiler = importlib.util.find_spec("_quern")
    if compiler is None or compiler.origin is None:
        return ()
    files = Path(compiler.origin).parent.glob("_quern_torch_*_*.so")
    found = (file.name.split(".")[0].split("_")[-2:] for file in files)
    return tuple(sorted((int(major), int(minor)) for major, minor in found))


@functools.cache
def _loaded() -> ModuleType | str:
    """The extension module for the torch that is installed, or why there is none."""
    import torch

    version = torch.__version__
    if reason := unmet_torch(version, built_for()) or missing("graphs"):
        return reason
    try:
        return importlib.import_module(_module(numbers(version)))
    except ImportError as error:
        return f"quern's PyTorch backend does not load with torch {version}: {error}"


def unmet() -> str:
    """Why graphs cannot be compiled with the torch that is installed; empty where they can."""
    found = _loaded()
    return found if isinstance(found, str) else ""


def native() -> ModuleType:
    """The extension module, with a clear error where it does not fit torch."""
    found = _loaded()
    if isinstance(found, str):
        raise ImportError(found)
    return found


@functools.cache
def warn_of_torch() -> None:
    """Says once in a process why graphs are not compiled."""
    warnings.warn(f"{unmet()}; torch.compile runs graphs eagerly, through ATen", stacklevel=3)
