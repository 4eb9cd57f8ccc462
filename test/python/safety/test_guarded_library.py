"""The library's kernels on operands of random layouts, between pages that cannot be touched."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import quern
import torch
from aten_binding import Call
from aten_comparison import FREE_ORDER, Checked, close
from aten_types import UnfitError, draws
from guarded import Guarded, random_strides
from slices import matrix

BITS = {torch.bfloat16: np.uint16, torch.float8_e4m3fn: np.uint8, torch.float8_e5m2: np.uint8}


class Layouts:
    """Gives tensors layouts, and knows whether only their elements were written."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.made: list[Guarded] = []

    def tensor(self, like: torch.Tensor) -> torch.Tensor:
        bits = BITS.get(like.dtype)
        dtype = bits or torch.empty(0, dtype=like.dtype).numpy().dtype
        strides = random_strides(self.rng, like.shape, backwards=False)
        self.made.append(
            Guarded(tuple(like.shape), dtype, strides, at_end=bool(self.rng.integers(2)))
        )
        made = torch.from_numpy(self.made[-1].array)
        return made.view(like.dtype) if bits else made

    def copied(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.copied(each) for each in value]
        if not isinstance(value, torch.Tensor) or not value.dim() or not value.numel():
            return value
        return self.tensor(value).copy_(value)

    def are_untouched(self) -> bool:
        return all(each.is_untouched() for each in self.made)


class InLayouts(Checked):
    """Runs a row's kernel on each call's tensors as they are and in other layouts."""

    def compare(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        expected = list(result) if isinstance(result, (tuple, list)) else [result]
        if not self.row["results"] or draws(self.row):
            self.reasons.add("its kernel is not compared")
            return
        try:
            call = Call(self.row, func, args, kwargs)
            call.run(expected)
            function, positional, named = Call(self.row, func, args, kwargs).prepared(expected)
        except UnfitError as why:
            self.reasons.add(str(why))
            return
        self.relaid(function, positional, named)
        self.count += 1

    def relaid(self, function: Any, positional: list[Any], named: dict[str, Any]) -> None:
        plain = function(*positional, **named)
        several = isinstance(plain, (tuple, list))
        wanted = list(plain) if several else [plain]
        if not all(isinstance(each, torch.Tensor) for each in wanted):
            return
        for turn in range(3):
            layouts = Layouts(zlib.crc32(f"{self.row['overload']} {self.count} {turn}".encode()))
            inputs = [layouts.copied(value) for value in positional]
            outs = [layouts.tensor(each) if each.numel() else each.clone() for each in wanted]
            options = {**named, "out": outs if several else outs[0]}
            function(*inputs, **options)
            assert layouts.are_untouched(), [each.array.strides for each in layouts.made]
            for one, other in zip(outs, wanted, strict=True):
                if self.row["overload"] not in FREE_ORDER:
                    close(one, other, one.dtype)


ROWS = {
    f"{row['declaration']}-{row['overload'].partition('::')[2]}": row for row in quern.operators()
}
DTYPES = (torch.float32, torch.bfloat16, torch.int64)
CASES = matrix(
    "layouts of rows",
    [f"{name}-{str(dtype)[6:]}" for name in ROWS for dtype in DTYPES],
    group=lambda _: None,
    quick=0.02,
)


@pytest.mark.parametrize("case", CASES)
def test_row(case: str) -> None:
    name, _, kind = case.rpartition("-")
    InLayouts(ROWS[name], getattr(torch, kind)).visit_all()
