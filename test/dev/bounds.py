"""Counts the bounds checks that proofs take out of the library's kernels and of lit-tests'.

./dev bounds [--program=PATH]     another `quern`, to compare with
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT, build_dir, tracked

TARGETS = ("x86-64-v3", "x86-64-v4", "sm_90")
#: What the library's kernels are made for, where their parameters have to be chosen.
CHOSEN = {
    "attention_tiles": ["--constants=D=64,KEYS=64,WARPS=4,CAUSAL=false"],
    "odd": ["--constants=R=7"],
}
#: Options of `quern build` that say what is compiled.
OPTIONS = ("--absent", "--constants", "--layouts", "--listed", "--ranks", "--types")
#: Errors of a launch that are no index.
UNCOUNTED = ("block", "barrier", "")
KERNEL = re.compile(r"^kernel (\w+)", re.MULTILINE)


def kernels() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Files with kernels, the kernels, and the options they are built with."""
    for name in tracked("stdlib-kernels/*.qn"):
        for kernel in KERNEL.findall((ROOT / name).read_text()):
            yield name, kernel, tuple(CHOSEN.get(kernel, []))
    for name in tracked("lit-tests/**/*.qn"):
        text = (ROOT / name).read_text()
        own = set(KERNEL.findall(text))
        seen = set()
        for line in re.findall(r"RUN: (?:not )?quern build %s (.*?)(?:[|>]|$)", text, re.MULTILINE):
            words = line.split()
            options = tuple(
                w for w in words[1:] if w.startswith("--") and w.split("=")[0] in OPTIONS
            )
            if words and words[0] in own and (words[0], options) not in seen:
                seen.add((words[0], options))
                yield name, words[0], options


def checks(program: Path, words: list[str], every: bool) -> int | None:
    """Indices that are checked; nothing where the kernel is not made."""
    environment = dict(os.environ, QUERN_CACHE_DIR="-", QUERN_BOUNDS="all" if every else "")
    done = subprocess.run(
        [program, "build", *words, "--emit=abi"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        return None
    return sum(site["axis"] not in UNCOUNTED for site in json.loads(done.stdout)["sites"])


def main(arguments: list[str]) -> int:
    program = build_dir() / "bin" / "quern"
    for argument in arguments:
        if argument.startswith("--program="):
            program = Path(argument.removeprefix("--program=")).resolve()
    totals: dict[tuple[str, str], list[int]] = {}
    for name, kernel, options in kernels():
        where = "library" if name.startswith("stdlib") else "lit-tests"
        for target in TARGETS:
            words = [name, kernel, *options, f"--target={target}"]
            left, every = (checks(program, words, each) for each in (False, True))
            if left is None or every is None:
                continue
            print(f"{name}:{kernel} {target}: {every - left} of {every} proved")
            total = totals.setdefault((where, target), [0, 0])
            total[0] += every - left
            total[1] += every
    for (where, target), (proved, every) in totals.items():
        print(f"{where}, {target}: {proved} of {every} checks are left out")
    return 0
