"""`./dev test --torch VERSION`: the tests that need torch, with another release of it.

The release has an environment of its own, not `.venv`, with the pinned packages and that torch,
and an extension module of its own, in addition to the one for the pinned torch.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import sys
from pathlib import Path

from tree import ROOT, build_dir, run, say

from build import configure

REQUIREMENTS = ROOT / "python" / "requirements.txt"
SUITES = ("test/python", "test/features", "test/backend-torch")
# What only the half of the package that needs torch offers.
_MARKS = ("quern.torch_backend", "quern.torch_names", "torch.compile", "quern.explain", "quern.op(")
# Those whose programs are elsewhere, whose kernels call torch's operators, or that compare many
# operators with eager, whose values may change with the release.
_ALSO = ("test_docstrings.py", "test_externs.py", "test_library.py", "test_54_tutorials.py")


def requirements(version: str) -> str:
    """The pinned packages, with another torch."""
    lines = REQUIREMENTS.read_text().splitlines()
    kept = [line for line in lines if not line.startswith("torch==")]
    return "\n".join([*kept, f"torch=={version}", ""])


def environment_of(version: str) -> Path:
    """Where the environment of a release lies: git ignores it, like `.venv`."""
    return ROOT / f".venv-{version}"


def prepare(version: str) -> int:
    """Makes the environment, or does nothing where it is there: a default torch is some 5 GB."""
    venv = environment_of(version)
    wanted = requirements(version)
    stamp = venv / f"quern-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if stamp.exists():
        return 0
    say(f"Python packages with torch {version} in {venv.name}")
    if not (venv / "bin" / "python").exists() and (
        status := run(sys.executable, "-m", "venv", venv)
    ):
        return status
    listed = venv / "requirements.txt"
    listed.write_text(wanted)
    pip = (venv / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check")
    if status := run(*pip, "--progress-bar", "off", "-r", listed):
        return status
    for old in venv.glob("quern-*"):
        old.unlink()
    stamp.touch()
    return 0


def package_of(version: str) -> Path:
    """The folder `torch` of the release's package."""
    (found,) = environment_of(version).glob("lib/python3.*/site-packages/torch")
    return found


def build_module(version: str, preset: str) -> int:
    """The extension module for the release, in the build tree, where the pinned torch's is too."""
    if status := configure(preset):
        return status
    tree = build_dir(preset)
    root = f"-DQUERN_TORCH_ROOTS={package_of(version)}"
    if status := run("cmake", "-S", ROOT, "-B", tree, root, preset=preset):
        return status
    major, minor = version.split(".")[:2]
    targets = ("_quern", "quern", f"_quern_torch_{major}_{minor}")
    jobs = str(len(os.sched_getaffinity(0)))
    return run("ninja", "-C", tree, "-j", jobs, *targets, preset=preset)


def _modules(tree: ast.Module) -> set[str]:
    """First names of all that is imported: of our helpers, the files' names."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@functools.cache
def _files() -> dict[str, Path]:
    """The Python files of the suites, by the names under which they are imported."""
    return {path.stem: path for suite in SUITES for path in sorted((ROOT / suite).rglob("*.py"))}


@functools.cache
def _needs_torch_half(path: Path) -> bool:
    """Whether a test, or a helper that it imports, uses the half that needs torch."""
    text = path.read_text()
    if any(mark in text for mark in _MARKS):
        return True
    helpers = (_files().get(name, path) for name in _modules(ast.parse(text)))
    return any(_needs_torch_half(each) for each in helpers if each != path)


def torch_tests() -> list[str]:
    """The test files that need torch, by what they and their helpers name."""
    files = sorted(path for path in _files().values() if path.name.startswith("test_"))
    needed = (path for path in files if path.name in _ALSO or _needs_torch_half(path))
    return [str(path.relative_to(ROOT)) for path in needed]
