"""What the compiler warns about reaches whoever loads a text."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import _quern
import pytest
import quern
from tree import ROOT

LOST = """elementwise clipped(y: mut f32, x: f32):
    y = max(x, 0.0)
    y = min(x, 1.0)
"""
CLEAN = """elementwise same(x: f32) -> f32:
    return x
"""


def test_compile_and_load(tmp_path: Path) -> None:
    path = tmp_path / "lost.qn"
    path.write_text(LOST)
    for load in (lambda: quern.compile(LOST), lambda: quern.load(path)):
        with pytest.warns(quern.SourceWarning, match="QN1344") as caught:
            load()
        assert len(caught) == 1
        assert Path(caught[0].filename) == Path(__file__)
        assert "assigned again here" in str(caught[0].message)


def test_operators() -> None:
    with pytest.warns(quern.SourceWarning, match="QN1021"):
        quern.op(
            "warned::unused",
            "elementwise unused(x: f32) -> f32:\n    let y = x\n    return x\n",
        )


def test_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = quern.compile(CLEAN)
    assert _quern.warnings(module) == []


def test_warnings_of_a_module_that_is_used(tmp_path: Path) -> None:
    (tmp_path / "lost.qn").write_text(LOST)
    (tmp_path / "user.qn").write_text(
        "from lost use clipped\n\nop f(y: mut f32[N], x: f32[N]):\n    clipped(y, x)\n"
    )
    with pytest.warns(quern.SourceWarning, match="QN1344"):
        quern.load(tmp_path / "user.qn")


@pytest.mark.parametrize("words", [["build", "--emit=qn"], ["run"]])
def test_tool(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "lost.qn"
    path.write_text(LOST)
    done = subprocess.run(
        ["quern", words[0], str(path), *words[1:]], capture_output=True, text=True, check=False
    )
    assert done.stderr.count("QN1344") == 1


def test_the_library_has_no_warnings() -> None:
    files = sorted((ROOT / "stdlib-kernels").rglob("*.qn"))
    done = subprocess.run(
        ["quern", "check", *map(str, files)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
