"""`./dev schedules`: fingerprints of the code that every kernel gets on every target.

A step of the compiler that is meant to change nothing is checked with two runs:
`./dev schedules --write before.tsv`, the step, `./dev schedules --against before.tsv`.
A row is a target, a file, a kernel and the hash of its loops, in the compiler's own text."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tree import ROOT, build_dir, environment, say

from build import build

CPUS = ("x86-64-v2", "x86-64-v4", "sapphirerapids")
GPUS = ("sm_90", "gfx942")
#: Flags of the specializations that carry a schedule.
GPU_HINTS = ((), ("--listed",))
KERNEL = re.compile(r"^(?:elementwise|rowwise|kernel) (\w+)", re.M)
RUN = re.compile(r"RUN: quern-opt %s (--qn-schedule=target=\S+ --qn-to-loops=target=\S+)")

Row = tuple[str, str, str]
Hashes = dict[Row, str]


@dataclass(frozen=True)
class Job:
    """One call of a compiler, for one row."""

    target: str
    file: Path
    kernel: str
    command: tuple[str, ...]

    def row(self) -> Row:
        return (self.target, str(self.file.relative_to(ROOT)), self.kernel)


def texts() -> Iterator[Path]:
    for folder in ("stdlib-kernels", "lit-tests"):
        yield from sorted((ROOT / folder).rglob("*.qn"))


def jobs(targets: tuple[str, ...]) -> Iterator[Job]:
    """A job for each kernel of the library and of lit's inputs, target and hint."""
    programs = build_dir() / "bin"
    for target in targets:
        stage = "gpu" if target in GPUS else "loops"
        hints = GPU_HINTS if target in GPUS else ((),)
        for file in texts():
            for kernel in dict.fromkeys(KERNEL.findall(file.read_text())):
                for hint in hints:
                    words = (f"--emit={stage}", f"--target={target}", *hint)
                    command = (str(programs / "quern"), "build", str(file), kernel, *words)
                    yield Job(" ".join((target, *hint)), file, kernel, command)
    for file in sorted((ROOT / "lit-tests").rglob("*.mlir")):
        for passes in dict.fromkeys(RUN.findall(file.read_text())):
            target = passes.rpartition("=")[2]
            if target in targets:
                yield Job(
                    target, file, "*", (str(programs / "quern-opt"), str(file), *passes.split())
                )


def fingerprint(job: Job) -> tuple[Row, str]:
    """The hash of what the compiler prints; of its message where it refuses."""
    env = {**environment(), "QUERN_CACHE_DIR": "-"}
    done = subprocess.run(job.command, env=env, capture_output=True, check=False)
    text = done.stdout if done.returncode == 0 else b"refused: " + done.stderr
    text = text.replace(str(ROOT).encode(), b"")
    return job.row(), hashlib.sha256(text).hexdigest()[:16]


def measure(targets: tuple[str, ...]) -> Hashes:
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(pool.map(fingerprint, jobs(targets)))


def read(path: Path) -> Hashes:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(target, file, kernel): value for target, file, kernel, value in rows}


def write(path: Path, hashes: Hashes) -> None:
    lines = ["\t".join((*row, value)) + "\n" for row, value in sorted(hashes.items())]
    path.write_text("".join(lines))


def differences(before: Hashes, now: Hashes) -> list[str]:
    """One line for each row that changed, appeared or is gone."""
    lines = []
    for row in sorted(before.keys() | now.keys()):
        if before.get(row) != now.get(row):
            what = "new" if row not in before else "gone" if row not in now else "changed"
            lines.append("\t".join((what, *row)))
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev schedules")
    parser.add_argument("--write", type=Path, help="keep the fingerprints in this file")
    parser.add_argument("--against", type=Path, help="compare with the fingerprints in this file")
    parser.add_argument("--target", action="append", choices=CPUS + GPUS, help="only this one")
    chosen = parser.parse_args(arguments)
    if status := build(targets=("quern", "quern-opt")):
        return status
    targets = tuple(chosen.target or CPUS + GPUS)
    now = measure(targets)
    say(f"{len(now)} kernels on {', '.join(targets)}")
    if chosen.write:
        write(chosen.write, now)
    if not chosen.against:
        return 0
    before = {row: v for row, v in read(chosen.against).items() if row[0].split()[0] in targets}
    changed = differences(before, now)
    print("\n".join(changed[:50]))
    say(f"{len(changed)} of {len(before)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
