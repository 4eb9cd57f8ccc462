"""`QUERN_TRACE=1` logs every launch and every ATen call."""

import pytest
import torch


def test_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("QUERN_TRACE", "1")
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.mm(x, x), backend="quern")
    compiled(torch.randn(3, 3))
    assert "quern: aten aten::mm" in capsys.readouterr().out
