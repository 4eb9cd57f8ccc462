"""Reductions of truth values inside reductions of truth values, with conditions of every kind:
those that are folded, those of positions, those of elements."""

from __future__ import annotations

from itertools import product
from typing import Any

import _quern
import numpy as np
import pytest
from slices import matrix
from targets import runnable

#: Of the inner or the outer reduction: the text, and which positions it takes.
CONDITIONS: dict[str, Any] = {
    "": lambda i, v: i >= 0,
    " where true": lambda i, v: i >= 0,
    " where false": lambda i, v: i < 0,
    " where not false": lambda i, v: i >= 0,
    " where 1 > 2": lambda i, v: i < 0,
    " where index({axis}) < 2": lambda i, v: i < 2,
    " where index({axis}) >= 0": lambda i, v: i >= 0,
    " where {value}": lambda i, v: v,
    " where not ({value})": lambda i, v: ~v,
}
INNER: dict[str, Any] = {
    "all": lambda v, on: (v | ~on).all(0),
    "any": lambda v, on: (v & on).any(0),
    "count": lambda v, on: (v & on).sum(0) > 0,
}
OUTER: dict[str, Any] = {
    "count": lambda v, on: (v & on).sum(),
    "any": lambda v, on: (v & on).any(),
    "all": lambda v, on: (v | ~on).all(),
    "sum": lambda v, on: (v & on).sum(),
}
RESULT = {"count": "i64", "any": "bool", "all": "bool", "sum": "i64"}
CASES = list(product(OUTER, INNER, CONDITIONS, CONDITIONS, ("", "@portable\n")))


def text(case: tuple[str, ...], name: str) -> str:
    outer, inner, around, within, attribute = case
    inside = f"{inner}(x over C{within.format(axis='C', value='x')})"
    if inner == "count":
        inside = f"({inside} > 0)"
    value = f"i64({inside})" if outer == "sum" else inside
    where = around.format(axis="N", value=inside)
    return (
        f"{attribute}rowwise {name}(x: bool[C, N]) -> {RESULT[outer]}[]:\n"
        f"    return {outer}({value} over N{where})\n"
    )


def meaning(case: tuple[str, ...], x: Any) -> Any:
    outer, inner, around, within, _ = case
    columns = np.arange(x.shape[0])[:, None]
    value = INNER[inner](x, np.broadcast_to(CONDITIONS[within](columns, x), x.shape))
    rows = np.arange(x.shape[1])
    return OUTER[outer](value, np.broadcast_to(CONDITIONS[around](rows, value), value.shape))


CHOSEN = matrix("truths", CASES, group=lambda case: (case[0], case[2]), quick=0.03)


@pytest.mark.parametrize(
    "target", [runnable(t) for t in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "")]
)
def test_nested_reductions_of_truth_values(target: str) -> None:
    session = _quern.Session(cache="-", target=target, threads=1)
    rng = np.random.default_rng(5)
    inputs = [rng.random(shape) < p for shape in ((1, 1), (3, 70), (40, 5)) for p in (0.2, 0.9)]
    for case in CHOSEN:
        source = text(case, "f")
        kernel = session.compile(source, "truth.qn").f
        for x in inputs:
            assert kernel(x)[()] == meaning(case, x), source
