"""The first line of a file is a sentence that says what the file is for."""

from __future__ import annotations

import re

from tree import ROOT, tracked

# Pattern of files: how their first line starts.
OPENINGS = {
    "*.cpp": "// ",
    "*.h": "// ",
    "*.td": "// ",
    "*.def": "// ",
    "*.py": '"""',
    "*.pyi": '"""',
    "*.mlir": "// ",
    "*CMakeLists.txt": "# ",
}
# A sentence may run on; a name banner or a bare RUN line is none.
BANNER = re.compile(r"[-=*/]{4}|\bRUN:|Copyright|-\*-")


def complaint(name: str, opening: str) -> str | None:
    lines = [line for line in (ROOT / name).read_text().splitlines() if line]
    first = lines[0] if lines else ""
    if first.startswith("#!"):
        first = lines[1] if len(lines) > 1 else ""
    starts = first.startswith((opening, "r" + opening))
    words = len(first.removeprefix("r").removeprefix(opening).split())
    if starts and words >= 3 and not BANNER.search(first):
        return None
    return f"{name}: {first!r}"


def test_first_lines() -> None:
    wrong = [
        text
        for pattern, opening in OPENINGS.items()
        for name in tracked(pattern)
        if (text := complaint(name, opening))
    ]
    assert not wrong, "\n".join(wrong)
