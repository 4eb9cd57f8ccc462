"""A slice of the certification of the prelude's functions: no error above the bar."""

from __future__ import annotations

import sys

import pytest
import torch
from slices import commit
from tree import ROOT

sys.path.insert(0, str(ROOT / "test" / "certify"))

from functions import FUNCTIONS
from measure import every_input, measure, sampled

STEP = 65521  # a prime: the slice has every exponent and many low bits


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f32_within_the_bar(name: str) -> None:
    function = FUNCTIONS[name]
    start = int(commit()[:8] or "0", 16) % STEP
    one = function.operands == 1
    inputs = (
        every_input(torch.float32, STEP, start)
        if one
        else sampled(torch.float32, 2, 1 << 16, start)
    )
    worst = measure(name, inputs)
    assert worst.error <= function.bar, f"{worst.error} ulp at {worst.at}"
    assert worst.wrong == 0, f"wrong in kind at {worst.wrong_at}"


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.extended])
def test_f64_special_values(name: str) -> None:
    worst = measure(name, sampled(torch.float64, FUNCTIONS[name].operands, 1 << 14, 3))
    assert worst.error <= 4, f"{worst.error} ulp at {worst.at}"
    assert worst.wrong == 0, f"wrong in kind at {worst.wrong_at}"
