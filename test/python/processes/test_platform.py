"""Where the package does not run, it says what is missing, and README says the same."""

from __future__ import annotations

import tomllib

import pytest
from quern import _platform
from quern._platform import GLIBC, MACHINE, PYTHON, TORCH, spell, unmet
from tree import ROOT


def test_where_it_runs() -> None:
    assert unmet(MACHINE, "glibc 2.36", (3, 11)) == ""
    assert unmet(MACHINE, "glibc 2.41", (3, 13)) == ""
    _platform.require()


@pytest.mark.parametrize(
    ("machine", "libc", "python", "words"),
    [
        ("Linux on aarch64", "glibc 2.36", (3, 11), ["x86-64", "aarch64"]),
        ("Darwin on arm64", "", (3, 11), ["Linux", "Darwin"]),
        (MACHINE, "glibc 2.31", (3, 11), ["2.36", "2.31"]),
        (MACHINE, "", (3, 11), ["2.36", "another C library"]),
        (MACHINE, "glibc 2.36", (3, 10), ["3.11", "3.13", "3.10"]),
        (MACHINE, "glibc 2.36", (3, 14), ["3.11", "3.13", "3.14"]),
    ],
)
def test_where_it_does_not(
    machine: str, libc: str, python: tuple[int, int], words: list[str]
) -> None:
    reason = unmet(machine, libc, python)
    assert all(word in reason for word in words)


def test_readme_and_wheel_say_the_same() -> None:
    said = " ".join((ROOT / "README.md").read_text().split())
    first, last = map(spell, PYTHON)
    assert f"{MACHINE} with glibc {spell(GLIBC)} or newer" in said
    torch = spell(TORCH[0])  # the release that a wheel has a module for
    assert f"Python {first} to {last}; torch {torch} for" in said
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={first},<{spell((PYTHON[1][0], PYTHON[1][1] + 1))}"
    assert project["optional-dependencies"]["torch"] == [f"torch=={torch}.*"]
