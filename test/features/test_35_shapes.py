"""Change shapes: a ready kernel is used, no rebuild."""

from __future__ import annotations

import quern
import torch
from quern._session import session


def test_kernel_of_ones_own() -> None:
    """Short and long rows are two variants of a kernel, each of which is built once."""
    k = quern.compile(
        "rowwise share35[T: Float](x: T[*R, C]) -> T[*R, C]:\n    return x / sum(x over C)\n"
    )
    before = session().counters()["compiles"]
    for shape in ((3, 5), (70, 2), (4, 900), (9, 31), (2, 4000)):
        x = torch.rand(shape) + 1
        torch.testing.assert_close(k.share35(x), x / x.sum(-1, keepdim=True))
    assert session().counters()["compiles"] - before <= 2


def test_graph() -> None:
    compiled = torch.compile(lambda x: torch.softmax(x * 2, -1), backend="quern", dynamic=True)
    quern.reset_counters()
    for length in (5, 70, 900, 31, 4000):
        x = torch.randn(3, length)
        torch.testing.assert_close(compiled(x), torch.softmax(x * 2, -1))
    counts = quern.counters()
    assert counts["graphs"] == 1
    assert counts["compiles"] + counts["disk_hits"] <= 2
