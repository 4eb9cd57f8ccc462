"""Each folder of the front end compiles as one unit, which is how a release compiles it."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from tree import ROOT, build_dir, tracked

SOURCES = [Path(name) for name in tracked("frontend/*/*.cpp")]
FOLDERS = sorted({source.parent for source in SOURCES})


def compiler(source: Path) -> list[str]:
    """The words that compile this file, up to where its own output is named."""
    commands = json.loads((build_dir() / "compile_commands.json").read_text())
    alike = [one["command"] for one in commands if one["file"] == str(ROOT / source)]
    (command,) = (one for one in alike if "/quern_frontend.dir/" in one)
    words = shlex.split(command)
    return words[: words.index("-o")]


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_compiles_as_one(folder: Path, tmp_path: Path) -> None:
    inside = [source for source in SOURCES if source.parent == folder]
    unit = tmp_path / "unit.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in inside))
    words = [*compiler(inside[0]), "-fsyntax-only", str(unit)]
    done = subprocess.run(words, cwd=build_dir(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
