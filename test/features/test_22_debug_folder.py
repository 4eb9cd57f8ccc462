"""`QUERN_DEBUG=dir` and `TORCH_COMPILE_DEBUG=1` write every stage of every graph."""

from __future__ import annotations

import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import torch
from quern.torch_backend.debug.folder import DebugFolder
from quern.torch_backend.progress import Progress
from support import shell


def test_debug_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    torch.compile(lambda x: torch.mm(x, x).relu(), backend="quern")(torch.ones(3, 3))
    (folder,) = tmp_path.iterdir()
    assert folder.name.endswith("_inference")
    assert "torch.mm" in (folder / "fx_before.txt").read_text()
    assert "aten.mm" in (folder / "fx.txt").read_text()
    assert "call %mm = aten::mm" in (folder / "graph.txt").read_text()
    assert "aten mm (aten::mm)" in (folder / "groups.txt").read_text()
    assert "-> %mm" in (folder / "plan.txt").read_text()
    assert "relu" in (folder / "program.qn").read_text()
    assert "compiled" in (folder / "times.txt").read_text()
    stages = {path.suffix for path in (folder / "stages").iterdir()}
    assert stages >= {".qn", ".loops", ".llvm-dialect", ".llvm", ".asm"}
    drawing = ElementTree.parse(folder / "graph.svg").getroot()
    assert drawing.tag.endswith("svg")
    assert "mm" in "".join(drawing.itertext())


def test_torch_compile_debug(tmp_path: Path) -> None:
    text = (
        "import os, sys; os.chdir(sys.argv[1]); import torch\n"
        "torch.compile(lambda x: x.sin(), backend='quern')(torch.ones(3))\n"
    )
    done = shell(sys.executable, "-c", text, str(tmp_path), TORCH_COMPILE_DEBUG="1")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("torch_compile_debug/*/quern/graph0_inference/program.qn"))


def test_the_program_of_a_compilation_that_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "__call__", stop)
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        torch.compile(lambda x: x.tanh() + 1, backend="quern")(torch.ones(3))
    (folder,) = tmp_path.iterdir()
    assert "tanh" in (folder / "program.qn").read_text()
    assert "aten.tanh" in (folder / "fx.txt").read_text()
    assert not (folder / "plan.txt").exists()


def test_a_folder_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning that names the variable; the graph runs all the same."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path / "file"))
    x = torch.linspace(-1, 1, 7)
    with pytest.warns(RuntimeWarning, match="QUERN_DEBUG: nothing more is written"):
        y = torch.compile(lambda x: x.sin() + 1, backend="quern")(x)
    torch.testing.assert_close(y, x.sin() + 1)


def test_a_folder_that_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between compiling and running, as on a disk that became full."""

    def lose(folder: DebugFolder, _: object) -> None:
        shutil.rmtree(folder._folder)
        folder._folder.touch()

    monkeypatch.setattr(DebugFolder, "begin", lose)
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    x = torch.linspace(-1, 1, 7)
    with pytest.warns(RuntimeWarning, match="QUERN_DEBUG: nothing more is written"):
        y = torch.compile(lambda x: x.cos() + 1, backend="quern")(x)
    torch.testing.assert_close(y, x.cos() + 1)
