"""The script over the operator database: what shares a graph, and who is nearer to float64."""

from __future__ import annotations

from typing import Any

import operator_database
import opinfo
import pytest
import torch
from torch.testing._internal.opinfo.core import SampleInput


def test_entries_compared_in_a_way_of_their_own_run_alone() -> None:
    names = ["add", "sort", "mul", "empty_like", "neg"]
    assert operator_database.batches(names, 2) == [
        ["sort"],
        ["empty_like"],
        ["add", "mul"],
        ["neg"],
    ]
    assert operator_database.batches(names, 1) == [[name] for name in names]


@pytest.mark.filterwarnings("ignore")
def test_entries_in_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["neg", "add", "cumsum"]
    assert operator_database.judge_joined(names, torch.int64) == ("same", "")
    assert operator_database.judge_joined([*names, "equal"], torch.int64)[0] == "differs"
    monkeypatch.setattr(operator_database, "apart", lambda judged, *task: judged(*task))
    found = list(operator_database.answers([*names, "equal"], torch.int64))
    assert [row[:2] for row in found[:3]] == [(name, "same") for name in names]
    assert found[3][:2] == ("equal", "raised")


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_is_found_in_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def off_by_one(function: Any, **_: Any) -> Any:
        def wrong(*args: Any) -> Any:
            *results, last = function(*args)
            return [*results, last + 1]

        return wrong

    monkeypatch.setattr(torch, "compile", off_by_one)
    assert operator_database.judge_joined(["neg", "add"], torch.int64)[0] == "differs"


def test_exact_results_are_rounded_once() -> None:
    sample = SampleInput(torch.tensor([1.0234375], dtype=torch.bfloat16, requires_grad=True))

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x * x - 1) * 64

    eager = opinfo.outcome(function, sample, True)
    exact = opinfo.outcome(opinfo.in_float64(function, torch.bfloat16), sample, True)
    assert eager["output"][0].tolist() == [3.0]
    assert exact["output"][0].tolist() == [3.03125]
    assert exact["gradients"][0].dtype == torch.bfloat16
    assert opinfo.distance(exact, exact, torch.bfloat16) == 0
    tolerance = 0.03 + 0.03 * 3.03125
    assert opinfo.distance(eager, exact, torch.bfloat16) == pytest.approx(0.03125 / tolerance)


def test_distances_know_infinities() -> None:
    huge, one = ({"output": [torch.tensor([value])]} for value in (torch.inf, 1.0))
    assert opinfo.distance(huge, huge, torch.float32) == 0
    assert opinfo.distance(huge, one, torch.float32) > 1e30
