"""`QUERN_VERBOSE=1` shows operator counts, the FX table, groups with reasons, and the program."""

from __future__ import annotations

import re
from pathlib import Path

from support import script

TEXT = """
import torch
f = torch.compile(lambda x: torch.linalg.svdvals(x.sin().cos()) + 1, backend="quern")
f(torch.eye(4))
"""


def test_what_happened(tmp_path: Path) -> None:
    said = script(tmp_path, TEXT, QUERN_VERBOSE="1")
    assert "inference graph graph0_inference" in said
    assert "1 x aten.sin.default" in said
    assert "1 x aten::_linalg_svd (fallback)" in said
    assert "program.py:3" in said
    assert "group 0 elementwise: sin cos\n  stopped: " in said
    assert re.search(r"elementwise fused_\w+\(x0: f32\) -> f32:\n    let v1 = ", said)
    assert "plan graph0_inference" in said
