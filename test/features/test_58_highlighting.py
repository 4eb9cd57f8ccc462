"""Edit with highlighting: an extension folder with a TextMate grammar."""

from __future__ import annotations

import json
import re

from support import ROOT

FOLDER = ROOT / "docs/editors/vscode"


def test_manifest_points_to_the_grammar() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text())["contributes"]
    (grammar,) = manifest["grammars"]
    (language,) = manifest["languages"]
    assert language["extensions"] == [".qn"]
    assert (FOLDER / language["configuration"]).exists()
    assert json.loads((FOLDER / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]


def rules(node: object) -> list[str]:
    if isinstance(node, dict):
        own = [v for k, v in node.items() if k in ("match", "begin", "end")]
        return own + [r for v in node.values() for r in rules(v)]
    return [r for v in node for r in rules(v)] if isinstance(node, list) else []


def test_rules_are_regular_expressions() -> None:
    grammar = json.loads((FOLDER / "syntaxes/quern.tmLanguage.json").read_text())
    found = rules(grammar["repository"])
    assert len(found) > 10
    for rule in found:
        re.compile(rule)
