"""Nothing in the tree belongs to one machine or is left half done."""

from __future__ import annotations

import re

import pytest
from tree import ROOT, tracked

SELF = "test/repo/test_text_hygiene.py"
FORBIDDEN = {
    "machine path": re.compile(r"(?<![\w.$}/])/(work|home|Users|root)/\w"),
    "temporary path": re.compile(r"(?<![\w.$}/])/tmp/(?!quern)\w"),
    "unfinished": re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"),
    "conflict": re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE),
}


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_text(kind: str) -> None:
    wrong = []
    for name in tracked():
        path = ROOT / name
        if name == SELF or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        text = data.decode(errors="replace")
        for match in FORBIDDEN[kind].finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            wrong.append(f"{name}:{line}: {match.group()}")
    assert not wrong, "\n".join(wrong)


def test_root_is_clean() -> None:
    """New top-level files are a decision, not an accident."""
    known = {
        ".clang-format",
        ".clang-tidy",
        ".gitignore",
        "CHANGELOG.md",
        "CMakeLists.txt",
        "CMakePresets.json",
        "LICENSE",
        "README.md",
        "dev",
        "pyproject.toml",
    }
    files = {name for name in tracked() if "/" not in name}
    assert files <= known, sorted(files - known)
