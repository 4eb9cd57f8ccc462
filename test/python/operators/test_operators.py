"""PyTorch's operator database through the backend: values, gradients, strides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import opinfo
import pytest
import torch
from operator_gaps import CRASHES, GAPS
from slices import matrix

NAMES = matrix(
    "operators",
    opinfo.entries(torch.float32),
    group=lambda name: name.partition(".")[0] == "linalg",
    quick=0.03,
)


@pytest.fixture(autouse=True)
def many_samples() -> Iterator[None]:
    """Every sample is one more compile of the same function. Dynamo's own patch:
    pytest's leaves its config without the entry."""
    with torch._dynamo.config.patch(recompile_limit=100):
        yield


def check(name: str, dtype: torch.dtype, **options: Any) -> None:
    """All samples of an entry, with gradients where it has them."""
    op = opinfo.entry(name)
    gradient = opinfo.has_gradient(op, dtype)

    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    torch._dynamo.reset()
    for sample in opinfo.samples(op, dtype, gradient):
        eager = opinfo.outcome(function, sample, gradient)
        compiled = torch.compile(function, backend="quern", fullgraph=True, **options)
        ours = opinfo.outcome(compiled, sample, gradient)
        opinfo.assert_same(ours, eager, op.name, sample, dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_float32(name: str, request: pytest.FixtureRequest) -> None:
    if name in CRASHES:
        pytest.xfail("ends the process")
    if name in GAPS:
        # Strict in the whole run: an entry that passes there must leave the list.
        whole = request.config.getoption("--all")
        request.applymarker(pytest.mark.xfail(strict=whole, reason=GAPS[name]))
    check(name, torch.float32)
