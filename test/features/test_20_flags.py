"""Spell flags as 1, true, yes in any case; 0, no, false and empty are off."""

from __future__ import annotations

import pytest
from quern.torch_backend.options import flag


@pytest.mark.parametrize("text", ["1", "true", "True", "TRUE", "yes", "YES", "on", " 1 "])
def test_on(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_TRACE", text)
    assert flag("QUERN_TRACE")


@pytest.mark.parametrize("text", ["", "0", "no", "No", "false", "FALSE", "off"])
def test_off(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERN_TRACE", text)
    assert not flag("QUERN_TRACE")


def test_absent_and_misspelt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUERN_TRACE", raising=False)
    assert not flag("QUERN_TRACE")
    monkeypatch.setenv("QUERN_TRACE", "maybe")
    with pytest.raises(ValueError, match="`QUERN_TRACE` is `maybe`"):
        flag("QUERN_TRACE")
