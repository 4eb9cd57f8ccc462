"""Runs random cases by seed, in processes of their own, until the time is over.

A case is a function of its seed that says what is wrong, or "". A process that ends is a finding of
the seed that it worked on; another one goes on behind it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable

Case = Callable[[int], str]
#: The module and the function of each name.
CASES: dict[str, tuple[str, str]] = {
    "caches": ("damaged_caches", "run"),
    "graphs": ("graph_runs", "run"),
    "recordings": ("damaged_recordings", "run"),
    "schedules": ("edited_schedules", "run"),
    "small-graphs": ("random_small_graphs", "run"),
    "threads": ("thread_runs", "run"),
}
#: Seconds that one case may take.
LONGEST = 300


def work(name: str, first: int, step: int) -> None:
    """A line before each case, and what is wrong behind it."""
    module, function = CASES[name]
    run: Case = getattr(importlib.import_module(module), function)
    seed = first
    while True:
        print(f"seed {seed}", flush=True)
        try:
            wrong = run(seed)
        except Exception as error:
            wrong = f"seed {seed}: {type(error).__name__}: {error}"
        if wrong:
            print("finding", wrong.replace("\n", "\n  "), flush=True)
        seed += step


class Worker:
    """A process that works on each `step`-th seed."""

    def __init__(self, name: str, first: int, step: int) -> None:
        self.name, self.step = name, step
        self.cases, self.findings = 0, 0
        self.start(first)

    def start(self, first: int) -> None:
        self.seed, self.since = first, time.monotonic()
        words = [__file__, self.name, f"--work={self.step}", f"--first={first}"]
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", *words], stdout=subprocess.PIPE, text=False
        )
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = b""

    def find(self, text: str) -> None:
        self.findings += 1
        print(f"=== {self.name}: {text}", flush=True)

    def listen(self) -> None:
        """Takes what the process said; starts it again where it ended or hangs."""
        assert self.process.stdout
        self.text += self.process.stdout.read() or b""
        *lines, self.text = self.text.split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "seed":
                self.seed, self.since = int(rest), time.monotonic()
                self.cases += 1
            elif word == "finding":
                self.find(rest)
            else:
                print(line.decode(errors="replace"))
        if (status := self.process.poll()) is not None:
            if self.cases == 0:
                sys.exit(f"{self.name}: the process ended with {status} before its first case")
            self.find(f"seed {self.seed}: the process ended with {status}")
            self.start(self.seed + self.step)
        elif time.monotonic() - self.since > LONGEST:
            self.process.kill()
            self.process.wait()
            self.find(f"seed {self.seed}: takes more than {LONGEST} seconds")
            self.start(self.seed + self.step)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(CASES))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--work", type=int, default=0, help="(of a process: the step)")
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.name, chosen.first, chosen.work)
    count = chosen.processes
    workers = [Worker(chosen.name, chosen.first + i, count) for i in range(count)]
    end = time.monotonic() + chosen.seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        for worker in workers:
            worker.listen()
    for worker in workers:
        worker.process.kill()
        worker.process.wait()
    cases, findings = (sum(getattr(w, n) for w in workers) for n in ("cases", "findings"))
    print(f"{cases} cases of {chosen.name}, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
