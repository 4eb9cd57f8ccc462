"""Every row of a table is produced by some test."""

from __future__ import annotations

import re

import pytest
from tree import ROOT, tracked

DIAGNOSTIC = re.compile(r"^QN_DIAGNOSTIC\(\s*(\d+),\s*(\w+)", re.MULTILINE)
BUILTIN = re.compile(r'^QN_BUILTIN\(\s*\w+,\s*"(\w+)"', re.MULTILINE)
OPERATION = re.compile(r'^def \w+\s*:\s*\w*Op\w*<"([\w.]+)"', re.MULTILINE)
PASS = re.compile(r'^def \w+\s*:\s*Pass<"([\w-]+)"', re.MULTILINE)

# Known gaps: a code that gains a test or a page must leave its list.
UNTESTED = {
    "QN2002",
    "QN2003",
    "QN2008",
    "QN2009",
    "QN2010",
    "QN2013",
    "QN2023",
    "QN2026",
    "QN2028",
    "QN2029",
    "QN2035",
    "QN2036",
    "QN2040",
    "QN2042",
    "QN2043",
    "QN2044",
    "QN2050",
    "QN2051",
    "QN2060",
    "QN2070",
    "QN2071",
    "QN2072",
}
# Likewise for the pages of docs/diagnostics.
WITHOUT_PAGE = {
    "QN1006",
    "QN1027",
    "QN1109",
    "QN1111",
    "QN1113",
    "QN1118",
    "QN1121",
    "QN1129",
    "QN1130",
    "QN1131",
    "QN1211",
    "QN1213",
    "QN1223",
    "QN1227",
    "QN1228",
    "QN1230",
    "QN1232",
    "QN1233",
    "QN1235",
    "QN1237",
    "QN1238",
    "QN1302",
    "QN1305",
    "QN1310",
    "QN1318",
    "QN1320",
    "QN1322",
    "QN1325",
    "QN1328",
    "QN1329",
    "QN1330",
    "QN1408",
    "QN2070",
    "QN2071",
    "QN2072",
}

# Builtins that no test names yet; most belong to `kernel`s.
UNNAMED_BUILTINS = {
    "bitwidth",
    "ceil",
    "clz",
    "complex",
    "conj",
    "copysign",
    "ctz",
    "epsilon",
    "floor",
    "highest",
    "im",
    "lowest",
    "mulhi",
    "popcount",
    "rank",
    "rint",
    "squeeze",
    "tiny",
    "unsqueeze",
    "view_as",
    "view_as_complex",
    "view_as_real",
}


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
