"""`./dev demo`: builds, then runs docs/tutorials/demo.py."""

from __future__ import annotations

from tree import ROOT, VENV, run

from build import build


def main(arguments: list[str]) -> int:
    script = ROOT / "docs" / "tutorials" / "demo.py"
    return build() or run(VENV / "bin" / "python", script, *arguments)
