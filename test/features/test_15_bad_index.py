"""Meet a bad index: an IndexError naming kernel, operator, index, extent and line; all goes on."""

from __future__ import annotations

from types import FunctionType

import pytest
import quern
import torch

PICK = """
rowwise pick[T: Any, I: Int](x: T[N, *R], i: I[K]) -> T[K, *R]:
    return x.at(N = int(i))
"""


def line_of(function: FunctionType) -> str:
    """The line below the function's head."""
    return f"test_15_bad_index.py:{function.__code__.co_firstlineno + 1}"


def test_own_kernel() -> None:
    pick = quern.op("featuretest::pick", PICK)

    def f(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return pick(x + 1, i)  # the line that is to be named

    x, good = torch.randn(5, 3), torch.tensor([4, 0])
    compiled = torch.compile(f, backend="quern")
    torch.testing.assert_close(compiled(x, good), (x + 1)[good])
    with pytest.raises(IndexError) as caught:
        compiled(x, torch.tensor([1, 99]))
    shown = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    for part in ("pick", "`featuretest::pick`", "99", "5", line_of(f)):
        assert part in shown
    torch.testing.assert_close(compiled(x, good), (x + 1)[good])


def test_operator_of_aten() -> None:
    def f(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x[i] + 1

    compiled = torch.compile(f, backend="quern")
    with pytest.raises(IndexError) as caught:
        compiled(torch.randn(3, 4), torch.tensor([99]))
    shown = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    for part in ("99", "3", "aten::index", line_of(f)):
        assert part in shown


def test_call_of_a_kernel() -> None:
    k = quern.compile(PICK, "pick.qn")
    with pytest.raises(quern.Error, match=r"index 7 is out of range for axis `N` of extent 2"):
        k.pick(torch.zeros(2, 2), torch.tensor([7]))
