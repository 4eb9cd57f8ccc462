"""The grammar of the specification and the parser agree."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from grammar import Grammar
from quern_program import quern
from slices import matrix
from tree import ROOT

BLOCK = re.compile(r"^```ebnf\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The first block describes tokens, for people; grammar.py has words for them.
GRAMMAR = Grammar("\n".join(BLOCK.findall((ROOT / "docs/language.md").read_text())[1:]))
# What the text beside the grammar forbids.
CONSTRAINTS = {
    "QN0113",  # attributes stand before a declaration
    "QN0120",  # a reduction's parts, once each
    "QN0121",
    "QN0126",  # parameters with a default stand last
    "QN0127",  # a compound assignment has one target
    "QN0128",  # `not` behind an operator
    "QN0129",  # `extern` stands before a call
    "QN0132",
    "QN0142",
    "QN0143",  # the fields of a state stand on one line
}
DERIVED = 40
SEEDS = matrix("grammar", list(range(400)), group=lambda seed: seed % 8, quick=0.1)


def run(arguments: list[str], text: str) -> str:
    done = subprocess.run(
        [str(quern()), *arguments], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def syntax_errors(text: str) -> set[str]:
    lines = run(["check", "--json", "--error-limit=1000000", "-"], text).splitlines()
    codes = {json.loads(line)["code"] for line in lines}
    return {code for code in codes if "QN0001" <= code < "QN0900"}


@pytest.mark.parametrize("seed", SEEDS)
def test_programs_of_the_grammar_are_read_and_formatted(seed: int) -> None:
    text = "\n".join(GRAMMAR.sentence("declaration", seed * DERIVED + i) for i in range(8))
    errors = syntax_errors(text)
    assert errors <= CONSTRAINTS, text
    if errors:
        return
    once = run(["fmt", "-"], text)
    assert run(["fmt", "-"], once) == once
