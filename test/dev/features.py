"""Makes docs/features.md from the tests in test/features, one row a test."""

from __future__ import annotations

import ast
import re

from tree import ROOT, tracked

PAGE = ROOT / "docs" / "features.md"
HEAD = """\
# What a user can do

Each row is shown by its test, and `./dev fmt` makes this page from the first lines of the tests.
What has no row has no test yet.

| # | a user can | shown by |
|---|---|---|
"""


def page() -> str:
    rows = []
    for name in tracked("test/features/test_*.py"):
        match = re.match(r"test/features/test_(\d+)_", name)
        text = ast.get_docstring(ast.parse((ROOT / name).read_text()))
        if match and text:
            sentence = text.splitlines()[0].rstrip(".").replace("|", r"\|")
            rows.append((int(match.group(1)), sentence[0].lower() + sentence[1:], name))
    return HEAD + "".join(f"| {n} | {s} | `{name}` |\n" for n, s, name in sorted(rows))


def write() -> int:
    PAGE.write_text(page())
    return 0
