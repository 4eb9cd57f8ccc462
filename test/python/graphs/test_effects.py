"""Calls that keep their place among others: checks of matrices, operators with effects."""

from __future__ import annotations

import pytest
import quern
import torch

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.filterwarnings("ignore:.*runs through ATen"),
]


def inverted(x: torch.Tensor) -> torch.Tensor:
    lower = torch.linalg.cholesky(x @ x.mT + torch.eye(4))
    return torch.linalg.inv(x) @ lower + 1


def test_matrices_are_checked_by_no_call_of_python() -> None:
    compiled = torch.compile(inverted, backend="quern", fullgraph=True)
    outcomes = []
    for call in (inverted, compiled, compiled):
        # The second time nothing is to come from a cache that has no tokens.
        torch._dynamo.reset()
        quern.reset_counters()
        x = (torch.eye(4) * 3 + torch.linspace(-1, 1, 16).view(4, 4)).requires_grad_()
        y = call(x)
        y.sin().sum().backward()
        outcomes.append([y.detach(), x.grad])
    torch.testing.assert_close(outcomes[1], outcomes[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(outcomes[2], outcomes[1])
    assert "with_effects" not in quern.counters()["fallbacks"]
    assert quern.counters()["preferred"]["aten::_linalg_check_errors"] == 2


def test_the_first_check_that_fails_is_said() -> None:
    def both(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.cholesky(x).sum() + torch.linalg.inv(x + 1)

    x = -torch.ones(3, 3)
    messages = []
    for call in (both, torch.compile(both, backend="quern", fullgraph=True)):
        with pytest.raises(torch._C._LinAlgError) as raised:
            call(x)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_operators_with_effects_run_in_their_order() -> None:
    seen: list[float] = []

    @torch.library.custom_op("effects::note", mutates_args=())
    def note(x: torch.Tensor, by: float) -> tuple[torch.Tensor, torch.Tensor]:
        seen.append(float(x.sum()))
        return x * by, x + by

    @torch.library.custom_op("effects::tell", mutates_args=())
    def tell(x: torch.Tensor) -> None:
        seen.append(-float(x.sum()))

    @torch.library.custom_op("effects::parts", mutates_args=())
    def parts(x: torch.Tensor) -> list[torch.Tensor]:
        seen.append(0.0)
        return [x + 1, x + 2]

    note.register_fake(lambda x, by: (torch.empty_like(x), torch.empty_like(x)))
    tell.register_fake(lambda x: None)
    parts.register_fake(lambda x: [torch.empty_like(x), torch.empty_like(x)])
    for operator in (note, tell, parts):
        operator.register_effect(torch.library.EffectType.ORDERED)

    def function(x: torch.Tensor) -> torch.Tensor:
        scaled, added = note(x.sin(), 2.0)
        tell(added)
        first, second = parts(scaled.cos())
        tell(first)
        note(second, 3.0)
        return scaled + second

    x = torch.linspace(0, 1, 5)
    expected = function(x)
    noted, seen = seen, []
    compiled = torch.compile(function, backend="quern", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected)
    torch.testing.assert_close(seen, noted)
    seen.clear()
    torch.testing.assert_close(compiled(x), expected)
    torch.testing.assert_close(seen, noted)
