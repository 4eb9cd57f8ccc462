"""Every room includes only what the architecture lets it see."""

from __future__ import annotations

import re
from pathlib import PurePath

import pytest
from tree import ROOT, tracked

ROOMS = ("frontend", "dsl", "jit", "backend-torch", "python")
LLVM_SUPPORT = ("llvm/ADT/", "llvm/Support/", "llvm/Config/")

# room: (own rooms it may include, foreign heads it may include)
MAY_SEE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "frontend": (("frontend",), LLVM_SUPPORT),
    "dsl": (("frontend", "dsl"), (*LLVM_SUPPORT, "mlir/", "llvm/")),
    "jit": (("frontend", "dsl", "jit"), ("mlir/", "llvm/", "lld/")),
    "backend-torch": (
        ("backend-torch", "jit/Jit.h"),
        ("torch/", "ATen/", "c10/", "pybind11/", "Python.h"),
    ),
    "python": (("python", "jit/Jit.h", "jit/Options.def"), ("pybind11/", "Python.h")),
}
# Narrower than the room's rule: head and the only places it may stand in.
ONLY_IN = {
    "llvm/ExecutionEngine/": ("jit/",),
    "pybind11/": ("backend-torch/bind/", "python/"),
}
FOREIGN = ("llvm/", "mlir/", "lld/", "clang/", "torch/", "ATen/", "c10/", "pybind11/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def includes(name: str) -> list[str]:
    text = (ROOT / name).read_text()
    return [match.group(2) for match in INCLUDE.finditer(text)]


def allowed(name: str, room: str, head: str) -> bool:
    rooms, foreign = MAY_SEE[room]
    for prefix, places in ONLY_IN.items():
        if head.startswith(prefix):
            return name.startswith(places) and head.startswith(foreign)
    if head.startswith(FOREIGN) or head == "Python.h":
        return head.startswith(foreign)
    if head.split("/")[0] in ROOMS:
        return head.split("/")[0] in rooms or head in rooms
    return True


@pytest.mark.parametrize("room", ROOMS)
def test_includes(room: str) -> None:
    wrong = [
        f"{name} includes {head}"
        for name in tracked(f"{room}/*.cpp", f"{room}/*.h")
        for head in includes(name)
        if not allowed(name, room, head)
    ]
    assert not wrong, "\n".join(wrong)


def test_public_header_is_plain() -> None:
    """jit/Jit.h is what other programs include: the standard library only."""
    heads = includes("jit/Jit.h")
    assert [head for head in heads if "/" in head] == []


def test_includes_start_at_the_root() -> None:
    wrong = []
    for name in tracked("*.cpp", "*.h"):
        for mark, head in INCLUDE.findall((ROOT / name).read_text()):
            beside = (ROOT / PurePath(name).parent / head).exists()
            if mark == '"' and beside and not (ROOT / head).exists():
                wrong.append(f"{name} includes {head}")
    assert not wrong, "\n".join(wrong)


def test_no_exceptions_below_the_edges() -> None:
    """frontend, dsl and jit neither throw nor use dynamic_cast.

    But where memory ends or LLVM gives up: see docs/decisions/0026-failures.md.
    """
    edges = {"jit/session/CApi.cpp", "jit/session/Compiler.cpp", "jit/session/Guard.cpp"}
    forbidden = re.compile(r"^[^/\n\"]*\b(throw|dynamic_cast\s*<|catch\s*\()", re.MULTILINE)
    wrong = [
        name
        for name in tracked(*(f"{room}/*.cpp" for room in ("frontend", "dsl", "jit")))
        if name not in edges and forbidden.search((ROOT / name).read_text())
    ]
    assert not wrong, "\n".join(wrong)
