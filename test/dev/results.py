"""Counts of passed, failed and skipped tests, read from the runners' reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

LIT_PASSED = {"PASS", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


@dataclass
class Counts:
    """How many tests ended in which way; prints as the count line."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    known: int = 0  #: failures that a strict list of gaps names

    def __iadd__(self, other: Counts) -> Counts:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.known += other.known
        return self

    def __str__(self) -> str:
        counts = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        return f"{counts}, {self.known} known gaps"


def of_junit(report: Path) -> Counts:
    """Reads the dialects of pytest, ctest and GoogleTest. A test that failed in
    two phases has two cases in pytest's report; each counts."""
    counts = Counts()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed += 1
        elif skipped is None:
            counts.passed += 1
        elif skipped.get("type") == "pytest.xfail":
            counts.known += 1
        else:
            counts.skipped += 1
    return counts


def of_lit(report: Path) -> Counts:
    counts = Counts()
    for test in json.loads(report.read_text())["tests"]:
        if test["code"] in LIT_PASSED:
            counts.passed += 1
        elif test["code"] == "XFAIL":
            counts.known += 1
        elif test["code"] in LIT_SKIPPED:
            counts.skipped += 1
        else:
            counts.failed += 1
    return counts
