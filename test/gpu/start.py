"""Starts a program of this folder, or says what the machine lacks: `start.py gpu-test [-k PART]`.

What the programs themselves import is looked for first, so that nothing ends in a traceback.
"""

from __future__ import annotations

import ctypes
import importlib.util
import runpy
import sys
from pathlib import Path

#: HIP's library has the release in its name where there are no files for developers.
DRIVERS = ("libcuda.so.1", "libamdhip64.so")
RELEASES = tuple(f"libamdhip64.so.{release}" for release in (7, 6, 5))
OLDEST = (3, 10)


def loaded(stem: str) -> bool:
    """Whether this process has a library of that name: PyTorch may bring its own."""
    return f"/{stem}" in Path("/proc/self/maps").read_text()


def driver() -> str | None:
    """The vendor's library that PyTorch has loaded, or the system's loader finds."""
    for name in (*DRIVERS, *RELEASES):
        if loaded(name):
            return name
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


def missing() -> str | None:
    """What is not here, in words; nothing where all is."""
    if tuple(sys.version_info) < OLDEST:
        wanted, given = (".".join(map(str, v)) for v in (OLDEST, sys.version_info[:2]))
        return f"needs Python {wanted} or later, {sys.executable} is {given}"
    for module, name in (("torch", "PyTorch"), ("numpy", "NumPy")):
        if not importlib.util.find_spec(module):
            return f"no {name} in {sys.executable}; PYTHON=/path/to/python names another Python"
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"PyTorch in {sys.executable} cannot be imported: {error}"
    found = driver()
    if not found:
        return f"no driver here: neither {' nor '.join(DRIVERS)} can be opened"
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} sees no GPU here, though {found} is here"
    return None


def main() -> int:
    verb = sys.argv[1]
    if problem := missing():
        print(f"{verb}: {problem}", file=sys.stderr)
        return 2
    program = Path(__file__).with_name(verb.replace("-", "_") + ".py")
    sys.argv = [str(program), *sys.argv[2:]]
    runpy.run_path(str(program), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
