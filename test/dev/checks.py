"""`./dev check` and `./dev fmt`: formatters, linters, types and house rules."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apidoc
import features
from tree import ROOT, VENV, build_dir, run, say, tracked

from build import build, configure

CPP = ("*.cpp", "*.h")
PROSE = ("*.md", "*.py", "*.cpp", "*.h", "*.qn", "*.td", "*.def")
BIN = VENV / "bin"


@dataclass(frozen=True)
class Check:
    """One tool of `./dev check`: its name and how it is run."""

    name: str
    run: Callable[[], int]


def over(command: tuple[str | Path, ...], *patterns: str) -> int:
    """Runs a tool over the tracked files of some patterns, if there are any."""
    files = tracked(*patterns)
    return run(*command, *files) if files else 0


def types() -> int:
    if not (ROOT / "python" / "quern").exists():
        return 0
    return run(BIN / "mypy", "--strict", "python/quern", "test/dev")


def quern_format(*flags: str) -> int:
    program = build_dir() / "bin" / "quern"
    if not program.exists():
        return 0
    # Erroneous texts are tests of the front end; only whole ones have a form.
    return over((program, "fmt", *flags), "stdlib-kernels/*.qn", "docs/*.qn")


def changed() -> list[str]:
    """C++ sources that differ from the last commit, or are in it."""
    listing = subprocess.run(
        ["git", "diff", "--name-only", "HEAD~1", "--", "*.cpp"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [name for name in listing.stdout.split() if (ROOT / name).exists()]


def tidy(everything: bool) -> int:
    files = tracked("*.cpp") if everything else changed()
    if status := configure("dev"):
        return status
    known = (build_dir() / "compile_commands.json").read_text()
    files = [f"^{re.escape(str(ROOT / name))}$" for name in files if str(ROOT / name) in known]
    return run("run-clang-tidy-22", "-quiet", "-p", build_dir(), *files) if files else 0


CHECKS = (
    Check("clang-format", lambda: over(("clang-format-22", "-n", "-Werror"), *CPP)),
    Check("ruff format", lambda: run(BIN / "ruff", "format", "--check", ".")),
    Check("ruff", lambda: run(BIN / "ruff", "check", ".")),
    Check("mypy", types),
    Check("codespell", lambda: over((BIN / "codespell",), *PROSE)),
    Check("quern fmt", lambda: quern_format("--check")),
    Check("repository", lambda: run(BIN / "python", "-m", "pytest", "-q", "test/repo")),
)


def check(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev check")
    parser.add_argument("--all", action="store_true", help="clang-tidy on every file")
    parser.add_argument("--no-tidy", action="store_true", help="leave clang-tidy out")
    chosen = parser.parse_args(arguments)
    checks = list(CHECKS)
    if not chosen.no_tidy:
        checks.append(Check("clang-tidy", lambda: tidy(chosen.all)))
    failed = []
    for one in checks:
        say(one.name)
        if one.run():
            failed.append(one.name)
    print("failed: " + ", ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


def fmt(arguments: list[str]) -> int:
    if arguments:
        print("usage: ./dev fmt", file=sys.stderr)
        return 2
    return (
        over(("clang-format-22", "-i"), *CPP)
        or run(BIN / "ruff", "format", ".")
        or run(BIN / "ruff", "check", "--fix", ".")
        or features.write()
        or apidoc.write()
        or build()
        or quern_format()
    )
