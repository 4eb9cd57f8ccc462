"""List what is supported: `quern.operators()` and `quern ops`, with dtypes, file and line."""

from __future__ import annotations

import quern
from support import ROOT, shell


def test_rows_name_their_source() -> None:
    rows = quern.operators()
    assert len(rows) > 100
    for row in rows:
        lines = (ROOT / "stdlib-kernels" / row["file"]).read_text().splitlines()
        assert row["declaration"] in lines[row["line"] - 1]
        assert row["overload"].startswith(("aten::", "prims::"))
    assert any(row["overload"] == "aten::silu" and row["dtypes"] == ["Float"] for row in rows)


def test_command_prints_them() -> None:
    done = shell("quern", "ops")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(quern.operators())
    one = shell("quern", "ops", "aten::silu").stdout
    assert "activations.silu\tFloat\t" in one
    assert "activations.qn:" in one
    assert shell("quern", "ops", "aten::nothing_like_it").returncode != 0
