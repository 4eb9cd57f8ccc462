"""`QUERN_PROFILE=1` prints times of trace, plan, compile and run for each graph."""

from __future__ import annotations

import re

from support import python

TEXT = """
import torch
f = torch.compile(lambda x: torch.mm(x, x).sin(), backend="quern")
for _ in range(3):
    f(torch.ones(4, 4))
"""


def test_times() -> None:
    said = python(TEXT, QUERN_PROFILE="1")
    assert re.search(r"graph0_inference: compiled in 0:00:\d\d\.\d{6}\n", said)
    for stage in ("trace", "import", "groups", "program", "compiled", "plan"):
        assert re.search(rf"  0:00:\d\d\.\d{{6}}  {stage}\n", said)
    assert re.search(r"graph0_inference: 3 runs, the first 0:00:\d\d\.\d{6}", said)
    assert re.search(r"%       3 x aten::mm\n", said)
