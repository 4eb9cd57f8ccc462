"""Every row of a table is produced by some test."""

from __future__ import annotations

import re

import pytest
from tree import ROOT, tracked

DIAGNOSTIC = re.compile(r"^QN_DIAGNOSTIC\(\s*(\d+),\s*(\w+)", re.MULTILINE)
BUILTIN = re.compile(r'^QN_BUILTIN\(\s*\w+,\s*"(\w+)"', re.MULTILINE)
OPERATION = re.compile(r'^def \w+\s*:\s*\w*Op\w*<"([\w.]+)"', re.MULTILINE)
PASS = re.compile(r'^def \w+\s*:\s*Pass<"([\w-]+)"', re.MULTILINE)

# What no test can bring about: a module with an error does not come to calls.
UNTESTED = {"QN2003"}
WITHOUT_PAGE: set[str] = set()
UNNAMED_BUILTINS: set[str] = set()


def texts(*patterns: str) -> str:
    return "\n".join((ROOT / name).read_text(errors="replace") for name in tracked(*patterns))


def rows(pattern: re.Pattern[str], *files: str) -> list[str]:
    return pattern.findall(texts(*files))


def test_diagnostics_have_a_test() -> None:
    """A lit test, or for what only a call can meet a unit or Python test."""
    tests = texts("lit-tests/*", "test/*.cpp", "test/python/*.py", "test/features/*.py")
    missing = {
        f"QN{int(code):04}"
        for code, name in rows(DIAGNOSTIC, "*.def")
        if f"QN{int(code):04}" not in tests and f"::{name}" not in tests
    }
    assert missing == UNTESTED


def test_diagnostics_have_a_page() -> None:
    pages = texts("docs/diagnostics/*.md")
    missing = {
        f"QN{int(code):04}"
        for code, _ in rows(DIAGNOSTIC, "*.def")
        if f"QN{int(code):04}" not in pages
    }
    assert missing == WITHOUT_PAGE


def test_diagnostic_codes_are_unique() -> None:
    codes = [int(code) for code, _ in rows(DIAGNOSTIC, "*.def")]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(
    ("pattern", "tables", "form", "known"),
    [
        pytest.param(
            BUILTIN, "frontend/*.def", r"\b{0}\b\s*[(\[.]", UNNAMED_BUILTINS, id="builtins"
        ),
        pytest.param(OPERATION, "dsl/*.td", r"\bqn\.{0}\b", set(), id="operations"),
        pytest.param(PASS, "dsl/*.td", r"\b{0}\b", set(), id="passes"),
    ],
)
def test_rows_are_used(pattern: re.Pattern[str], tables: str, form: str, known: set[str]) -> None:
    tests = texts(
        "lit-tests/*", "test/python/*.py", "test/features/*.py", "test/*.cpp", "test/*.qn"
    )
    missing = {
        row for row in rows(pattern, tables) if not re.search(form.format(re.escape(row)), tests)
    }
    assert missing == known


@pytest.mark.parametrize("kind", ["roundtrip", "invalid"])
def test_operations_round_trip_and_are_verified(kind: str) -> None:
    tests = texts(f"lit-tests/qn/*{kind}*.mlir")
    missing = {
        row for row in rows(OPERATION, "dsl/*.td") if not re.search(rf"\bqn\.{row}\b", tests)
    }
    assert not missing


def test_builtins_are_in_the_reference() -> None:
    """Each builtin, and each function of the prelude that is meant for users."""
    page = texts("docs/reference.md")
    public = rows(re.compile(r"^reduction (\w+)", re.MULTILINE), "stdlib-kernels/prelude/*.qn")
    missing = {name for name in [*rows(BUILTIN, "frontend/*.def"), *public] if name not in page}
    assert not missing
