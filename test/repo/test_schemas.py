"""The table of ATen's overloads is that of the torch in the environment."""

from __future__ import annotations

import re
import sys

import pytest
from tree import ROOT

sys.path.append(str(ROOT / "test/dev"))


def test_schemas_are_current() -> None:
    torch = pytest.importorskip("torch")
    schemas = pytest.importorskip("schemas")
    written = schemas.TABLE.read_text()
    made = re.search(r"of torch (\S+);", written)
    assert made
    if not torch.__version__.startswith(made[1]):
        pytest.skip(f"the table is of torch {made[1]}")
    assert written == schemas.table(), "run `./dev schemas`"
