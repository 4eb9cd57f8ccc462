"""The operators' benchmark has arguments for every elementwise row, which eager takes as well."""

from __future__ import annotations

import sys

import pytest
import quern
import torch
from aten_binding import Call
from aten_types import Row, UnfitError, overload
from torch.testing._internal.opinfo.core import SampleInput
from tree import ROOT

sys.path.append(str(ROOT / "test" / "bench"))

import _bounded
import ops
from _arguments import arguments, bound, extents
from _grown import from_database, leaves_short

ELSEWHERE = {"aten::_copy_from"}  # which eager has for other devices
ROWS = {
    f"{row['overload']} {row['declaration']} {place}": row
    for place, row in enumerate(quern.operators())
    if row["kind"] == "elementwise" and row["results"] and row["overload"] not in ELSEWHERE
}


def takes(row: Row, values: dict[str, object]) -> bool:
    """Whether the row's constants and element types are those of a call that eager runs."""
    op = overload(row["overload"])
    args, kwargs = bound(op, values)
    result = op(*args, **kwargs)
    expected = list(result) if isinstance(result, (tuple, list)) else [result]
    try:
        Call(row, op, args, kwargs).solve_types(expected)
    except UnfitError:
        return False
    return True


# Statistics of a row's own shape.
@pytest.mark.parametrize("name", [name for name in ROWS if "batch_norm" not in name])
def test_elementwise_rows(name: str) -> None:
    row = ROWS[name]
    op = overload(row["overload"])
    assert any(takes(row, values) for values in arguments(row, op, 1 << 9))


def named(name: str) -> dict[str, object]:
    row = next(row for key, row in ROWS.items() if key.startswith(f"aten::{name} "))
    return next(arguments(row, overload(row["overload"]), 64))


def test_types_and_constants_are_the_rows_own() -> None:
    condition, x = (named("where.self")[name] for name in ("condition", "self"))
    assert isinstance(condition, torch.Tensor)
    assert isinstance(x, torch.Tensor)
    assert (condition.dtype, x.dtype) == (torch.bool, torch.float32)
    bits, angle = named("bitwise_and.Tensor")["other"], named("exp complex_exp")["self"]
    assert isinstance(bits, torch.Tensor)
    assert isinstance(angle, torch.Tensor)
    assert (bits.dtype, angle.dtype) == (torch.int32, torch.complex64)
    assert named("div.Tensor_mode div_floor")["rounding_mode"] == "floor"
    assert named("mse_loss mse")["reduction"] == 0


def test_halves_are_not_as_long_as_rows_are_many() -> None:
    row = next(row for row in quern.operators() if row["overload"] == "aten::glu_backward")
    values = next(arguments(row, overload(row["overload"]), 1 << 12))
    assert takes(row, values)
    with pytest.raises(UnfitError, match="several long axes"):
        extents(["T[R, H]", "T[R, C]"], ["C"], 1 << 24)


@pytest.mark.parametrize(
    ("overload_name", "images"),
    [
        ("reflection_pad2d_backward", 2),
        ("_upsample_nearest_exact1d_backward", 1),
        ("avg_pool1d", 1),
    ],
)
def test_samples_are_made_longer(overload_name: str, images: int) -> None:
    """Also of derivatives, whose gradients are as long as the results that they belong to."""
    row = next(r for r in quern.operators() if r["overload"] == f"aten::{overload_name}")
    values = next(arguments(row, overload(row["overload"]), 1 << 14))
    assert takes(row, values)
    first = next(x for x in values.values() if isinstance(x, torch.Tensor))
    assert all(extent >= 32 for extent in first.shape[-images:])
    assert 1 << 13 <= first.numel() <= 1 << 18


def test_samples_of_one_number_are_passed_over() -> None:
    name = "aten::index_reduce"
    x = next(from_database(name, overload(name), torch.float32, 1 << 12, lambda *_: True))["self"]
    assert isinstance(x, torch.Tensor)
    assert x.dim() > 0


def test_samples_with_other_channels_are_left_out() -> None:
    """Eager would read and write behind the statistics of channels that are not there."""
    row = next(r for r in quern.operators() if r["overload"] == "aten::batch_norm_backward")
    for values in arguments(row, overload(row["overload"]), 1 << 12):
        x, weight = values["input"], values.get("weight")
        assert isinstance(x, torch.Tensor)
        assert weight is None or weight.shape == x.shape[1:2]


def test_longer_samples_leave_no_operand_short() -> None:
    """Not even eager's own call, which makes what a derivative takes, reads behind them."""
    x, counts = torch.randn(2, 3, 4), [1, 11, 8]
    assert leaves_short(SampleInput(x, args=(torch.zeros(3),)), x, counts)
    assert leaves_short(SampleInput(x, kwargs={"weight": torch.zeros(3)}), x, counts)
    assert not leaves_short(SampleInput(x, args=(x, torch.zeros(2))), x, counts)
    assert not leaves_short(SampleInput(x, args=(torch.zeros(3),)), x, [1, 1, 8])


def test_a_row_without_memory_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result of 1 GiB does not end the run."""
    factors = {"self": torch.rand(1 << 14, 1), "mat2": torch.rand(1, 1 << 14)}
    monkeypatch.setattr(ops, "arguments", lambda *_: iter([factors]))
    monkeypatch.setattr(_bounded, "MOST", 1 << 28)
    row = next(r for r in quern.operators() if r["overload"] == "aten::mm")
    assert ops.measure(row, "aten::mm", "large", 1) is None
    assert "aten::mm" in capsys.readouterr().out
    assert torch.empty(1 << 28).numel() == 1 << 28
