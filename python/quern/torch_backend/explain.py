"""What a model becomes: graphs, groups, programs, plans."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from ..torch_names import reset_dynamo, tree_leaves
from .backend import backend
from .report import fallback_counts
from .state import CompiledGraphRecord, state


@dataclasses.dataclass
class Explanation:
    """The answer of `quern.explain`; `str()` of it is for reading."""

    graphs: list[CompiledGraphRecord]
    output: Any
    """What the model returned."""

    @property
    def fallbacks(self) -> dict[str, int]:
        """Operators that have no kernel, with the number of nodes."""
        total: dict[str, int] = {}
        for record in self.graphs:
            for name, count in fallback_counts(record.graph):
                total[name] = total.get(name, 0) + count
        return total

    def __str__(self) -> str:
        return "\n".join(str(record) for record in self.graphs)


def explain(
    model: Callable[..., Any], *inputs: Any, backward: bool = False, **keywords: Any
) -> Explanation:
    """Compiles and runs a model once and tells what became of it; `backward` also
    runs the gradient of the sum of its outputs.

    >>> import torch, quern
    >>> e = quern.explain(lambda x: torch.sin(x) + 1, torch.ones(3))
    >>> [g.part for g in e.graphs]
    ['inference']
    """
    current = state()
    watcher: list[CompiledGraphRecord] = []
    current.watchers.append(watcher)
    try:
        reset_dynamo()
        output = torch.compile(model, backend=backend)(*inputs, **keywords)
        if backward:
            leaves = tree_leaves(output)
            wanted = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
            torch.stack([t.sum() for t in wanted]).sum().backward()  # type: ignore[no-untyped-call]
    finally:
        current.watchers.remove(watcher)
    return Explanation(watcher, output)
