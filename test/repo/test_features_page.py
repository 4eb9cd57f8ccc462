"""docs/features.md is what the feature tests say."""

from __future__ import annotations

import features


def test_page_is_current() -> None:
    assert features.PAGE.read_text() == features.page(), "run ./dev fmt"
