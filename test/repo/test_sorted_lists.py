"""A list whose comment says `sorted` is sorted."""

from __future__ import annotations

import re

from tree import ROOT, tracked

# The comment ends in "sorted." or ", sorted"; the list ends at an empty line
# or a closing bracket.
MARK = re.compile(r"^\s*(#|//).*\bsorted[.:]?(\s|$)")
END = re.compile(r"^\s*([)\]}]|$)")
OPEN = re.compile(r"[\[({]\s*$")


def listed(lines: list[str], start: int) -> list[str]:
    rows: list[str] = []
    for line in lines[start:]:
        if END.match(line):
            break
        if line.lstrip().startswith(("#", "//")) or (not rows and OPEN.search(line)):
            continue
        rows.append(line.strip())
    return rows


def test_lists() -> None:
    wrong = []
    for name in tracked("dev", "*.txt", "*.def", "*.py", "*.cpp"):
        lines = (ROOT / name).read_text().splitlines()
        for number, line in enumerate(lines):
            if not MARK.match(line) or name.startswith("test/repo/"):
                continue
            rows = listed(lines, number + 1)
            if rows != sorted(rows):
                wrong.append(f"{name}:{number + 1}")
    assert not wrong, "\n".join(wrong)
