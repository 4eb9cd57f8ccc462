"""An operator is a declaration in Quern: its name stands in no C++ or Python but for three
tables, of views, memory and sizes; of decompositions; and of what ATen is given."""

from __future__ import annotations

import re

import pytest
from tree import ROOT, tracked

TABLES = {
    "views, memory and sizes": (
        "backend-torch/ops/Allocations.def",
        "backend-torch/ops/Primitives.def",
        "backend-torch/ops/Views.def",
    ),
    "decompositions": ("python/quern/torch_backend/decompositions/",),
    "what ATen is given": ("backend-torch/ops/Preferred.def",),
}
PLACES = tuple(place for places in TABLES.values() for place in places)
# `"aten::mm"`, `torch.ops.aten.mm`, `_aten.mm.default`; prefixes of names are none.
NAME = re.compile(r'"(?:aten|prims)::\w+[\w.]*"|\b_?(?:aten|prims)\.[a-z_]\w*|ops\.aten\.\w+')
COMMENT = re.compile(r'//[^\n]*|#[^\n]*|^\s*>>>[^\n]*|""".*?"""', re.MULTILINE | re.DOTALL)
SOURCES = [
    name
    for name in tracked("*.cpp", "*.h", "*.def", "*.py")
    if name.partition("/")[0] in ("frontend", "dsl", "jit", "backend-torch", "python")
    and not name.startswith(PLACES)
]


def names(text: str) -> list[str]:
    return [found for found in NAME.findall(COMMENT.sub("", text)) if not found.endswith('_"')]


@pytest.mark.parametrize("source", SOURCES)
def test_names_no_operator(source: str) -> None:
    assert not names((ROOT / source).read_text())


@pytest.mark.parametrize(
    "line",
    ['if (x == "aten::mm")', "torch.ops.aten.cat", "_aten.clone.default"],
)
def test_finds_names(line: str) -> None:
    assert names(line)
    assert not names(f"// {line}")
