"""Compares rows of the library with eager on the calls to their overloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from aten_binding import Call
from aten_calls import entries_for, visit, visit_directly, visit_samples
from aten_types import Row, UnfitError, draws, overload

ENOUGH = 16
# Their places are free where values are equal.
FREE_ORDER = {
    f"aten::{name}" for name in ("sort", "topk", "kthvalue", "median.dim", "nanmedian.dim", "mode")
}
TOLERANCES = {torch.float64: 1e-7, torch.float16: 4e-3, torch.bfloat16: 2e-2}


def close(ours: Any, theirs: Any, dtype: torch.dtype) -> None:
    if not isinstance(theirs, torch.Tensor) or theirs.numel() == 0:
        return
    bound = TOLERANCES.get(dtype, 1e-4)
    torch.testing.assert_close(ours, theirs, rtol=bound, atol=bound, equal_nan=True)


def widened(value: Any) -> Any:
    """Narrow floats as doubles."""
    if isinstance(value, (list, tuple)):
        return type(value)(widened(each) for each in value)
    is_narrow = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.double() if is_narrow else value


def near_exact(ours: Sequence[Any], theirs: Sequence[Any], exact: Any, dtype: torch.dtype) -> bool:
    """Whether narrow results are those of doubles, rounded. Eager rounds between its
    own steps, so that its distance to ours says little."""
    exact = list(exact) if isinstance(exact, (tuple, list)) else [exact]
    bound = TOLERANCES[dtype]
    for one, other, right in zip(ours, theirs, exact, strict=False):
        if one is None or not isinstance(other, torch.Tensor):
            continue
        if one.dtype != other.dtype or not torch.allclose(
            one.double(), right.to(one.dtype).double(), rtol=bound, atol=bound, equal_nan=True
        ):
            return False
    return True


def same_order(ours: Sequence[Any], theirs: Sequence[Any], call: Call) -> None:
    """Equal values may come in any order: each place must hold its value, once."""
    x = next(v for v in call.values.values() if isinstance(v, torch.Tensor))
    dim = call.values.get("dim", -1)
    values, places = ours[0], ours[1]
    torch.testing.assert_close(values, theirs[0], rtol=0, atol=0, equal_nan=True)
    assert places.dtype == theirs[1].dtype
    assert places.shape == theirs[1].shape
    if not x.dim() or not x.numel():
        return
    if places.dim() != x.dim():
        values, places = values.unsqueeze(dim), places.unsqueeze(dim)
    found = x.gather(dim, places)
    torch.testing.assert_close(found, values, rtol=0, atol=0, equal_nan=True)
    assert (places.sort(dim).values.diff(dim=dim) != 0).all()


def widened_all(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: widened(value) for name, value in kwargs.items()}


class Checked:
    """Runs a row on each call to its overload."""

    def __init__(self, row: Row, dtype: torch.dtype) -> None:
        self.row, self.dtype = row, dtype
        self.op = overload(row["overload"])
        self.count, self.reasons = 0, set[str]()

    def __call__(self, func: Any, args: Any, kwargs: Any, result: Any) -> bool:
        if func is self.op and self.count < ENOUGH:
            self.compare(func, args, kwargs, result)
        return self.count >= ENOUGH

    def visit_all(self) -> None:
        """Runs on every call that reaches the overload; skips the test if there is none to run."""
        entries = entries_for(self.op._schema.name.partition("::")[2])
        for entry in entries:
            visit(entry, self.dtype, self)
            if not self.count:
                visit_directly(entry, self.op, self.dtype, self)
        visit_samples(self.row["overload"], self.op, self.dtype, self)
        if not self.count:
            pytest.skip(f"no call among {entries}: {self.reasons}")

    def compare(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        expected = list(result) if isinstance(result, (tuple, list)) else [result]
        if not self.row["results"]:
            self.reasons.add("it writes in place: test_optimizers.py")
            return
        if draws(self.row):
            self.reasons.add("it draws: test_random_rows.py")
            return
        try:
            call = Call(self.row, func, args, kwargs)
            ours = call.run(expected)
        except UnfitError as why:
            self.reasons.add(str(why))
            return
        self.judge(ours, expected, call, lambda: func(*widened(args), **widened_all(kwargs)))
        self.count += 1

    def judge(
        self, ours: Sequence[Any], expected: Sequence[Any], call: Call, exact: Callable[[], Any]
    ) -> None:
        if self.row["overload"] in FREE_ORDER:
            return same_order(ours, expected, call)
        try:
            for one, other in zip(ours, expected, strict=False):
                if one is not None:
                    close(one, other, self.dtype)
        except AssertionError:
            if self.dtype not in (torch.float16, torch.bfloat16):
                raise
            if not near_exact(ours, expected, exact(), self.dtype):
                raise
        return None
