"""The twelve models against eager and Inductor: paired, interleaved rounds in one process.

`./dev bench models [MODEL…] [--training] [--bf16] [--tiny] [--rounds N] [--no-inductor] [--own]
[--json FILE]`; with `--own` once more without ATen's products, convolutions and attention;
with `--memory` peaks of a steady step's tensors and resident memory
after the first, each model and backend in a process of its own.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _memory
import torch
from _machine import description

# The models' package, not this file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from models import NAMES, Task, build

Step = Callable[[], Any]


def inference_step(task: Task, call: Any) -> Step:
    def step() -> Any:
        with torch.no_grad():
            return call(**task.inputs)

    return step


def training_step(task: Task, module: torch.nn.Module, call: Any) -> Step:
    def step() -> Any:
        module.zero_grad(set_to_none=True)
        loss = task.loss(call(**task.inputs))
        loss.backward()
        return loss

    return step


def prepare(task: Task, backend: str, training: bool) -> Step:
    module = copy.deepcopy(task.module)
    if backend == "own":
        call: Any = torch.compile(module, backend="quern", options={"preferred": "own"})
    else:
        call = module if backend == "eager" else torch.compile(module, backend=backend)
    if training:
        module.train()
        return training_step(task, module, call)
    module.eval()
    return inference_step(task, call)


def to_bf16(task: Task) -> None:
    task.module.to(torch.bfloat16)
    for key, value in task.inputs.items():
        if value.is_floating_point():
            task.inputs[key] = value.to(torch.bfloat16)


def measure(steps: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every step of every round, the backends in turn."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(1e3 * (time.perf_counter() - start))
    return times


def run(name: str, backends: list[str], options: argparse.Namespace) -> dict[str, Any]:
    torch._dynamo.reset()
    task = build(name, tiny=options.tiny)
    if options.bf16:
        to_bf16(task)
    row: dict[str, Any] = {"model": name, "first_s": {}}
    steps = {}
    for backend in backends:
        steps[backend] = prepare(task, backend, options.training)
        start = time.perf_counter()
        steps[backend]()
        row["first_s"][backend] = time.perf_counter() - start
    measure(steps, 1)
    times = measure(steps, options.rounds)
    row["ms"] = {backend: statistics.median(values) for backend, values in times.items()}
    row["ratio"], row["quartiles"] = {}, {}
    for backend in backends[1:]:
        pairs = zip(times["eager"], times[backend], strict=True)
        ratios = sorted(e / t for e, t in pairs)
        last = len(ratios) - 1
        row["ratio"][backend] = statistics.median(ratios)
        row["quartiles"][backend] = [ratios[last // 4], ratios[last - last // 4]]
    return row


def memory_of(name: str, backend: str, options: argparse.Namespace) -> dict[str, int]:
    """What a process that runs this model only needs."""
    torch.set_num_threads(options.threads)
    task = build(name, tiny=options.tiny)
    if options.bf16:
        to_bf16(task)
    step = prepare(task, backend, options.training)
    step()
    resident = _memory.resident_bytes()
    for _ in range(2):
        step()
    return {"peak": _memory.peak_bytes(step), "resident": resident}


def compare_memory(options: argparse.Namespace) -> int:
    print(f"{'model':12}  {'eager MB':>9}  {'quern MB':>9}  {'ratio':>9}  {'RSS +MB':>9}")
    over = 0
    for name in options.models or NAMES:
        found = {}
        # A fork, of a process that has run nothing: torch is loaded once.
        for backend in ("eager", "quern"):
            with multiprocessing.get_context("fork").Pool(1) as alone:
                found[backend] = alone.apply(memory_of, (name, backend, options))
        over += not _memory.print_row(name, found["eager"], found["quern"])
    print(f"{over} over eager's peak or {_memory.ALLOWED_RESIDENT // _memory.MB} MB more resident")
    return 0


def print_row(row: dict[str, Any]) -> None:
    cells = [f"{row['model']:12}", f"{row['ms']['eager']:9.1f}"]
    for backend, ratio in row["ratio"].items():
        cells.append(f"{ratio:7.3f} {row['first_s'][backend]:7.1f}")
    print("  ".join(cells), flush=True)


def print_summary(rows: list[dict[str, Any]], backends: list[str]) -> None:
    cells = [f"{'geomean':12}", " " * 9]
    for backend in backends[1:]:
        ratios = [row["ratio"][backend] for row in rows]
        cells.append(f"{statistics.geometric_mean(ratios):7.3f} {'':7}")
    print("  ".join(cells))
    for backend in backends[1:]:
        lowest = min(rows, key=lambda row: row["ratio"][backend])
        print(f"lowest of {backend}: {lowest['model']} {lowest['ratio'][backend]:.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(NAMES), metavar="MODEL")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="the sizes of the tests")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--own", action="store_true", help="also with no preferred call of ATen")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.memory:
        return compare_memory(options)
    backends = ["eager", "quern"] + ["own"] * options.own
    backends += [] if options.no_inductor else ["inductor"]
    header = [f"{'model':12}", f"{'eager ms':>9}"]
    header += [f"{backend + ' x':>10} {'1st s':>4}" for backend in backends[1:]]
    print("  ".join(header))
    rows = []
    for name in options.models or NAMES:
        rows.append(run(name, backends, options))
        print_row(rows[-1])
    print_summary(rows, backends)
    if options.json:
        record = {
            "what": "training step" if options.training else "inference",
            "dtype": "bf16" if options.bf16 else "f32",
            "threads": options.threads,
            "rounds": options.rounds,
            "machine": description(),
            "rows": rows,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
