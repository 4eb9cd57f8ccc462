"""Results lie in memory as eager's do, also of operators that are traced as others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import opinfo
import pytest
import torch

aten = torch.ops.aten
Call = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
CALLS: dict[str, Call] = {
    "floor_divide": lambda x, y: x // y,
    "xlog1py": torch.special.xlog1py,
    "logit_backward": lambda x, y: aten.logit_backward(x, y, 1e-3),
    "copysign": torch.copysign,
    "softplus_backward": lambda x, y: aten.softplus_backward(x, y, 1, 20),
    "where": lambda x, y: torch.where(x > 0.5, x, y),
    "add": torch.add,
}
LAYOUTS: dict[str, Callable[[], torch.Tensor]] = {
    "rows": lambda: torch.rand(2, 3, 4, 5),
    "channels": lambda: torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "turned": lambda: torch.rand(5, 2, 4, 3).permute(1, 3, 2, 0),
    "gaps": lambda: torch.rand(2, 3, 4, 10)[..., ::2],
    "repeated": lambda: torch.rand(2, 1, 4, 5).expand(2, 3, 4, 5),
    "broadcast": lambda: torch.rand(3, 1, 5),
    "short": lambda: torch.rand(2, 4, 1, 3).permute(0, 3, 1, 2),
}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing compiled before or after counts against the limit of compiles."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("name", CALLS)
def test_mixed_layouts(name: str) -> None:
    function = CALLS[name]
    compiled = torch.compile(function, backend="quern", fullgraph=True, dynamic=False)
    with torch._dynamo.config.patch(recompile_limit=100):
        for one, other in itertools.product(LAYOUTS.values(), repeat=2):
            x, y = one(), other()
            ours, eager = compiled(x, y), function(x, y)
            torch.testing.assert_close(ours, eager)
            assert opinfo.real_strides(ours) == opinfo.real_strides(eager)


def test_what_is_read_again_lies_as_traced() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = x // y
        return z, z.transpose(1, 2) + 1

    x, y = LAYOUTS["channels"]() + 0.1, LAYOUTS["rows"]() + 0.1
    torch.testing.assert_close(torch.compile(function, backend="quern")(x, y), function(x, y))


def test_no_number_is_drawn_to_ask() -> None:
    """The stream goes on as if the graph had drawn only its own."""
    function = torch.compile(torch.bernoulli, backend="quern", options={"random": "eager"})
    x = LAYOUTS["turned"]()
    torch.manual_seed(3)
    eager = torch.bernoulli(x), torch.rand(4)
    torch.manual_seed(3)
    torch.testing.assert_close((function(x), torch.rand(4)), eager)
