"""`QUERN_DEBUG=dir` writes every stage of every graph into a folder."""

from pathlib import Path

import pytest
import torch


def test_debug_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    torch.compile(lambda x: torch.mm(x, x).relu(), backend="quern")(torch.ones(3, 3))
    (folder,) = tmp_path.iterdir()
    assert folder.name.endswith("_inference")
    assert "aten.mm" in (folder / "fx.txt").read_text()
    assert "call %mm = aten::mm" in (folder / "graph.txt").read_text()
    assert "aten mm (aten::mm)" in (folder / "groups.txt").read_text()
    assert "-> %mm" in (folder / "plan.txt").read_text()
    assert (folder / "program.qn").exists()
