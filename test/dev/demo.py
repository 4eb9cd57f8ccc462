"""`./dev demo`: builds, then runs docs/tutorials/demo.py."""

from __future__ import annotations

from build import build
from tree import ROOT, VENV, run


def main(arguments: list[str]) -> int:
    script = ROOT / "docs" / "tutorials" / "demo.py"
    return build() or run(VENV / "bin" / "python", script, *arguments)
