"""Runs random explicit `kernel`s on this machine, and compares them with NumPy."""

from __future__ import annotations

import numpy as np
import quern
from random_threads import Program, make
from scalar_reference import HELD, Array
from thread_meaning import host_warp

#: What stands for `n`.
SCALAR = 5


def operands(program: Program) -> list[Array]:
    inputs = program.inputs()
    outputs = [np.zeros(len(inputs[0]), HELD[t]) for t in program.outputs]
    return [*inputs, np.zeros(8, "i4"), *outputs]


def compare(program: Program, arrays: list[Array], warp: int) -> None:
    for now, then in zip(arrays[2:], program.run(warp), strict=True):
        np.testing.assert_array_equal(now, then, err_msg=program.text)


def run(seed: int) -> str:
    """Checks the program of a number; what is wrong is raised."""
    program = make(seed)
    arrays = operands(program)
    quern.compile(program.text, "k.qn").k(*arrays, SCALAR)
    compare(program, arrays, host_warp())
    return ""
