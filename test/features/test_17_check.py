"""`QUERN_CHECK=1` compares node by node with eager and names the first that differs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import python, script, shell

GOOD = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.BatchNorm1d(16))
compiled = torch.compile(model, backend="quern")
for _ in range(2):
    torch.nn.functional.dropout(compiled(torch.randn(4, 8))).sum().backward()
print("same")
"""
WRONG = """
import torch, quern
quern.register_aten("aten::tanh", '''
elementwise tanh_but[T: Float](x: T) -> T:
    return 0.5 if x > 2 else tanh(x)
''')
def f(x):
    y = x * 2
    z = torch.tanh(y)
    return z + 1
x = torch.linspace(-2, 2, 12).view(3, 4)
try:
    torch.compile(f, backend="quern")(x)
except quern.Error as error:
    print(error)
"""


JOINED = """
import torch
def f(x, y):
    return torch.cat([y, x.sin(), y + 1, x], 1) * 2
torch.compile(f, backend="quern")(torch.randn(2, 3), torch.randn(2, 4))
print("same")
"""

# Beside the numbers of a mask no finite difference counts; what is no number does.
ODD = """
import torch, quern
quern.register_aten("aten::tanh", '''
elementwise tanh_but[T: Float](x: T) -> T:
    return {wrong} if x > 2 else tanh(x)
''')
def f(x, y):
    return {function}
x = torch.linspace(-2, 2, 12).view(3, 4).to(torch.{dtype}).requires_grad_({trains})
y = torch.full((3, 4), torch.finfo(x.dtype).min / 2, dtype=x.dtype)
try:
    out = torch.compile(f, backend="quern")(x, y)
    print("passed")
except quern.Error as error:
    print(error)
"""


def test_concatenations_are_compared_when_they_are_complete() -> None:
    assert python(JOINED, QUERN_CHECK="1").strip() == "same"


def test_right_results_pass() -> None:
    assert python(GOOD, QUERN_CHECK="1").strip() == "same"


def test_first_difference_is_named(tmp_path: Path) -> None:
    said = script(tmp_path, WRONG, QUERN_CHECK="1")
    assert "node `tanh` of graph0_inference is not what eager gives" in said
    assert "aten.tanh.default" in said
    assert "program.py:9" in said
    assert "ours is 0.5" in said


@pytest.mark.parametrize(
    ("wrong", "function", "dtype", "trains"),
    [
        ("nan", "torch.tanh(x * 2)", "float16", True),
        ("inf", "torch.cat([torch.tanh(x * 2), y]) + 1", "float32", False),
        ("-inf", "torch.tanh(x * 2).sum(1)", "float64", True),
        ("nan", "torch.softmax(torch.tanh(x * 2) + 1, 1) @ y.mT", "float32", True),
        ("nan", "torch.where(torch.tanh(x * 2) > 0, x.exp(), y)", "bfloat16", False),
    ],
)
def test_what_is_no_number_is_seen(
    tmp_path: Path, wrong: str, function: str, dtype: str, trains: bool
) -> None:
    text = ODD.format(wrong=wrong, function=function, dtype=dtype, trains=trains)
    said = script(tmp_path, text, QUERN_CHECK="1")
    assert "is not what eager gives" in said
    assert "program.py:8" in said


# The operator may draw numbers, but without dropout it does not.
ATTENTION = """
@aten("_scaled_dot_product_flash_attention_for_cpu", dropout_p = 0.0, is_causal = false)
rowwise attention_but[T: Float](q: T[B, H, M, D], k: T[B, H, N, D], v: T[B, H, N, E],
                                attn_mask: T[B, H, M, N]?, scale: f64 = nan)
        -> (T[B, H, M, E], acc(T)[B, H, M]):
    let s = sum(q * k over D) + attn_mask
    return WRONG * sum(s * v over N), sum(s over N)
"""
# What is drawn may differ, but it does not become infinite.
DROPOUT = """
@aten("native_dropout", seed = generator)
elementwise dropout_but[T: Float](x: T, p: f64, seed: i64, train: bool = true) -> (T, bool):
    return WRONG if f64(x) > p + f64(seed) * 0 or not train else 2 * x, true
"""
DRAWN = """
import sys, torch, quern
quern.register_aten("aten::" + sys.argv[1], sys.argv[2])
def f(q, k, v):
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return torch.nn.functional.dropout(y, 0.5)
q, k, v = torch.randn(3, 1, 2, 5, 16).requires_grad_()
options = {"preferred": "own", "random": "philox"}
try:
    torch.compile(f, backend="quern", options=options)(q, k, v)
    print("passed")
except quern.Error as error:
    print(error)
"""


@pytest.mark.parametrize("wrong", ["nan", "inf", "1"])
@pytest.mark.parametrize(
    ("operator", "text"),
    [("_scaled_dot_product_flash_attention_for_cpu", ATTENTION), ("native_dropout", DROPOUT)],
    ids=["attention", "dropout"],
)
def test_operators_that_may_draw(operator: str, text: str, wrong: str) -> None:
    text = text.replace("WRONG", wrong)
    done = shell(sys.executable, "-c", DRAWN, operator, text, QUERN_CHECK="1")
    assert done.returncode == 0, done.stderr
    if operator == "native_dropout" and wrong == "1":
        assert done.stdout.strip() == "passed"
    else:
        assert f"node `{operator}` of" in done.stdout
        assert "is not what eager gives" in done.stdout
