"""Random kernels with indices near the ends of types mean the same with proofs and without."""

from __future__ import annotations

from typing import Any

import _quern
import pytest
from bounds_runs import CALLS, check, modules_of
from emulator.device import emulated
from random_bounds import make
from slices import everything
from targets import runnable
from tree import build_dir


@pytest.mark.parametrize("target", [runnable(t) for t in ("x86-64-v2", "x86-64-v3", "")])
@pytest.mark.parametrize("first", range(0, 100 if everything() else 4, 2))
def test_on_the_cpu(target: str, first: int) -> None:
    for seed in range(first, first + 2):
        program = make(seed)
        session: Any = _quern.Session(threads=1, cache="-", target=target)
        modules = modules_of(program, session)
        for kernel in program.kernels:
            check(kernel, program, modules, None, CALLS)


@pytest.mark.parametrize("seed", range(20 if everything() else 1))
def test_on_a_gpu(seed: int) -> None:
    device = emulated(build_dir() / "test" / "stand-in")
    device.become("sm_90")
    program = make(seed)
    modules = modules_of(program, _quern.Session(threads=1, cache="-"))
    for kernel in program.kernels[: None if everything() else 4]:
        check(kernel, program, modules, device, 1)
