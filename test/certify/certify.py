"""Measures every function of the prelude and writes docs/math.md: `./dev certify [NAME…]`."""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from functions import FUNCTIONS
from measure import Worst, every_input, measure, sampled

TABLE = Path(__file__).resolve().parents[2] / "docs" / "math.md"
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
HEAD = """# Errors of the mathematical functions

Written by `./dev certify`. Largest error in units in the last place of the result's type; 0.50 is
a correctly rounded result; `where` is an input with the largest f32 error. Inputs of functions of
one argument: {inputs}, every f16 and bf16 input, f64 sampled;
of two arguments: sampled (special values in all combinations, and random ones). References: f64
for the types up to f32, the extended type of x86 for f64. Special values (zeros and their signs,
infinities, NaN) agree with C's but for: {wrong}.

| function | bar f32 | f32 | f16 | bf16 | f64 | where |
|---|---|---|---|---|---|---|
"""


def batches(name: str, dtype: torch.dtype, step: int, count: int) -> Iterator[list[torch.Tensor]]:
    function = FUNCTIONS[name]
    if function.operands == 1 and dtype != torch.float64:
        return every_input(dtype, step if dtype == torch.float32 else 1)
    return sampled(dtype, function.operands, count, seed=1)


def row(name: str, step: int, count: int) -> tuple[str, list[str]]:
    """One line of the table, and what was wrong in kind."""
    cells: dict[str, str] = {}
    wrong = []
    where: tuple[float, ...] = ()
    for spelling, dtype in TYPES.items():
        if dtype == torch.float64 and FUNCTIONS[name].extended is None:
            cells[spelling] = "-"
            continue
        worst: Worst = measure(name, batches(name, dtype, step, count))
        cells[spelling] = f"{worst.error:.2f}"
        if spelling == "f32":
            where = worst.at
        if worst.wrong:
            wrong.append(f"`{name}` {spelling} at {worst.wrong_at} ({worst.wrong} values)")
    at = ", ".join(f"{x:.9g}" for x in where)
    bar = f"{FUNCTIONS[name].bar:g}"
    return f"| `{name}` | {bar} | {' | '.join(cells.values())} | {at} |\n", wrong


def timed_row(name: str, step: int, count: int) -> tuple[str, list[str], float]:
    begin = time.perf_counter()
    return *row(name, step, count), time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="functions; all without")
    parser.add_argument("--step", type=int, default=1, help="every N-th f32 input")
    parser.add_argument("--samples", type=int, default=1 << 24, help="random inputs")
    parser.add_argument("--write", action="store_true", help="write docs/math.md")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("the table is written as a whole: no names with --write")
    names = options.names or list(FUNCTIONS)
    lines, wrong = [], []
    with multiprocessing.get_context("spawn").Pool(
        initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        measured = functools.partial(timed_row, step=options.step, count=options.samples)
        for line, bad, seconds in pool.imap(measured, names, chunksize=1):
            lines.append(line)
            wrong += bad
            print(f"{line.rstrip()} {seconds:.0f} s", *bad, flush=True)
    if options.write:
        share = "every f32 input" if options.step == 1 else f"every {options.step}th f32 input"
        TABLE.write_text(
            HEAD.format(inputs=share, wrong="; ".join(wrong) or "none") + "".join(lines)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
