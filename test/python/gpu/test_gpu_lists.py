"""A launch for several calls gives what each of them gives: tables in parameters and in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.amd import kernel_for
from emulator.lists import run_together
from emulator.ptx_types import Array
from slices import gpus, matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILES = ROOT / "test" / "emulator"
TARGETS = gpus("lists on GPUs")
#: A declaration and the shapes of each call's operands, the result's last; in the order of calls.
SHAPES: dict[tuple[str, str], list[list[tuple[int, ...]]]] = {
    ("schedules", "gate"): [[(n,)] * 3 for n in (5, 700, 1, 1300, 64, 0, 33)],
    ("schedules", "softmax"): [[(r, c)] * 2 for r, c in ((3, 7), (5, 100), (2, 101), (1, 2000))],
    ("schedules", "total"): [[(n,), ()] for n in (9, 2000, 1, 700)],
    ("schedules", "columns"): [[(r, c), (c,)] for r, c in ((40, 5), (300, 64), (7, 130))],
    ("schedules", "mm"): [[(m, 9), (9, n), (m, n)] for m, n in ((3, 5), (40, 33), (17, 8))],
    ("joined", "softmax_of_list"): [[(2, a), (2, b), (2, a + b)] for a, b in ((3, 5), (40, 60))],
}
CASES = matrix(
    "lists on GPUs",
    [(*key, target, far) for key in SHAPES for target in TARGETS for far in (False, True)],
    group=lambda case: (case[1], case[2][:2]),
    quick=0.5,
)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


MEANING: dict[str, Any] = {
    "gate": lambda x, g: x * g / (1 + np.exp(-g)),
    "softmax": softmax,
    "total": lambda x: x.sum(),
    "columns": lambda x: x.sum(0),
    "mm": lambda a, b: a @ b,
    "softmax_of_list": lambda *xs: softmax(np.concatenate(xs, 1)),
}


@pytest.mark.parametrize(("file", "name", "target", "far"), CASES)
def test_calls_of_one_launch(file: str, name: str, target: str, far: bool) -> None:
    kernel = kernel_for(PROGRAM, FILES / f"{file}.qn", name, target, ["--listed"])
    rng = np.random.default_rng(7)
    calls, ends = [], []
    for *given, result in SHAPES[file, name]:
        columns = np.cumsum([shape[-1] for shape in given if shape])
        ends.append(columns if file == "joined" else [])
        arrays = [rng.standard_normal(shape).astype("f4") for shape in given]
        calls.append([*arrays, np.zeros(result, "f4")])
    wanted = [MEANING[name](*(a.astype("f8") for a in call[:-1])) for call in calls]
    run_together(kernel, calls, ends, far)
    assert not kernel.errors.any()
    for call, value in zip(calls, wanted, strict=True):
        np.testing.assert_allclose(call[-1], value, rtol=2e-5, atol=2e-5)
