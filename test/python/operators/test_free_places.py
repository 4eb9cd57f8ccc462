"""Places of equal values, whose order eager does not promise, are compared as free."""

from __future__ import annotations

import opinfo
import pytest
import torch
from torch.testing._internal.opinfo.core import SampleInput

X = torch.tensor([[3, 1, 3], [2, 2, 5]])


def compare(name: str, ours: list[torch.Tensor], x: torch.Tensor = X, **kwargs: object) -> None:
    op = opinfo.entry(name)
    sample = SampleInput(x, kwargs=kwargs)
    eager = opinfo.outcome(op.op, sample, False)
    opinfo.assert_same({"output": ours}, eager, name, sample, x.dtype)


def other_order(places: list[list[int]]) -> list[torch.Tensor]:
    """Sorted values of `X` with these places."""
    return [X.sort(-1).values, torch.tensor(places)]


@pytest.mark.parametrize("places", [[[1, 0, 2], [0, 1, 2]], [[1, 2, 0], [1, 0, 2]]])
def test_equal_values_are_free(places: list[list[int]]) -> None:
    compare("sort", other_order(places))
    compare("argsort", other_order(places)[1:])


@pytest.mark.parametrize(
    "places",
    [
        [[0, 1, 2], [0, 1, 2]],
        [[1, 2, 2], [0, 1, 2]],
        [[1, 0, 3], [0, 1, 2]],
        [[1, 0, -1], [0, 1, 2]],
    ],
    ids=["another value", "one twice", "past the end", "negative"],
)
def test_other_places_are_not(places: list[list[int]]) -> None:
    with pytest.raises(AssertionError):
        compare("sort", other_order(places))


def test_stable_sorts_have_one_order() -> None:
    compare("sort", other_order([[1, 0, 2], [0, 1, 2]]), stable=True)
    with pytest.raises(AssertionError):
        compare("sort", other_order([[1, 2, 0], [0, 1, 2]]), stable=True)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("place", [0, 2])
def test_one_place_of_a_row(keepdim: bool, place: int) -> None:
    x = torch.tensor([[3, 1, 3]])
    values = x.kthvalue(2, keepdim=keepdim).values
    compare("kthvalue", [values, torch.full_like(values, place)], x, k=2, keepdim=keepdim)
    with pytest.raises(AssertionError):
        compare("kthvalue", [values, torch.full_like(values, 1)], x, k=2, keepdim=keepdim)


def test_another_type_of_places_is_a_difference() -> None:
    values, places = other_order([[1, 2, 0], [0, 1, 2]])
    with pytest.raises(AssertionError):
        compare("sort", [values, places.int()])


def test_no_elements() -> None:
    compare("sort", [X[:, :0].contiguous(), torch.empty(2, 0, dtype=torch.int64)], X[:, :0])
