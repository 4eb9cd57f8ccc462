"""Functions of torch that write where they read keep their derivatives' kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import quern
import torch
from torch.nn import functional

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": lambda x: functional.relu(x, inplace=True),
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.2, inplace=True),
    "leaky_relu, 0": lambda x: functional.leaky_relu(x, 0.0, inplace=True),
    "elu": lambda x: functional.elu(x, 1.5, inplace=True),
    "celu": lambda x: functional.celu(x, 0.5, inplace=True),
    "selu": lambda x: functional.selu(x, inplace=True),
    "silu": lambda x: functional.silu(x, inplace=True),
    "mish": lambda x: functional.mish(x, inplace=True),
    "hardtanh": lambda x: functional.hardtanh(x, -0.5, 0.75, inplace=True),
    "relu6": lambda x: functional.relu6(x, inplace=True),
    "hardswish": lambda x: functional.hardswish(x, inplace=True),
    "hardsigmoid": lambda x: functional.hardsigmoid(x, inplace=True),
    "threshold": lambda x: functional.threshold(x, 0.1, -2.0, inplace=True),
    "rrelu": lambda x: functional.rrelu(x, 0.2, 0.2, training=True, inplace=True),
    "clamp": lambda x: x.clamp_(-0.5, 0.5),
    "masked_fill": lambda x: x.masked_fill_(x > 0.5, -1.0),
    "sigmoid": lambda x: x.sigmoid_(),
    "tanh": lambda x: x.tanh_(),
    "exp": lambda x: x.exp_(),
    "lerp": lambda x: x.lerp_(torch.ones_like(x), 0.25),
    "addcmul": lambda x: x.addcmul_(x.detach(), x.detach(), value=0.5),
    "index_fill": lambda x: x.index_fill_(0, torch.tensor([1, 3]), 2.0),
    "cumsum": lambda x: x.cumsum_(0),
    "tril": lambda x: x.tril_(),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    given = torch.randn(6, 7, dtype=dtype)

    def function(x: torch.Tensor) -> torch.Tensor:
        return FUNCTIONS[name](x * 2).square()

    results = []
    quern.reset_counters()
    for run in (
        function,
        torch.compile(function, backend="quern", options={"fallback": "error"}),
    ):
        torch.manual_seed(7)
        leaf = given.clone().requires_grad_()
        result = run(leaf)
        (gradient,) = torch.autograd.grad(result.sum(), leaf)
        results.append((result.detach(), gradient))
    bound = 0.05 if dtype == torch.bfloat16 else None
    for ours, eager in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(ours, eager, rtol=bound, atol=bound)
    assert quern.counters()["fallbacks"] == {}
