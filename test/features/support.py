"""What feature tests share: programs run as a user would, counted compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]


def shell(*command: str, limit: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a program and gives what it printed; the caller judges the status."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        timeout=limit,
        check=False,
    )


def python(text: str, **more: str) -> str:
    """Runs a Python text in a process of its own, which must succeed."""
    done = shell(sys.executable, "-c", text, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def script(folder: Path, text: str, **more: str) -> str:
    """Likewise, from a file `program.py`, whose lines can be named."""
    path = folder / "program.py"
    path.write_text(text)
    done = shell(sys.executable, str(path), **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


class CountingBackend:
    """The backend, with a count of the graphs it was given."""

    def __init__(self) -> None:
        import quern

        self.compile = quern.backend
        self.graphs = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Any], **options: Any) -> Any:
        self.graphs += 1
        return self.compile(graph, inputs, **options)
