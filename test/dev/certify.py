"""`./dev certify [NAME…] [--write]`: errors of the prelude's functions."""

from __future__ import annotations

from tree import ROOT, VENV, run

from build import build


def main(arguments: list[str]) -> int:
    script = ROOT / "test" / "certify" / "certify.py"
    return build() or run(VENV / "bin" / "python", script, *arguments)
