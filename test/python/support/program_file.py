"""The declarations of one file, on the CPU and on emulated GPUs."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import _quern
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from tree import build_dir


class ProgramFile:
    """Sessions and kernels, each made once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.module = functools.cache(self._module)
        self.kernel = functools.cache(self._kernel)

    def _module(self, target: str, threads: int) -> Any:
        session = _quern.Session(threads=threads, cache="-", target=target)
        return session.compile(self.file.read_text(), self.file.name)

    def _kernel(self, name: str, target: str) -> GpuKernel:
        return kernel_for(build_dir() / "bin" / "quern", self.file, name, target, ())
