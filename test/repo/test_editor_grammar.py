"""The editor grammar knows every keyword and element type of the compiler."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from tree import ROOT, tracked

GRAMMAR = ROOT / "docs/editors/vscode/syntaxes/quern.tmLanguage.json"
TABLES = {
    "keywords": re.compile(r'^QN_KEYWORD\(\w+,\s*"(\w+)"', re.MULTILINE),
    "element types": re.compile(r'^QN_ELEMENT\(\w+,\s*"(\w+)"', re.MULTILINE),
}


def patterns(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("match", "begin", "end"):
                yield value
            else:
                yield from patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns(value)


@pytest.mark.parametrize("table", TABLES)
def test_words_are_known(table: str) -> None:
    rules = " ".join(patterns(json.loads(GRAMMAR.read_text())))
    known = set(re.findall(r"[(|](\w+)(?=[|)])", rules))
    sources = "\n".join((ROOT / name).read_text() for name in tracked("frontend/*.def"))
    missing = sorted(set(TABLES[table].findall(sources)) - known)
    assert not missing, missing
