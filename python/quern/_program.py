"""Runs the `quern` program that a wheel carries beside the package."""

import importlib.util
import os
import sys
from pathlib import Path


def _program() -> Path:
    """Beside the package, or in the build tree that the compiler was loaded from."""
    beside = Path(__file__).with_name("bin") / "quern"
    compiler = importlib.util.find_spec("_quern")
    if beside.exists() or compiler is None or compiler.origin is None:
        return beside
    return Path(compiler.origin).parents[1] / "bin" / "quern"


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    os.execv(_program(), ["quern", *sys.argv[1:]])
