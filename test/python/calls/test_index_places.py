"""An index that is out of range is shown where the text has its position."""

from __future__ import annotations

from typing import Any

import pytest
import quern
import torch

TEXT = """
rowwise moved(x: f32[H, W], h: i64[H], w: i64[W]) -> f32[H, W]:
    let a = x.at(H = h)
    return a.at(W = w + 0)

rowwise twice(x: f32[H, W], h: i64[H], w: i64[W]) -> f32[H, W]:
    return x.at(H = h, W = w) + x

rowwise summed(x: f32[H, W], h: i64[H], w: i64[W]) -> f32[H]:
    let a = sum(x over W)
    return a.at(H = h)

rowwise placed(x: f32[H, W], h: i64[H], w: i64[W]) -> f32[H, W]:
    return scatter(x, at = (H = h, W = w), x, with = sum)

kernel threads(x: f32[H, W], h: i64[H], w: i64[W], y: mut f32[H, W]):
    launch grid(H) block(W)
    y[h[block.x],
      w[thread.x]] = x[block.x, thread.x]
"""


@pytest.fixture(scope="module")
def k() -> Any:
    return quern.compile(TEXT, "places.qn")


H, W = 3, 5
GOOD = (torch.arange(H), torch.arange(W))
BAD_ROW = (torch.tensor([0, 1, 7]), torch.arange(W))
BAD_COLUMN = (torch.arange(H), torch.tensor([0, 1, 2, 3, -9]))


@pytest.mark.parametrize(
    ("name", "places", "line", "shown"),
    [
        ("moved", BAD_ROW, 3, "h"),
        ("moved", BAD_COLUMN, 4, "w + 0"),
        ("twice", BAD_ROW, 7, "h"),
        ("twice", BAD_COLUMN, 7, "w"),
        ("summed", BAD_ROW, 11, "h"),
        ("placed", BAD_ROW, 14, "h"),
        ("placed", BAD_COLUMN, 14, "w"),
        ("threads", BAD_ROW, 18, "h[block.x]"),
        ("threads", BAD_COLUMN, 19, "w[thread.x]"),
    ],
)
def test_the_position_is_marked(
    k: Any, name: str, places: tuple[torch.Tensor, torch.Tensor], line: int, shown: str
) -> None:
    x = torch.rand(H, W)
    out = (torch.zeros(H, W),) if name == "threads" else ()
    getattr(k, name)(x, *GOOD, *out)
    with pytest.raises(quern.Error, match="QN2050") as caught:
        getattr(k, name)(x, *places, *out)
    head, text, mark = str(caught.value).splitlines()
    assert head.startswith(f"places.qn:{line}:")
    begin = mark.index("^")
    assert text[begin : begin + mark.count("^")] == shown
