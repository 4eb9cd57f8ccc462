"""`./dev fuzz NAME`: random input for one part of the tree, for as long as it is asked to.

./dev fuzz front-end [--seconds=60]   bytes, under the sanitizers (libFuzzer)
./dev fuzz kernels                    programs, against the evaluator
./dev fuzz bounds | threads           explicit kernels, against NumPy
./dev fuzz graphs | small-graphs      PyTorch programs, against eager
./dev fuzz caches | recordings        damaged files
./dev fuzz schedules                  edited schedules
./dev fuzz server                     edits and requests of an editor
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from pathlib import Path

from tree import ROOT, VENV, build_dir, environment, run

from build import build

FINDING = re.compile(r"^=== seed (\d+): (.*)$", re.MULTILINE)
COUNTS = re.compile(r"(\d+) programs: (\d+) agree, (\d+) refused, (\d+) findings")
#: Programs of one process of `fuzz-kernels`: some ten seconds.
PIECE = 40


def front_end(seconds: int, first: int) -> int:
    if status := build(targets=("fuzz-frontend",)):
        return status
    kept = build_dir() / "fuzz" / "front-end"
    kept.mkdir(parents=True, exist_ok=True)
    return run(
        *(build_dir() / "bin" / "fuzz-frontend", kept, ROOT / "test" / "fuzz" / "corpus"),
        *("-max_len=1024", f"-max_total_time={seconds}", f"-seed={first + 1}"),
        f"-artifact_prefix={kept.parent}/",
    )


def smaller(seed: str, kind: str) -> None:
    """Prints what `quern reduce` leaves of a program with a finding."""
    binaries, folder = build_dir() / "bin", build_dir() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    program, result = folder / f"seed-{seed}.qn", folder / f"seed-{seed}-reduced.qn"
    run(binaries / "fuzz-kernels", "--seed", seed, "--write", program)
    again = (binaries / "fuzz-kernels", "--seed", seed, "--kind", kind, "--text", "{}")
    # The operands are those of the whole program, so that its signature stays.
    run(binaries / "quern", "reduce", program, "--keep=k", "-o", result, "--", *again)
    if result.exists():
        print(f"--- {result}\n{result.read_text()}", flush=True)


def kernels(seconds: int, first: int) -> int:
    if status := build(targets=("fuzz-kernels", "quern")):
        return status
    end, totals = time.monotonic() + seconds, [0, 0, 0, 0]
    processes = str(len(os.sched_getaffinity(0)))
    while time.monotonic() < end:
        words = [str(build_dir() / "bin" / "fuzz-kernels"), str(first), str(PIECE), processes]
        done = subprocess.run(
            words, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True, check=False
        )
        found = COUNTS.search(done.stdout)
        if not found:
            print(done.stdout)
            return 1
        print(done.stdout[: found.start()], end="", flush=True)
        for seed, kind in FINDING.findall(done.stdout):
            smaller(seed, kind)
        totals = [a + int(b) for a, b in zip(totals, found.groups(), strict=True)]
        first += PIECE
    print("{} programs: {} agree, {} refused, {} findings".format(*totals))
    return 1 if totals[-1] else 0


def server(seconds: int, first: int) -> int:
    if status := build(targets=("fuzz-server",)):
        return status
    end = time.monotonic() + seconds
    found = 0
    while time.monotonic() < end:
        # A process that dies is a finding of its seeds.
        found += run(build_dir() / "bin" / "fuzz-server", str(first), str(PIECE)) != 0
        first += PIECE
    print(f"seeds up to {first}: {found} processes with findings")
    return 1 if found else 0


def python(file: str, *words: str) -> int:
    if status := build():
        return status
    folders = [ROOT / "test" / each for each in ("python/fuzz", "python/support", "dev", ".")]
    modules = os.pathsep.join([*map(str, folders), environment()["PYTHONPATH"]])
    script: Path = ROOT / "test" / "python" / "fuzz" / file
    return run(VENV / "bin" / "python", "-W", "ignore", script, *words, PYTHONPATH=modules)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz")
    names = ("front-end", "kernels", "bounds", "threads", "graphs", "small-graphs")
    parser.add_argument("name", choices=(*names, "caches", "recordings", "schedules", "server"))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    chosen = parser.parse_args(arguments)
    limits = (f"--seconds={chosen.seconds}", f"--first={chosen.first}")
    if chosen.name == "front-end":
        return front_end(chosen.seconds, chosen.first)
    if chosen.name == "kernels":
        return kernels(chosen.seconds, chosen.first)
    if chosen.name == "server":
        return server(chosen.seconds, chosen.first)
    if chosen.name == "bounds":
        return python("bounds_runs.py", *limits)
    return python("fuzz_runs.py", chosen.name, *limits)
