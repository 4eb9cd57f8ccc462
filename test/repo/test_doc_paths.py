"""Paths that the documents name exist."""

from __future__ import annotations

import re

from tree import ROOT, tracked

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
SPAN = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
CODE = re.compile(r"`([\w.@+-]+(?:/[\w.@+-]+)+/?)`")


def top_level() -> set[str]:
    return {name.split("/")[0] for name in tracked()}


def test_paths_exist() -> None:
    roots = top_level()
    wrong = []
    for name in tracked("*.md"):
        text = (ROOT / name).read_text()
        folder = (ROOT / name).parent
        wrong += [
            f"{name}: {path}"
            for path in LINK.findall(SPAN.sub("", text))
            if not (folder / path).exists() and not (ROOT / path).exists()
        ]
        wrong += [
            f"{name}: {path}"
            for path in CODE.findall(text)
            if path.split("/")[0] in roots and not (ROOT / path).exists()
        ]
    assert not wrong, "\n".join(wrong)
