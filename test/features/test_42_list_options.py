"""List options: `quern.options()` and `quern options` give name, default and a sentence."""

from __future__ import annotations

import quern
from support import shell


def test_from_python() -> None:
    by_name = {option.name: option for option in quern.options()}
    assert by_name["executor"].default == "quern"
    for option in by_name.values():
        assert option.default in option.choices
        assert " " in option.text
        assert option.text in str(option)


def test_from_the_command() -> None:
    said = shell("quern", "options").stdout
    for option in quern.options():
        assert f"  {option.name} = {option.default}\t{option.text}" in said
    assert "  QUERN_DEBUG\t" in said
