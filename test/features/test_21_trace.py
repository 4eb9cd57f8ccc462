"""`QUERN_TRACE=1` logs every launch and every ATen call."""

import pytest
import torch


def test_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("QUERN_TRACE", "1")
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.sort(torch.mm(x, x).sin() + 1)[0], backend="quern")
    x = torch.randn(3, 3)
    compiled(x)
    first = capsys.readouterr().out.splitlines()
    lines = [line for line in first if line.startswith("quern: ")]
    assert lines[0] == "quern: aten aten::mm -> mm"
    assert lines[1:]
    assert all(line.startswith("quern: kernel ") for line in lines[1:])
    compiled(x)
    assert capsys.readouterr().out.splitlines() == lines
