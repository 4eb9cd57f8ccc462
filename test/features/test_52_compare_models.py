"""Compare models with eager and Inductor on his own machine: a table and a plot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from support import ROOT, shell


def bench(name: str, *arguments: str) -> str:
    done = shell(sys.executable, str(ROOT / "test" / "bench" / name), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_table_and_plot(tmp_path: Path) -> None:
    record = tmp_path / "inference.json"
    options = ("--tiny", "--rounds", "2", "--no-inductor", "--own", "--json", str(record))
    lines = bench("models.py", "vit", "dlrm", *options).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["vit", "dlrm", "geomean"]
    assert lines[4].startswith("lowest of quern: ")
    rows = json.loads(record.read_text())["rows"]
    assert all(row["ms"]["eager"] > 0 for row in rows)
    assert all(list(row["ratio"]) == ["quern", "own"] for row in rows)
    bench("performance.py", str(record), "--folder", str(tmp_path))
    page = (tmp_path / "performance.md").read_text()
    assert "| vit |" in page
    assert "geometric mean" in page
    assert "`own` is Quern without" in page
    plots = [plot.read_text() for plot in tmp_path.glob("*.svg")]
    assert len(plots) == 1
    assert "dlrm" in plots[0]
