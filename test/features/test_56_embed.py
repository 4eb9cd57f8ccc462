"""Embed it in C++: header with std types, CMake package, an example against the installed tree."""

from __future__ import annotations

from pathlib import Path

import _quern
from support import ROOT, shell

EXAMPLE = ROOT / "docs" / "tutorials" / "embed"


def succeed(*command: str) -> str:
    done = shell(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_example_runs(tmp_path: Path) -> None:
    tree = Path(_quern.__file__).parents[1]
    installed, build = str(tmp_path / "installed"), str(tmp_path / "build")
    succeed(
        *("cmake", "--install", str(tree), "--component", "development"),
        *("--prefix", installed),
    )
    succeed(
        *("cmake", "-S", str(EXAMPLE), "-B", build, "-G", "Ninja"),
        *("-DCMAKE_CXX_COMPILER=clang++-22", f"-DCMAKE_PREFIX_PATH={installed}"),
    )
    succeed("cmake", "--build", build)
    assert succeed(f"{build}/embed") == "scaled[999] = 1998.5\n"
