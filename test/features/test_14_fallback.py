"""An operator without a kernel runs through ATen, named once; strict mode raises."""

import warnings

import pytest
import quern
import torch
from quern.torch_backend.state import state


def uses_svd(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.svdvals(x) + 1


def test_warning_names_it() -> None:
    torch._dynamo.reset()
    quern.reset_counters()
    state().warned.clear()
    x = torch.randn(4, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled = torch.compile(uses_svd, backend="quern")
        torch.testing.assert_close(compiled(x), uses_svd(x))
    assert len([w for w in caught if "aten::_linalg_svd" in str(w.message)]) == 1
    assert quern.counters()["fallbacks"]["aten::_linalg_svd"] == 1


def test_strict_mode_raises() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(uses_svd, backend="quern", options={"fallback": "error"})
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as caught:
        compiled(torch.randn(4, 4))
    message = str(caught.value)
    assert isinstance(caught.value.inner_exception, quern.FallbackError)
    assert "`aten::_linalg_svd`" in message
    assert "test_14_fallback.py:" in message
    assert "[4, 4]" in message
    assert "hint:" in message
