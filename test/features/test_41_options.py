"""Pass options: an unknown key is an error with the nearest known one."""

from __future__ import annotations

import pytest
import torch


def test_unknown_key() -> None:
    compiled = torch.compile(lambda x: x + 1, backend="quern", options={"executer": "aten"})
    with pytest.raises(Exception, match="did you mean `executor`"):
        compiled(torch.ones(2))
