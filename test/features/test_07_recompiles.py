"""See why it recompiled: `TORCH_LOGS=recompiles` gives one line a guard."""

from __future__ import annotations

import sys

from support import shell

TEXT = """
import torch
f = torch.compile(lambda x, flag: x + 1 if flag else x - 1, backend="quern")
for flag in (True, False):
    f(torch.ones(2), flag)
"""


def test_guard_is_named() -> None:
    done = shell(sys.executable, "-c", TEXT, TORCH_LOGS="recompiles")
    assert done.returncode == 0, done.stderr
    assert "Recompiling function" in done.stderr
    assert len([line for line in done.stderr.splitlines() if "flag" in line]) == 1
