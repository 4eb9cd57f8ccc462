"""Finds the functions of a C++ text and how many lines each takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Comments, raw and plain strings, characters, preprocessor lines: all of them
# may hold braces that open nothing.
_NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE,
)
_NOT_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")
_FUNCTION = re.compile(r"\)\s*(const|noexcept|override|final|&|->[^;]*|:[^;]*)*\s*$")


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields name, first line and number of lines of every function body that
    stands in a namespace or class; lambdas count with what they stand in."""
    clean = _NOISE.sub(_blank, text)
    opened: list[int | None] = []
    inside = 0
    start = 0
    for position, char in enumerate(clean):
        if char == "{":
            header = clean[start:position]
            is_function = (
                not inside
                and _FUNCTION.search(header) is not None
                and _NOT_FUNCTION.search(header.split("(")[0]) is None
            )
            first = start + len(header) - len(header.lstrip())
            opened.append(first if is_function else None)
            inside += is_function
        elif char == "}" and opened:
            first_position = opened.pop()
            if first_position is not None:
                inside -= 1
                name = re.search(r"([~\w:]+)\s*\(", clean[first_position:])
                line = clean.count("\n", 0, first_position) + 1
                last = clean.count("\n", 0, position) + 1
                yield name.group(1) if name else "?", line, last - line + 1
        if char in "{};" and not inside:
            start = position + 1
