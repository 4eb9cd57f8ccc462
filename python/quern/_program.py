"""Runs the `quern` program that a wheel carries beside the package."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    program = Path(__file__).with_name("bin") / "quern"
    os.execv(program, ["quern", *sys.argv[1:]])
