"""Runs random kernels of `random_bounds`, with proofs and with every check, between guard pages.

    python test/python/fuzz/bounds_runs.py --seconds=600 --first=1000 [--gpu]

A fault ends the process: the last line names the seed. A program is a kernel with its own indices
and conditions; it is run with several sets of data, each with proofs and with every check.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import _quern
import numpy as np
import torch
from emulator.device import EmulatedDevice, FarTensor
from guard_pages import between_pages
from random_bounds import Data, Kernel, Program, make
from scalar_reference import INTEGERS, Array

#: Data that each kernel is called with.
CALLS = 3


def messages(kernel: Any, arguments: list[Any]) -> str:
    """What the launch says."""
    try:
        kernel(*arguments)
    except _quern.Error as error:
        return str(error).split("\n", 1)[0]
    return ""


def expanded(extent: int) -> torch.Tensor:
    return torch.full((1,), 7, dtype=torch.int8).expand(extent)


def near(kernel: Kernel, data: Data, at_end: bool) -> tuple[list[Any], list[Array]]:
    """Arguments between guard pages, and those that are written."""
    read = [data.arrays[name] for name in ("x", "g")]
    typed = [data.arrays[f"a_{t}"] for t in INTEGERS]
    outs = [np.zeros(data.extents["T"], np.int32) for _ in range(kernel.outputs)]
    written = [between_pages(each, at_end) for each in (data.arrays["w"], *outs)]
    inputs = [between_pages(each, at_end) for each in (*read, *typed)]
    return [*inputs[:2], expanded(data.extents["E"]), *inputs[2:], *written], written


def far(device: EmulatedDevice, arguments: list[Any]) -> list[FarTensor]:
    """The same on the emulated device."""
    made = []
    for each in arguments:
        tensor = each if isinstance(each, torch.Tensor) else torch.from_numpy(each)
        extent = tensor.shape[0]
        is_expanded = isinstance(each, torch.Tensor)
        made.append(FarTensor(device, tensor[:1].clone() if is_expanded else tensor))
        if is_expanded:
            made[-1].near = made[-1].near.expand(extent)
    return made


def check(
    kernel: Kernel, program: Program, modules: list[Any], device: EmulatedDevice | None, calls: int
) -> int:
    """Calls with proofs and without, against what the text means; the launches that are errors."""
    errors = 0
    for seed in range(calls):
        data = program.data(seed)
        wanted, fails = kernel.run(data, program.block, program.blocks)
        said = []
        for module in modules:
            arguments, written = near(kernel, data, at_end=seed % 2 == 0)
            given: list[Any] = arguments
            if device is not None:
                given = far(device, arguments)
                written = [each.near.numpy() for each in given[-len(written) :]]
            said.append(messages(getattr(module, kernel.name), given))
            where = f"seed {program.seed}, data {seed}: {said[-1]}\n{kernel.text}"
            assert ("QN2050" in said[-1]) == fails, where
            assert bool(said[-1]) == fails, where
            for got, exact in zip(written, wanted, strict=True):
                np.testing.assert_array_equal(got, exact, err_msg=where)
            assert device is None or not device.violations, device.violations + where
        # Threads of a GPU come to the record in any order.
        assert device is not None or len(set(said)) == 1, f"{said}\n{kernel.text}"
        errors += fails
    return errors


def is_text(text: str, session: Any) -> bool:
    try:
        session.compile(text, "bounds.qn")
    except _quern.Error:
        return False
    return True


def modules_of(program: Program, session: Any) -> list[Any]:
    """With proofs and with every check, without kernels whose constants the checker refuses."""
    program.kernels = [k for k in program.kernels if is_text(program.text_of([k]), session)]
    text = program.text_of(program.kernels)
    return [session.compile(text, "bounds.qn", bounds) for bounds in ("proved", "all")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--gpu", action="store_true")
    chosen = parser.parse_args()
    device: EmulatedDevice | None = None
    if chosen.gpu:
        from emulator.device import emulated
        from tree import build_dir

        device = emulated(build_dir() / "test" / "stand-in")
        device.become("sm_90")
    end = time.monotonic() + chosen.seconds
    seed, kernels, launches, errors = chosen.first, 0, 0, 0
    while time.monotonic() < end:
        print(f"seed {seed}: so far {kernels} kernels, {launches} launches", flush=True)
        program = make(seed)
        modules = modules_of(program, _quern.Session(threads=1, cache="-"))
        for kernel in program.kernels:
            errors += check(kernel, program, modules, device, CALLS)
            launches += CALLS * len(modules)
        kernels += len(program.kernels)
        seed += 1
    print(f"{kernels} kernels, {launches} launches, {errors} of them errors: all as they mean")


if __name__ == "__main__":
    main()
