"""Tests of `test/python` lie in folders that docs/testing.md describes, and import no test."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath

import pytest
from tree import ROOT, tracked

#: Folders of modules that tests import.
SHARED = {"cases", "fuzz", "support"}
FILES = [PurePath(name) for name in tracked("test/python/*.py")]
IMPORTS_TEST = re.compile(r"^\s*(?:from|import) (test_\w+)", re.MULTILINE)


def folder(path: PurePath) -> str:
    return "/".join(path.parts[2:-1])


def test_every_folder_is_described() -> None:
    _, _, section = (ROOT / "docs" / "testing.md").read_text().partition("folders of `test/python`")
    described = set(re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))
    assert described == {folder(path) for path in FILES if path.name != "conftest.py"}


def test_tests_and_shared_modules_lie_apart() -> None:
    wrong = [
        str(path)
        for path in FILES
        if path.name != "conftest.py" and (folder(path) in SHARED) == path.name.startswith("test_")
    ]
    assert not wrong


def test_names_of_modules_are_unique() -> None:
    """Modules are imported by their names alone."""
    count = Counter(path.stem for path in FILES if path.name != "conftest.py")
    assert not [name for name, times in count.items() if times > 1]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_no_test_is_imported(path: PurePath) -> None:
    """What two tests share lies in `support`, so that a test can be moved or run alone."""
    assert not IMPORTS_TEST.findall((ROOT / path).read_text())
