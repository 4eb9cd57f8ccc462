"""Kernels of test/kernels as users write them: on the CPU, as PTX and as code for AMD."""

from __future__ import annotations

import functools
from typing import Any

import every_case
import numpy as np
import pytest
import quern
import torch
from emulator.amd import kernel_for
from emulator.kernels import GpuKernel
from kernel_cases import Array, Case
from slices import matrix
from thread_meaning import host_warp
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FOLDER = ROOT / "test" / "kernels"
CASES = every_case.cases()
TARGETS = ("sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100", "gfx1201")


@functools.cache
def module(file: str) -> Any:
    return quern.load(FOLDER / f"{file}.qn")


@functools.cache
def built(file: str, name: str, target: str, *options: str) -> GpuKernel:
    return kernel_for(PROGRAM, FOLDER / f"{file}.qn", name, target, options)


def shared(array: Array) -> torch.Tensor:
    """The same memory as bf16."""
    return torch.from_numpy(array.view("i2")).view(torch.bfloat16)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_on_the_cpu(case: Case) -> None:
    arrays = [array.copy() for array in case.arrays]
    kernel = getattr(module(case.file), case.name)
    words = [int(s) if isinstance(s, np.integer) else float(s) for s in case.scalars]
    given = [shared(array) if case.has_bits(array) else array for array in arrays]
    in_order = [*words, *given] if case.scalars_first else [*given, *words]
    kernel(*in_order, **case.constants)
    case.check(arrays, host_warp())


PAIRS = matrix(
    "written kernels on GPUs",
    [(place, target) for place in range(len(CASES)) for target in TARGETS],
    group=lambda pair: (CASES[pair[0]].name, pair[1][:2]),
    quick=0.1,
)


@pytest.mark.parametrize(
    ("place", "target"), PAIRS, ids=[f"{CASES[place]}-{target}" for place, target in PAIRS]
)
def test_on_a_gpu(place: int, target: str) -> None:
    """PTX in the emulator, code for AMD on this machine."""
    case = CASES[place]
    arrays = [array.copy() for array in case.arrays]
    options = []
    if case.types:
        options.append("--types=" + ",".join(f"{k}={v}" for k, v in case.types.items()))
    if case.constants:
        options.append("--constants=" + ",".join(f"{k}={v}" for k, v in case.constants.items()))
    kernel = built(case.file, case.name, target, *options)
    kernel.run(arrays, case.scalars)
    assert not kernel.errors.any()
    case.check(arrays, 64 if target in ("gfx90a", "gfx942") else 32)
