"""Look at one page: graph, groups, source, assembly and times side by side, offline."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from support import shell

CHROMIUM = shutil.which("chromium")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QUERN_DEBUG", str(tmp_path))
    compiled = torch.compile(lambda x: torch.mm(x, x).relu().softmax(-1), backend="quern")
    compiled(torch.ones(3, 3))
    (found,) = tmp_path.glob("*/index.html")
    return found


class Reader(HTMLParser):
    """Tags, what they point to, and the data that the page's script reads."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.steps: set[str] = set()
        self.data = ""
        self._in_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.outside += [str(given[key]) for key in ("src", "href") if key in given]
        self._in_data = given.get("id") == "data"
        if "data-step" in given:
            self.steps.add(str(given["data-step"]))

    def handle_data(self, data: str) -> None:
        if self._in_data:
            self.data += data

    def handle_endtag(self, tag: str) -> None:
        self._in_data = False


def test_page_holds_everything(page: Path) -> None:
    reader = Reader()
    reader.feed(page.read_text())
    assert reader.outside == []
    assert "svg" in reader.tags
    data = json.loads(reader.data)
    assert reader.steps == {str(i) for i in range(len(data["steps"]))}
    assert data["steps"][0]["operator"] == "aten::mm"
    (kernel,) = data["kernels"].values()
    assert "softmax" in kernel["source"]
    assert "ret" in kernel["stages"]["asm"]
    fused = next(step for step in data["steps"] if step["kernel"])
    assert "stopped" in fused["group"]
    assert " us</text>" in page.read_text()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
def test_page_in_a_browser(page: Path) -> None:
    done = shell(
        str(CHROMIUM),
        *("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"),
        *("--dump-dom", page.as_uri()),
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert 'class="chosen"' in shown
    assert "softmax" in shown.split('id="source">')[1].split("</pre>")[0]
    assert "ret" in shown.split('id="text">')[1].split("</pre>")[0]
