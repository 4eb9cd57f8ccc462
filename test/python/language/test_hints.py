"""What hints propose, applied to the examples of the pages: the text must check clean."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from tree import ROOT

BLOCK = re.compile(r"^```qn\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
PAGES = sorted((ROOT / "docs/diagnostics").glob("QN*.md"))
Row = dict[str, Any]


def check(text: str) -> list[Row]:
    done = subprocess.run(
        ["quern", "check", "--json", "-"], input=text, capture_output=True, text=True, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def replaced(text: str, span: Row, new: str) -> str:
    lines = text.encode().split(b"\n")
    first, last = span["line"] - 1, span["endLine"] - 1
    head, tail = lines[first][: span["column"] - 1], lines[last][span["endColumn"] - 1 :]
    lines[first : last + 1] = [head + new.encode() + tail]
    return b"\n".join(lines).decode()


def with_fix(text: str, row: Row) -> str:
    for edit in sorted(row["fix"], key=lambda e: (e["span"]["line"], -e["span"]["column"])):
        text = replaced(text, edit["span"], edit["replacement"])
    return text


def applied(text: str, row: Row) -> Iterator[str]:
    """The text with each piece of code of the hint at each place that may be meant."""
    span = row["span"]
    lines = text.split("\n")
    line = lines[span["line"] - 1]
    indent = line[: len(line) - len(line.lstrip())]
    places = [span, *(label["span"] for label in row.get("labels", []))]
    for code in CODE.findall(row["hint"]):
        for place in places:
            yield replaced(text, place, code)
        for number, keep in itertools.product((span["line"] - 1, span["line"]), (0, 1)):
            yield "\n".join([*lines[:number], indent + code, *lines[number + 1 - keep :]])


#: Words of a hint that stand for any expression or name.
ANY = re.compile(r"…|condition|lo|hi|[a-zA-Z]|[0-9]+")


def shows(fixed: str, hint: str) -> bool:
    """Whether a fixed text is written as one of the hint's pieces of code."""
    for code in CODE.findall(hint):
        words = re.findall(r"\w+|…|[^\w\s]", code)
        form = r"\s*".join(".*?" if ANY.fullmatch(word) else re.escape(word) for word in words)
        if re.search(form, fixed, re.DOTALL):
            return True
    return False


def hinted() -> list[Any]:
    found = []
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text())
        if not blocks:
            continue
        for number, row in enumerate(check(blocks[0])):
            if "fix" in row or CODE.search(row.get("hint", "")):
                found.append(pytest.param(blocks, row, id=f"{page.stem}-{number}"))
    return found


@pytest.mark.parametrize(("blocks", "row"), hinted())
def test_a_hint_mends_its_example(blocks: list[str], row: Row) -> None:
    text, *fixed = blocks
    if "fix" in row:
        assert check(with_fix(text, row)) == []
        return
    clean = any(check(one) == [] for one in applied(text, row))
    assert clean or any(shows(one, row["hint"]) for one in fixed), row["hint"]
