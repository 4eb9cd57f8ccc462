"""Use channels-last, expanded, offset, overlapping, 0-d and empty inputs."""

from __future__ import annotations

import pytest
import torch

LAYOUTS = {
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "expanded": lambda: torch.randn(4, 1).expand(4, 6),
    "offset": lambda: torch.randn(50)[1:17],
    "overlapping": lambda: torch.randn(20).as_strided((5, 4), (2, 1)),
    "0-d": lambda: torch.randn(()),
    "empty": lambda: torch.randn(3, 0, 2),
    "permuted": lambda: torch.randn(3, 4, 5).permute(2, 0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_and_strides(layout: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * 2 + x

    x = LAYOUTS[layout]()
    result, expected = torch.compile(f, backend="quern")(x), f(x)
    torch.testing.assert_close(result, expected)
    assert result.stride() == expected.stride()
