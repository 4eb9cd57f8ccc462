"""Every `@aten` row against PyTorch eager, on the calls that the operator database makes."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch
from aten_binding import Call
from aten_calls import entries_for, visit, visit_directly, visit_samples
from aten_types import Row, UnfitError, overload
from row_gaps import ROW_GAPS
from slices import matrix

ROWS = {
    f"{row['declaration']}-{row['overload'].partition('::')[2]}": row for row in quern.operators()
}
ENOUGH = 16
TOLERANCES = {torch.float64: 1e-7, torch.float16: 4e-3, torch.bfloat16: 2e-2}
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool)
CASES = matrix(
    "rows",
    [f"{name}-{str(dtype)[6:]}" for name in ROWS for dtype in DTYPES],
    group=lambda case: case.rpartition("-")[0],
    quick=0.01,
)


def close(ours: Any, theirs: Any, dtype: torch.dtype) -> None:
    if not isinstance(theirs, torch.Tensor) or theirs.numel() == 0:
        return
    bound = TOLERANCES.get(dtype, 1e-4)
    torch.testing.assert_close(ours, theirs, rtol=bound, atol=bound, equal_nan=True)


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

    def compare(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        expected = list(result) if isinstance(result, (tuple, list)) else [result]
        try:
            call = Call(self.row, func, args, kwargs)
            ours = call.run(expected)
        except UnfitError as why:
            self.reasons.add(str(why))
            return
        for one, other in zip(ours, expected, strict=False):
            if one is not None:
                close(one, other, self.dtype)
        self.count += 1


@pytest.mark.parametrize("case", CASES)
def test_row(case: str, request: pytest.FixtureRequest) -> None:
    if case in ROW_GAPS:
        request.applymarker(pytest.mark.xfail(strict=True))
    name, _, kind = case.rpartition("-")
    row, dtype = ROWS[name], getattr(torch, kind)
    checked = Checked(row, dtype)
    entries = entries_for(checked.op._schema.name.partition("::")[2])
    for entry in entries:
        visit(entry, dtype, checked)
        if not checked.count:
            visit_directly(entry, checked.op, dtype, checked)
    visit_samples(row["overload"], checked.op, dtype, checked)
    if not checked.count:
        pytest.skip(f"no call among {entries}: {checked.reasons}")
