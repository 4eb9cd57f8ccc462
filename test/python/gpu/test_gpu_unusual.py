"""Unusual programs agree between GPUs and the CPU."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quern
import torch
import unusual_calls
from emulator.amd import kernel_for
from slices import AMD, NVIDIA, matrix
from tree import ROOT, build_dir
from unusual_calls import F8, Call

PROGRAM = build_dir() / "bin" / "quern"
TEXTS = {
    ROOT / "test" / "emulator" / "unusual.qn": unusual_calls.lifted(),
    ROOT / "test" / "kernels" / "oddities.qn": unusual_calls.explicit(),
}
CALLS = [(file, call) for file, calls in TEXTS.items() for call in calls]
#: One step of a small float, and sums in another order.
TOLERANCES = {
    F8["f8e4m3"]: 0.13, F8["f8e5m2"]: 0.26, torch.bfloat16: 1e-2, torch.float16: 2e-3,
    torch.float32: 3e-5, torch.complex64: 3e-5, torch.float64: 1e-11, torch.complex128: 1e-11,
}  # fmt: skip
NUMBERS = {"f32": np.float32, "f64": np.float64, "i64": np.int64}


def tensors(values: list[Any]) -> list[torch.Tensor]:
    return [one for one in values if isinstance(one, torch.Tensor)]


def in_memory(tensor: torch.Tensor) -> np.ndarray:
    """The same memory as NumPy has it, which lacks small floats."""
    width = {torch.bfloat16: torch.uint16, **dict.fromkeys(F8.values(), torch.uint8)}
    return np.asarray(tensor.view(width.get(tensor.dtype, tensor.dtype)))


def wide(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype in (torch.uint16, torch.uint32):
        return tensor.long()
    return tensor.double() if tensor.dtype.is_floating_point else tensor


def close(now: torch.Tensor, then: torch.Tensor) -> None:
    tolerance, now, then = TOLERANCES.get(then.dtype, 0.0), wide(now), wide(then)
    finite = then[torch.isfinite(then)].abs() if tolerance else torch.zeros(0)
    slack = tolerance / 10 * max(finite.max().item() if finite.numel() else 0, 1)
    torch.testing.assert_close(now, then, rtol=tolerance, atol=slack, equal_nan=True)


PAIRS = matrix(
    "unusual programs on GPUs",
    [(place, target) for place in range(len(CALLS)) for target in (*NVIDIA, *AMD)],
    group=lambda pair: (CALLS[pair[0]][1].name, pair[1][:2]),
    quick=0.05,
)


@pytest.mark.parametrize(
    ("place", "target"), PAIRS, ids=[f"{CALLS[place][1]!r}-{target}" for place, target in PAIRS]
)
def test_a_gpu_agrees_with_the_cpu(place: int, target: str) -> None:
    file: Path
    call: Call
    file, call = CALLS[place]
    given = copy.deepcopy(call.arguments)
    made = getattr(quern.load(file), call.name)(*given, **call.types)
    results = () if made is None else made if isinstance(made, tuple) else (made,)
    options = [f"--types={name}={kind}" for name, kind in call.types.items()]
    kernel = kernel_for(PROGRAM, file, call.name, target, options)
    now = [*tensors(copy.deepcopy(call.arguments)), *map(torch.zeros_like, results)]
    kinds = [kind for kind in kernel.header.order if isinstance(kind, str)]
    numbers = [one for one in call.arguments if not isinstance(one, torch.Tensor)]
    scalars = [NUMBERS[kind](one) for kind, one in zip(kinds, numbers, strict=True)]
    kernel.run([in_memory(one) for one in now], scalars)
    assert not kernel.errors.any()
    for one, other in zip(now, [*tensors(given), *results], strict=True):
        close(one, other)
