"""Calls of the overloads that draw random numbers, with the distributions that they draw from."""

from __future__ import annotations

import math
from typing import Any

import torch

X = torch.full((256, 256), 0.25)
SQUARE, CPU = [256, 256], {"dtype": torch.float32}
# Arguments, and the share of a distribution at or below places on the line.
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[float, float]]] = {
    "aten::rand": ((SQUARE,), CPU, {0.1: 0.1, 0.5: 0.5, 0.9: 0.9}),
    "aten::rand_like": ((X,), {}, {0.25: 0.25, 0.75: 0.75}),
    "aten::randn": ((SQUARE,), CPU, {-1: 0.158655, 0: 0.5, 2: 0.977250}),
    "aten::randn_like": ((X,), {}, {-1: 0.158655, 1: 0.841345}),
    "aten::normal_functional": ((X, 3.0, 2.0), {}, {1: 0.158655, 3: 0.5}),
    "aten::normal.Tensor_Tensor": ((X, X), {}, {0.25: 0.5, 0.5: 0.841345}),
    "aten::normal.Tensor_float": ((X, 2.0), {}, {0.25: 0.5, 2.25: 0.841345}),
    "aten::normal.float_Tensor": ((1.0, X), {}, {1: 0.5, 0.75: 0.158655}),
    "aten::uniform": ((X, -1.0, 3.0), {}, {0: 0.25, 2: 0.75}),
    "aten::exponential": ((X, 2.0), {}, {0.5: 1 - math.exp(-1)}),
    "aten::cauchy": ((X, 1.0, 2.0), {}, {1: 0.5, 3: 0.75}),
    "aten::log_normal": ((X, 0.0, 1.0), {}, {1: 0.5, math.e: 0.841345}),
    "aten::geometric": ((X, 0.25), {}, {1: 0.25, 2: 0.4375}),
    "aten::randint": ((8, SQUARE), {"dtype": torch.int64}, {0: 0.125, 3: 0.5}),
    "aten::randint.low": ((-4, 4, SQUARE), {"dtype": torch.int64}, {-1: 0.5}),
    "aten::randint_like": ((X, 8), {}, {3: 0.5}),
    "aten::randint_like.low_dtype": ((X, -4, 4), {}, {-1: 0.5}),
    "aten::bernoulli": ((X,), {}, {0.5: 0.75}),
    "aten::bernoulli.p": ((X, 0.3), {}, {0.5: 0.7}),
    "aten::bernoulli.Tensor": ((X, X), {}, {0.5: 0.75}),
    "aten::native_dropout": ((X, 0.4, True), {}, {0.1: 0.4}),
}
OTHERS = {"aten::randperm", "prims::normal"}
