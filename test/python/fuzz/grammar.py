"""Random programs from the grammar in the language's specification.

>>> from grammar import Grammar
>>> rules = Grammar('greeting = "hello" name ; name = "you" | "world" ;')
>>> rules.sentence("greeting", seed=1).split()[0]
'hello'
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r'"[^"]+"|\'[^\']+\'|[A-Za-z-]+|[=;|\[\]{}()]')
# What the lexical rules stand for; their own text is for people.
WORDS = {
    "name": ["x", "y", "T", "C", "weight", "_", "step", "n2"],
    "integer": ["0", "1", "32", "0x1F", "1_000"],
    "float": ["0.5", "1e-3", ".25", "inf", "0x1p-3"],
    "string": ['"tanh"', '"a\\n"', '""'],
    "docstring": ['"""What it does."""'],
}
LAYOUT = {"NEWLINE", "INDENT", "DEDENT"}


@dataclass
class Node:
    """One place of a rule: a word, a reference, or a group of alternatives."""

    kind: str
    text: str = ""
    choices: list[list[Node]] = field(default_factory=list)


class Grammar:
    """Rules read from EBNF; `sentence` derives a text from one of them."""

    def __init__(self, text: str) -> None:
        self._tokens = TOKEN.findall(text)
        self._rules: dict[str, Node] = {}
        while self._tokens:
            name = self._tokens.pop(0)
            self._take("=")
            self._rules[name] = self._group(";")
        self._least: dict[str, int] = {}
        self._measure()

    def _take(self, expected: str) -> None:
        found = self._tokens.pop(0)
        assert found == expected, f"{expected} expected, found {found}"

    def _group(self, closer: str) -> Node:
        node = Node("group", closer, [[]])
        while (token := self._tokens.pop(0)) != closer:
            if token == "|":
                node.choices.append([])
            elif token in "[{(":
                node.choices[-1].append(self._group({"[": "]", "{": "}", "(": ")"}[token]))
            elif token[0] in "\"'":
                node.choices[-1].append(Node("word", token[1:-1]))
            else:
                node.choices[-1].append(Node("rule", token))
        return node

    def _measure(self) -> None:
        """The least depth in which each rule ends."""
        changed = True
        while changed:
            changed = False
            for name, node in self._rules.items():
                depth = self._depth(node)
                if depth is not None and depth + 1 < self._least.get(name, 10**6):
                    self._least[name] = depth + 1
                    changed = True

    def _depth(self, node: Node) -> int | None:
        if node.kind == "word" or node.text in WORDS or node.text in LAYOUT:
            return 0
        if node.kind == "rule":
            return self._least.get(node.text)
        if node.text in "]}":
            return 0
        depths = [self._depth_of(choice) for choice in node.choices]
        return min((depth for depth in depths if depth is not None), default=None)

    def _depth_of(self, choice: list[Node]) -> int | None:
        depths = [self._depth(node) for node in choice]
        if any(depth is None for depth in depths):
            return None
        return max((depth for depth in depths if depth is not None), default=0)

    def sentence(self, rule: str, seed: int, depth: int = 14) -> str:
        """A text that the rule derives; beyond `depth` it ends as soon as it can."""
        words: list[str] = []
        self._derive(Node("rule", rule), random.Random(seed), depth, words)
        return _layout(words)

    def _derive(self, node: Node, source: random.Random, depth: int, into: list[str]) -> None:
        if node.kind == "word" or node.text in LAYOUT:
            into.append(node.text)
        elif node.text in WORDS:
            into.append(source.choice(WORDS[node.text]))
        elif node.kind == "rule":
            self._derive(self._rules[node.text], source, depth - 1, into)
        else:
            for _ in range(self._rounds(node, source, depth)):
                for inner in self._choose(node, source, depth):
                    self._derive(inner, source, depth, into)

    def _rounds(self, node: Node, source: random.Random, depth: int) -> int:
        if node.text not in "]}":
            return 1
        if depth <= 0:
            return 0
        return source.choice([0, 1]) if node.text == "]" else source.choice([0, 0, 1, 2])

    def _choose(self, node: Node, source: random.Random, depth: int) -> list[Node]:
        if depth > 0:
            return source.choice(node.choices)
        depths = [self._depth_of(choice) for choice in node.choices]
        least = min(depth for depth in depths if depth is not None)
        return node.choices[depths.index(least)]


def _layout(words: list[str]) -> str:
    """Words with blanks between, lines broken and indented."""
    lines, line, level = [], "", 0
    for word in words:
        if word == "NEWLINE":
            lines.append(line)
            line = ""
        elif word in LAYOUT:
            level += 1 if word == "INDENT" else -1
        else:
            line += f" {word}" if line else "    " * level + word
    return "\n".join([*lines, line]) + "\n"
