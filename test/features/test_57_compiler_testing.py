"""Test a compiler with lit and FileCheck on `.qn` and `qn` IR."""

from __future__ import annotations

from pathlib import Path

from support import shell

KERNEL = "elementwise half[T: Float](x: T) -> T:\n    return x / two\n"
EXPECTED = KERNEL.replace("two", "two  # expected-error {{two}}")


def test_verify_diagnostics(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.qn", tmp_path / "bad.qn"
    good.write_text(EXPECTED)
    bad.write_text(KERNEL)
    assert shell("quern", "check", "--verify-diagnostics", str(good)).returncode == 0
    assert shell("quern", "check", "--verify-diagnostics", str(bad)).returncode != 0


def test_quern_opt_rejects_and_verifies(tmp_path: Path) -> None:
    module = tmp_path / "m.mlir"
    module.write_text("module {\n  qn.nothing\n}\n")
    done = shell("quern-opt", str(module))
    assert done.returncode != 0
    assert "m.mlir:2" in done.stderr
