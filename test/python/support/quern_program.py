"""The program `quern` of the build tree."""

from __future__ import annotations

from pathlib import Path

from tree import ROOT


def quern() -> Path:
    for build in ("dev", "release", "asan"):
        program = ROOT / "build" / build / "bin" / "quern"
        if program.exists():
            return program
    raise AssertionError("`quern` is not built: run `./dev build`")
