"""Every `@aten` row against PyTorch eager, on the calls that the operator database makes."""

from __future__ import annotations

import pytest
import quern
import torch
from aten_comparison import Checked
from aten_types import Row
from row_gaps import ROW_GAPS
from slices import matrix

ROWS = {
    f"{row['declaration']}-{row['overload'].partition('::')[2]}": row for row in quern.operators()
}
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool)


def dtypes_of(row: Row) -> tuple[torch.dtype, ...]:
    takes_complex = ("Any", "Number", "Complex")
    is_complex = any(kind in takes_complex for _, kind, _ in row["parameters"])
    return (*DTYPES, torch.complex64) if is_complex else DTYPES


CASES = matrix(
    "rows",
    [f"{name}-{str(dtype)[6:]}" for name, row in ROWS.items() for dtype in dtypes_of(row)],
    group=lambda case: case.rpartition("-")[0],
    quick=0.01,
)


@pytest.mark.parametrize("case", CASES)
def test_row(case: str, request: pytest.FixtureRequest) -> None:
    if case in ROW_GAPS:
        request.applymarker(pytest.mark.xfail(strict=True, reason="eager is less exact"))
    name, _, kind = case.rpartition("-")
    Checked(ROWS[name], getattr(torch, kind)).visit_all()
