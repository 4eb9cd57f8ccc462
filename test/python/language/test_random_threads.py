"""Random `kernel`s without races give what their statements mean, thread by thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.amd import kernel_for
from random_threads import make
from slices import everything, matrix
from thread_runs import SCALAR, compare, operands, run
from tree import build_dir

PROGRAM = build_dir() / "bin" / "quern"
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")


@pytest.mark.parametrize("first", range(0, 2000 if everything() else 40, 10))
def test_on_the_cpu(first: int) -> None:
    for seed in range(first, first + 10):
        run(seed)


PAIRS = matrix(
    "random kernels on GPUs",
    [(seed, target) for seed in range(60) for target in TARGETS],
    group=lambda pair: pair[1],
    quick=0.05,
)


@pytest.mark.parametrize(("seed", "target"), PAIRS)
def test_on_a_gpu(seed: int, target: str, tmp_path: Path) -> None:
    program = make(seed)
    (tmp_path / "k.qn").write_text(program.text)
    kernel: Any = kernel_for(PROGRAM, tmp_path / "k.qn", "k", target, ())
    arrays = operands(program)
    kernel.run(arrays, [np.int64(SCALAR)])
    assert not kernel.errors.any()
    compare(program, arrays, 64 if target in ("gfx90a", "gfx942") else 32)
