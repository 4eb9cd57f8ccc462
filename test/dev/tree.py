"""The source tree, its build trees, and how programs are run in them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"


def build_dir(preset: str = "dev") -> Path:
    return ROOT / "build" / preset


def environment(preset: str = "dev") -> dict[str, str]:
    """The caller's environment with this tree's programs and modules first."""
    build = build_dir(preset)
    paths = [str(VENV / "bin"), str(build / "bin"), os.environ.get("PATH", "")]
    modules = [str(ROOT / "python"), str(build / "lib")]
    if outer := os.environ.get("PYTHONPATH"):
        modules.append(outer)
    return {
        **os.environ,
        "PATH": os.pathsep.join(paths),
        "PYTHONPATH": os.pathsep.join(modules),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
    }


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)


def run(*command: str | Path, preset: str = "dev", **more: str) -> int:
    """Runs a program in the root of the tree and gives its exit status."""
    words = [str(word) for word in command]
    env = {**environment(preset), **more}
    return subprocess.run(
        words, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False
    ).returncode


def tracked(*patterns: str) -> list[str]:
    """Files git knows or would add, sorted, for the given patterns."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return sorted(name for name in set(listing) if (ROOT / name).exists())
