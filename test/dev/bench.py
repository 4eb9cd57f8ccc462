"""`./dev bench NAME`: runs one benchmark, a Python file or a program."""

from __future__ import annotations

import sys

from tree import ROOT, VENV, build_dir, run

from build import build

FOLDER = ROOT / "test" / "bench"


def names() -> list[str]:
    """Python files, and C++ files whose program CMake calls bench-<name>."""
    found = {p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_")}
    return sorted(found | {p.stem for p in FOLDER.glob("*.cpp")})


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print("\n".join(names()) or "there are no benchmarks yet")
        return 0
    name, *rest = arguments
    if name not in names():
        known = ", ".join(names()) or "none"
        print(f"dev: no benchmark '{name}'; known: {known}", file=sys.stderr)
        return 2
    script = FOLDER / f"{name}.py"
    if script.exists():
        return build() or run(VENV / "bin" / "python", script, *rest)
    program = build_dir("release") / "bin" / f"bench-{name}"
    return build("release", (program.name,)) or run(program, *rest, preset="release")
