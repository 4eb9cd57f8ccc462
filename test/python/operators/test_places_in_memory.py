"""Writes through `as_strided` go to places in memory, whatever the tensor's own strides are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import quern  # noqa: F401
import torch


def big(*sizes: int) -> torch.Tensor:
    count = 1
    for size in sizes:
        count *= size
    return torch.arange(float(count)).view(sizes)


# Every layout of a tensor with at least 12 elements and 2 axes.
LAYOUTS: dict[str, Callable[[], torch.Tensor]] = {
    "rows": lambda: big(4, 5),
    "columns": lambda: big(5, 4).t(),
    "gaps": lambda: big(4, 8)[:, :5],
    "column_gaps": lambda: big(8, 4)[:5].t(),
    "steps": lambda: big(8, 10)[::2, ::2],
    "later": lambda: big(6, 8)[1:5, 2:7],
    "later_rows": lambda: big(6, 5)[1:5],
    "later_columns": lambda: big(6, 4)[1:].t(),
    "channels_last": lambda: big(2, 3, 4, 2).contiguous(memory_format=torch.channels_last),
    "permuted": lambda: big(3, 4, 2).permute(2, 0, 1),
    "line": lambda: big(20)[3:],
}

WRITES: dict[str, Callable[[torch.Tensor], object]] = {
    "line": lambda x: x.as_strided((3,), (2,)).fill_(-1),
    "square": lambda x: x.as_strided((2, 2), (3, 1)).fill_(-1),
    "turned": lambda x: x.as_strided((2, 3), (1, 4)).copy_(torch.full((2, 3), -2.0)),
    "offset": lambda x: x.as_strided((3,), (1,), x.storage_offset() + 2).mul_(3),
    "two": lambda x: (x.as_strided((2,), (1,)).fill_(-1), x.as_strided((2,), (5,)).add_(7)),
    "scatter": lambda x: torch.as_strided_scatter(x, torch.full((2, 2), -5.0), (2, 2), (3, 1)),
    "scatter_at": lambda x: torch.as_strided_scatter(
        x, torch.full((2,), -5.0), (2,), (3,), x.storage_offset() + 1
    ),
}


def written(write: Callable[[torch.Tensor], object], x: torch.Tensor) -> list[torch.Tensor]:
    result = write(x)
    return [x, *([result] if isinstance(result, torch.Tensor) else [])]


def compare(function: Callable[..., list[torch.Tensor]], make: Callable[[], torch.Tensor]) -> None:
    """Values, strides, and what lies in the whole memory behind the input."""
    torch._dynamo.reset()
    theirs, ours = make(), make()
    wanted = function(theirs)
    made = torch.compile(function, backend="quern")(ours)
    for got, expected in zip(made, wanted, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=0)
        assert got.stride() == expected.stride()
    whole = [each.as_strided((each.untyped_storage().nbytes() // 4,), (1,), 0) for each in
             (ours, theirs)]  # fmt: skip
    assert torch.equal(*whole)


def hits_gaps(layout: str, write: str) -> bool:
    """Whether places between the elements change: torch's functional graphs lose those."""
    x = LAYOUTS[layout]()
    whole = x.as_strided((x.untyped_storage().nbytes() // 4,), (1,), 0)
    others = torch.ones_like(whole, dtype=torch.bool)
    others.as_strided(x.shape, x.stride(), x.storage_offset()).fill_(False)
    before = whole.clone()
    WRITES[write](x)
    return bool((before != whole)[others].any())


# Eager's `x.as_strided(...)` of a view's result is refused by torch when it traces.
SCATTERS = [name for name in WRITES if name.startswith("scatter")]
PAIRS = [(layout, write) for layout in LAYOUTS for write in WRITES]


@pytest.mark.parametrize(("layout", "write"), [each for each in PAIRS if not hits_gaps(*each)])
def test_into_an_argument(layout: str, write: str) -> None:
    compare(lambda x: written(WRITES[write], x), LAYOUTS[layout])


@pytest.mark.parametrize(("layout", "write"), PAIRS)
def test_into_a_result(layout: str, write: str) -> None:
    compare(lambda x: written(WRITES[write], x.clone() * 2), LAYOUTS[layout])


@pytest.mark.parametrize("write", SCATTERS)
def test_into_a_transposed_result(write: str) -> None:
    compare(lambda x: written(WRITES[write], (x + 1).t()), LAYOUTS["rows"])


SQUARES: list[Callable[[], torch.Tensor]] = [
    lambda: big(4, 5), lambda: big(7, 3), lambda: big(7, 3).t(), lambda: big(5, 4).t(),
    lambda: big(3, 3, 3), lambda: big(3, 3, 3).permute(2, 0, 1),
]  # fmt: skip


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("make", SQUARES)
def test_fill_diagonal(make: Callable[[], torch.Tensor], wrap: bool) -> None:
    compare(lambda x: [x.fill_diagonal_(-1.0, wrap)], make)
    compare(lambda x: [(x * 2).fill_diagonal_(-1.0, wrap)], make)


@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_gradients(layout: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 3
        y.as_strided((3,), (2,)).mul_(2)
        return y.sin()

    torch._dynamo.reset()
    results = []
    for call in (function, torch.compile(function, backend="quern")):
        x = LAYOUTS[layout]().requires_grad_()
        results.append(torch.autograd.grad(call(x).sum(), [x])[0])
    torch.testing.assert_close(*results)
