"""Random elementwise kernels on GPUs give the bits that the semantics say."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from emulator.amd import kernel_for
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_kernels import Kernel, kernels, same_bits, values
from scalar_reference import Array, load, store
from slices import everything, gpus
from tree import build_dir

PROGRAM = build_dir() / "bin" / "quern"
TARGETS = gpus("random elementwise kernels")


def in_memory(tensor: torch.Tensor) -> Array:
    """An array of the same bits; NumPy has no bf16."""
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def run(kernel: Kernel, target: str, operands: list[torch.Tensor], out: torch.Tensor) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "k.qn"
        file.write_text(kernel.source)
        try:
            built = kernel_for(PROGRAM, file, "k", target)
        except RuntimeError as error:
            assume("division by zero" not in str(error))
            raise
        built.run([in_memory(tensor) for tensor in [*operands, out]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("target", TARGETS)
@settings(
    max_examples=150 if everything() else 4,
    deadline=None,
    derandomize=not everything(),
    suppress_health_check=list(HealthCheck),
)
@given(kernel=kernels(), data=st.data())
def test_elementwise(target: str, kernel: Kernel, data: st.DataObject) -> None:
    count = data.draw(st.sampled_from([1, 67, 300]))
    seed = data.draw(st.integers(0, 1000))
    operands = [values(t, (count,), seed + n) for n, (_, t) in enumerate(kernel.parameters)]
    environment = {
        name: load(tensor, t) for (name, t), tensor in zip(kernel.parameters, operands, strict=True)
    }
    with np.errstate(all="ignore"):
        result = np.broadcast_to(kernel.evaluate(environment), (count,))
        wanted = store(result, kernel.result)
    got = torch.zeros_like(wanted)
    run(kernel, target, operands, got)
    assert same_bits(got, wanted), f"{kernel.source}\n{operands}\n{got}\nshould be\n{wanted}"
