"""A bar for compilations that take long, where somebody looks at a terminal."""

from __future__ import annotations

import os
import sys
import time

from .options import flag

_QUIET = 5.0
"""Seconds before the bar shows: what is faster needs none."""


class Progress:
    """Called between kernels with how many are done; as Python code runs then,
    an interrupt of the user's (Ctrl-C) stops the compilation here."""

    def __init__(self, name: str, quiet: float = _QUIET) -> None:
        self._name = name
        self._quiet = quiet
        self._start = time.monotonic()
        self._is_shown = False
        forced = bool(os.environ.get("QUERN_PROGRESS")) and flag("QUERN_PROGRESS")
        self._may_show = forced or sys.stderr.isatty()
        if forced:
            self._quiet = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Shows where the compilation is, once it has taken long."""
        passed = time.monotonic() - self._start
        if not self._may_show or passed < self._quiet:
            return
        self._is_shown = True
        filled = 30 * done // max(total, 1)
        bar = "#" * filled + "." * (30 - filled)
        line = f"\rquern: {self._name} [{bar}] {done}/{total} kernels, {passed:.0f} s"
        print(line, end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leaves a clean line behind."""
        if self._is_shown:
            print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)
