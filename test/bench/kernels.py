"""Explicit kernels against the same kernels in OpenCL on PoCL, paired in one run.

`./dev bench kernels [--only NAME] [--threads N]`
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import quern
from _opencl import Peer, install
from _timing import geomean, lower_quartile_ratio, median, rounds

KERNELS = Path(__file__).parents[1] / "kernels"


@dataclass
class Row:
    """One kernel: our call, and what the peer is given."""

    name: str
    ours: Callable[..., Any]
    operands: list[Any]
    constants: dict[str, int]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    sizes: list[int]
    outputs: list[int]
    scalars: list[Any]


def declaration(family: str, name: str = "") -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(quern.load(KERNELS / f"{family}.qn"), name or family)
    return found


def rows() -> list[Row]:
    rng = np.random.default_rng(3)
    square = rng.standard_normal((2048, 2048)).astype("f4")
    a, b = (rng.standard_normal((512, 512)).astype("f4") for _ in range(2))
    count = 1 << 22
    x = rng.standard_normal(count).astype("f4")
    bins = rng.integers(0, 256, count).astype("i4")
    keys = rng.integers(0, 2**32, count, dtype="u4")
    blocks = count // 256
    counts = np.zeros((16, blocks), "i4")
    declaration("radix", "radix_count")(keys, counts, 8)
    starts = (counts.reshape(-1).cumsum(dtype="i4") - counts.reshape(-1)).reshape(16, blocks)
    transpose, matmul = declaration("transpose"), declaration("matmul")
    return [
        Row("transpose", transpose, [square, np.zeros_like(square)], {},
            (64, 64), (32, 8), [2048, 2048], [1], []),
        Row("matmul", matmul, [a, b, np.zeros_like(a)], {},
            (32, 32), (16, 16), [512, 512, 512], [2], []),
        Row("histogram", declaration("histogram"), [bins, np.zeros(256, "i4")], {},
            (count // 4096,), (256,), [count], [], []),
        Row("block_scan", declaration("scan", "block_scan"),
            [x, np.zeros_like(x), np.zeros(blocks, "f4")], {},
            (blocks,), (256,), [count], [1, 2], []),
        Row("radix_scatter", declaration("radix", "radix_scatter"),
            [keys, starts, np.zeros_like(keys)], {},
            (blocks,), (256,), [count, blocks, 8], [2], [8]),
        Row("stencil", declaration("stencil"), [square, np.zeros_like(square)], {},
            (64, 256), (32, 8), [2048, 2048], [1], [0.25]),
    ]  # fmt: skip


def report(row: Row, peer: Peer) -> float:
    """Checks that both agree, times them, and prints a line."""
    given = [np.copy(x) for x in row.operands]
    numbers = [np.int32(n) for n in row.sizes]
    if row.name == "stencil":
        numbers.append(np.float32(row.scalars[0]))
    theirs = peer.call(row.name, row.grid, row.block, [*given, *numbers])

    def ours() -> None:
        row.ours(*row.operands, *row.scalars, **row.constants)

    ours()
    theirs()
    for number in row.outputs:
        np.testing.assert_allclose(row.operands[number], given[number], rtol=1e-4, atol=1e-4)
    times = rounds({"quern": ours, "pocl": theirs})
    ratio = lower_quartile_ratio(times["quern"], times["pocl"])
    print(
        f"{row.name:16} {median(times['quern']):10.1f} us  pocl {median(times['pocl']):10.1f} us"
        f"  {ratio:6.2f}x",
        flush=True,
    )
    return ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.environ["POCL_MAX_PTHREAD_COUNT"] = str(options.threads)
    install()
    peer = Peer()
    ratios = [report(row, peer) for row in rows() if options.only in ("", row.name)]
    print(f"{'geomean':16} {geomean(ratios):.2f}x, least {min(ratios):.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
