"""Follow a tutorial in a notebook: `%%quern` cells and plots; its cells run here one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
import quern
from quern.notebook import run_cell
from support import ROOT

NOTEBOOK = ROOT / "docs" / "tutorials" / "kernels.ipynb"


class Shell:
    """As much of a notebook's shell as a magic sees."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        assert magic_kind == "cell"
        self.magics[magic_name] = function

    def run(self, text: str) -> None:
        head, _, rest = text.partition("\n")
        if head.startswith("%%"):
            name, _, line = head[2:].partition(" ")
            self.magics[name](line, rest)
            return
        if head.startswith("%load_ext "):
            assert head.split()[1] == "quern"
            quern.load_ipython_extension(self)
            text = rest
        exec(text, self.user_ns)


def test_tutorial_runs(capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell()
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum(text.startswith("%%quern") for text in code) >= 2
    for text in code:
        shell.run(text)
    assert "elementwise soft_clip" in capsys.readouterr().out


def test_mistake_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells behind it must not go on with the functions of an older one."""
    shell = Shell()
    shell.run("%load_ext quern\n")
    with pytest.raises(quern.Error, match="`y`") as caught:
        shell.run("%%quern\nelementwise f(x: f32) -> f32:\n    return y\n")
    lines = caught.value._render_traceback_()  # type: ignore[attr-defined]
    assert lines[0].startswith("<cell>:2")
    assert "notebook.py" not in "\n".join(lines)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("line", ["a b", "class"])
def test_line_is_one_name(line: str) -> None:
    with pytest.raises(ValueError, match="must be one name"):
        run_cell(line, "", {})
