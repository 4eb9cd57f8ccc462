"""The examples in the docstrings of the package run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest
import quern

PACKAGE = Path(quern.__file__).parent
MODULES = sorted(
    ".".join(("quern", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", sorted(set(dir(quern)) - {"Error", "FallbackError", "Module"}))
def test_public_functions_have_an_example(name: str) -> None:
    assert ">>> " in (getattr(quern, name).__doc__ or "")
