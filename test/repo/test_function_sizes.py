"""No function is longer than fifty lines."""

from __future__ import annotations

import ast

from cpp_functions import functions
from tree import ROOT, tracked

LIMIT = 50


def test_cpp_functions() -> None:
    too_long = [
        f"{name}:{line}: {function} has {lines} lines, at most {LIMIT}"
        for name in tracked("*.cpp", "*.h")
        for function, line, lines in functions((ROOT / name).read_text())
        if lines > LIMIT
    ]
    assert not too_long, "\n".join(too_long)


def test_python_functions() -> None:
    too_long = []
    for name in tracked("*.py"):
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > LIMIT:
                too_long.append(f"{name}:{node.lineno}: {node.name} has {lines} lines")
    assert not too_long, "\n".join(too_long)
