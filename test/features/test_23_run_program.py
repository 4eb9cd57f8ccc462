"""Run and edit what was generated: `quern run program.qn` on recorded inputs; edits take effect."""

from __future__ import annotations

from pathlib import Path

import pytest
import quern
import torch
from support import shell


def run(program: Path) -> str:
    done = shell("quern", "run", str(program))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_program_runs_alone_and_can_be_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))

    def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(x.t() * 2, -1) + 1
        return torch.mm(y, w).sin() + y.sum()

    x, w = torch.randn(6, 4).to(torch.bfloat16), torch.randn(6, 4).to(torch.bfloat16)
    torch.compile(f, backend="quern")(x, w)
    (program,) = tmp_path.glob("*/program.qn")
    lines = run(program).splitlines()
    assert len(lines) >= 2
    assert all(line.endswith("as recorded") for line in lines)
    text = program.read_text()
    assert "2.0" in text
    program.write_text(text.replace("2.0", "3.0"))
    assert "differs from the recording by" in run(program)
    program.write_text(text.replace("2.0", "nothing"))
    broken = shell("quern", "run", str(program))
    assert broken.returncode == 1
    assert "`nothing`" in broken.stderr


def test_program_with_modules_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "elementwise thrice[T: Number](x: T) -> T:\n    return x * 3\n"
    thrice = quern.op("featuretest::thrice", source)
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    torch.compile(lambda x: thrice(x) + 1, backend="quern")(torch.ones(3))
    (program,) = tmp_path.glob("*/program.qn")
    assert run(program).endswith("as recorded\n")


def test_program_with_parts_of_a_concatenation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))

    def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.sin(), y, x.exp() + 1, y], 1) * 2

    x, y = torch.randn(2, 3), torch.randn(2, 4)
    torch.testing.assert_close(torch.compile(f, backend="quern")(x, y), f(x, y))
    (program,) = tmp_path.glob("*/program.qn")
    lines = run(program).splitlines()
    assert len(lines) == 5
    assert all(line.endswith("as recorded") for line in lines)


def test_a_recording_that_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    torch.compile(lambda x: x.sin() * 2, backend="quern")(torch.randn(1 << 20))
    (program,) = tmp_path.glob("*/program.qn")
    for file in (program.parent / "recorded").iterdir():
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        cut = shell("quern", "run", str(program))
        assert cut.returncode == 1
        assert "the recording is damaged" in cut.stderr
        file.write_bytes(whole)
    assert run(program).endswith("as recorded\n")
