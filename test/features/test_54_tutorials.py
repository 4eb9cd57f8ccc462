"""Follow a tutorial: the blocks of each page run in order, in a folder of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, shell

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page: Path, folder: Path) -> str:
    """One Python program: its blocks as they stand, files written, shell lines run."""
    lines = ["import subprocess", "from pathlib import Path"]
    for language, name, text in BLOCK.findall(page.read_text()):
        if language == "python":
            lines.append(text)
        elif name:
            lines.append(f"Path({name!r}).write_text({text!r})")
        elif language == "sh":
            lines.append(f"subprocess.run(['bash', '-euc', {text!r}], check=True)")
    path = folder / "page.py"
    path.write_text("\n".join(lines))
    return str(path)


def tools() -> str:
    """The search path with this Python's programs and LLVM's FileCheck."""
    quern = shutil.which("quern")
    assert quern, "`quern` is not built: run `./dev build`"
    llvm = shell("llvm-config-22", "--bindir").stdout.strip()
    ours = [str(Path(program).parent) for program in (quern, sys.executable)]
    return os.pathsep.join([*ours, llvm, os.environ["PATH"]])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, program(page, tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PATH": tools()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
