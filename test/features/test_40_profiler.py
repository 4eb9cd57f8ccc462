"""See kernels in `torch.profiler`: name, shapes, the user's line."""

from __future__ import annotations

import json
from pathlib import Path

import torch


def test_trace_file(tmp_path: Path) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x * 2, -1)  # this line is named

    compiled = torch.compile(f, backend="quern")
    x = torch.randn(6, 33)
    compiled(x)
    with torch.profiler.profile(record_shapes=True) as profile:
        compiled(x)
    (event,) = [e for e in profile.events() if e.name.startswith("quern::")]
    assert f"test_40_profiler.py:{f.__code__.co_firstlineno + 1}" in event.name
    assert event.input_shapes == [[6, 33]]
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(str(path))
    names = {entry.get("name") for entry in json.loads(path.read_text())["traceEvents"]}
    assert event.name in names
