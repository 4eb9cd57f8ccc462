"""`QUERN_CHECK=1` compares node by node with eager and names the first that differs."""

from __future__ import annotations

from pathlib import Path

from support import python, script

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
