"""Attention by matrix instructions: the kernel on every target, and the ops that choose it."""

from __future__ import annotations

from typing import Any

import attention_tile_cases
import numpy as np
import pytest
import quern
import torch
from emulator.amd import kernel_for
from kernel_cases import Array, Case
from slices import AMD, NVIDIA, matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
FILE = ROOT / "stdlib-kernels" / "attention_tiles.qn"
CASES = list(attention_tile_cases.cases())
PAIRS = matrix(
    "attention by tiles",
    [(place, target) for place in range(len(CASES)) for target in (*NVIDIA, *AMD)],
    group=lambda pair: (CASES[pair[0]].types["T"], pair[1][:2]),
    quick=0.2,
)


def tensor(array: Array) -> torch.Tensor:
    """The same memory, 16 bits of bf16 where NumPy has whole numbers."""
    made = torch.from_numpy(array.view("i2") if array.dtype == np.uint16 else array)
    return made.view(torch.bfloat16) if array.dtype == np.uint16 else made


@pytest.mark.parametrize("case", CASES, ids=str)
def test_on_the_cpu(case: Case) -> None:
    arrays = [array.copy() for array in case.arrays]
    scale, *numbers = case.scalars
    causal = bool(case.constants["CAUSAL"])
    kernel = quern.load(FILE).attention_tiles
    kernel(*map(tensor, arrays), float(scale), *numbers, CAUSAL=causal)
    case.check(arrays, 0)


@pytest.mark.parametrize(
    ("place", "target"), PAIRS, ids=[f"{CASES[place]}-{target}" for place, target in PAIRS]
)
def test_on_a_gpu(place: int, target: str) -> None:
    case = CASES[place]
    arrays = [array.copy() for array in case.arrays]
    named: dict[str, Any] = case.constants | {"CAUSAL": bool(case.constants["CAUSAL"])}
    text = ",".join(f"{name}={str(value).lower()}" for name, value in named.items())
    options = (f"--types=T={case.types['T']}", f"--constants={text}")
    kernel = kernel_for(PROGRAM, FILE, "attention_tiles", target, options)
    scale, *numbers = case.scalars
    kernel.run(arrays, [scale, *map(np.int64, numbers)])
    assert not kernel.errors.any()
    case.check(arrays, 0)


@pytest.mark.parametrize("causal", [False, True])
def test_the_ops_on_a_cpu(causal: bool) -> None:
    """Where there is no GPU they are the rows of attention.qn."""
    q, k, v = (torch.randn(2, heads, 9, 16) for heads in (4, 2, 2))
    module = quern.load(ROOT / "stdlib-kernels" / "attention.qn")
    given = (q, k, v) if causal else (q, k, v, None)
    op = module.attention_causal_on_gpu if causal else module.attention_on_gpu
    y, logsumexp = op(*given)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=causal, enable_gqa=True
    )
    torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-5)
    assert logsumexp.shape == (2, 4, 9)
