"""Make a call that torch rejects: torch's exception type, from the operators' error inputs."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from slices import matrix
from torch.testing._internal.common_methods_invocations import op_db

OPERATORS = {op.full_name: op for op in op_db if op.error_inputs_func is not None}
NAMES = matrix(
    "rejected calls",
    OPERATORS,
    group=lambda name: name.partition(".")[0] == "linalg",
    quick=0.04,
)


def raised(function: Any, sample: Any) -> type[BaseException] | None:
    try:
        function(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_type(name: str) -> None:
    op = OPERATORS[name]
    for error in list(op.error_inputs("cpu"))[:3]:
        sample = error.sample_input
        torch._dynamo.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eager = raised(op.op, sample)
            if eager is None:
                continue
            traced = raised(torch.compile(op.op, backend="aot_eager"), sample)
            torch._dynamo.reset()
            ours = raised(torch.compile(op.op, backend="quern"), sample)
        # Dynamo wraps what its tracing finds; a graph that gets to us raises
        # what the same graph raises through ATen.
        assert ours in (eager, traced)
