"""Compile in one line."""

from __future__ import annotations

import torch


def test_result_is_eagers() -> None:
    f = torch.compile(lambda x, y: x + y * 2, backend="quern")
    x, y = torch.randn(2, 33, 17)
    torch.testing.assert_close(f(x, y), x + y * 2)
