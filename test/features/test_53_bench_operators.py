"""Run the bench per operator against eager: a table by operator, shape, dtype."""

from __future__ import annotations

import sys

from support import ROOT, shell


def test_table_by_operator() -> None:
    bench = str(ROOT / "test" / "bench" / "ops.py")
    done = shell(sys.executable, bench, "softplus", "--size", "call")
    assert done.returncode == 0, done.stderr
    assert "softplus" in done.stdout
    assert any(line.split()[0].endswith("softplus") for line in done.stdout.splitlines() if line)
