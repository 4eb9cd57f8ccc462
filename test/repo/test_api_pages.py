"""The pages in docs/api are what the sources say."""

from __future__ import annotations

import apidoc
import pytest


@pytest.mark.parametrize("name", apidoc.PAGES)
def test_page_is_current(name: str) -> None:
    made = apidoc.PAGES[name]().rstrip("\n") + "\n"
    assert (apidoc.FOLDER / name).read_text() == made, "run ./dev fmt"
