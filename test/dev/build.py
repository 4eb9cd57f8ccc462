"""`./dev build`: configures, builds, and makes the result usable in .venv."""

from __future__ import annotations

import argparse
import hashlib
import os
import sysconfig
from pathlib import Path

from tree import ROOT, VENV, build_dir, run, say

PROGRAMS = ("quern", "quern-opt")


def configure(preset: str) -> int:
    """Runs CMake when the tree is new or the presets have changed; ninja does
    it by itself when a CMakeLists.txt has."""
    build = build_dir(preset)
    digest = hashlib.sha256((ROOT / "CMakePresets.json").read_bytes()).hexdigest()
    stamp = build / "presets.sha256"
    ready = (build / "build.ninja").exists() and stamp.exists()
    if ready and stamp.read_text() == digest:
        return 0
    say(f"configure {preset}")
    status = run("cmake", "--preset", preset)
    if status == 0:
        stamp.write_text(digest)
    return status


def link(target: Path, name: Path) -> None:
    if name.is_symlink() and name.readlink() == target:
        return
    name.unlink(missing_ok=True)
    name.symlink_to(target)


def install_for_development() -> None:
    """Puts the programs into .venv/bin and the package on .venv's path, so
    that an edit needs no installation. An environment that several checkouts
    share (a link) is left alone."""
    if VENV.is_symlink():
        return
    build = build_dir()
    for program in PROGRAMS:
        if (build / "bin" / program).exists():
            link(build / "bin" / program, VENV / "bin" / program)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(VENV), "platbase": str(VENV)}))
    text = f"{ROOT / 'python'}\n{build / 'lib'}\n"
    path_file = site / "quern-development.pth"
    if not path_file.exists() or path_file.read_text() != text:
        path_file.write_text(text)


def build(preset: str = "dev", targets: tuple[str, ...] = ()) -> int:
    if status := configure(preset):
        return status
    jobs = str(len(os.sched_getaffinity(0)))
    status = run("ninja", "-C", build_dir(preset), "-j", jobs, *targets, preset=preset)
    if status == 0 and preset == "dev":
        install_for_development()
    return status


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev build")
    parser.add_argument("--preset", default="dev")
    parser.add_argument("targets", nargs="*")
    chosen = parser.parse_args(arguments)
    return build(chosen.preset, tuple(chosen.targets))
