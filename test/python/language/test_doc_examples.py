"""Examples in the documents are read by the compiler they describe."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from quern_program import quern
from tree import ROOT

BLOCK = re.compile(r"^```qn\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted((ROOT / "docs/diagnostics").glob("QN*.md"))


def codes(text: str) -> list[str]:
    done = subprocess.run(
        [quern(), "check", "--json", "-"], input=text, capture_output=True, text=True, check=False
    )
    return [json.loads(line)["code"] for line in done.stdout.splitlines()]


def test_every_page_has_an_example() -> None:
    """In Quern, or where that cannot show it in Python or for the shell."""
    assert [page.stem for page in PAGES if "```" not in page.read_text()] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```qn" in page.read_text()], ids=lambda page: page.stem
)
def test_page_shows_its_code_and_the_fix(page: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    assert codes(blocks[0]) == [page.stem]
    for mended in blocks[1:]:
        assert codes(mended) == []


LANGUAGE = [
    pytest.param(example, id=f"{name}-{number}")
    for name in ("language", "semantics", "reference", "which-kind", "index")
    for number, example in enumerate(BLOCK.findall((ROOT / f"docs/{name}.md").read_text()))
]


@pytest.mark.parametrize("example", LANGUAGE)
def test_language_examples(example: str) -> None:
    assert codes(example) == []
