"""Numbers that decide between schedules are rows of one table, and each row is used."""

from __future__ import annotations

import re

from tree import ROOT, tracked

ROW = re.compile(r"^QN_COST\((\w+),[^,]+,\s*\"([^\"]+)\"", re.MULTILINE)


def test_each_parameter_has_a_unit_and_is_used() -> None:
    rows = ROW.findall((ROOT / "dsl/cost/Parameters.def").read_text())
    assert rows
    assert all(unit for _, unit in rows)
    code = "\n".join((ROOT / name).read_text() for name in tracked("dsl/*.cpp", "dsl/*.h"))
    unused = [name for name, _ in rows if not re.search(rf"\bcost::{name}\b", code)]
    assert not unused


def test_schedules_hold_no_named_numbers_of_their_own() -> None:
    """A constant of the machine, such as a cache line, stays where it is used."""
    own = re.compile(
        r"^\s*(?:static )?constexpr (?:unsigned|std::int64_t) (\w+) = \d", re.MULTILINE
    )
    found = {
        (name, constant)
        for name in tracked("dsl/schedule/*.cpp", "dsl/schedule/*.h")
        for constant in own.findall((ROOT / name).read_text())
    }
    assert found == {("dsl/schedule/AxisSet.h", "bits"), ("dsl/schedule/ShortRows.cpp", "line")}
