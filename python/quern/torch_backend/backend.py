"""The backend that torch.compile calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from . import unmet, warn_of_torch
from .options import validate


def backend(
    module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compiles a graph that Dynamo traced. With a torch that the package does not fit, the graph
    runs eagerly, through ATen.

    >>> import torch, quern
    >>> f = torch.compile(lambda x: x * 2 + 1, backend=quern.backend)
    >>> f(torch.ones(2))
    tensor([3., 3.])
    """
    chosen = validate(options, mode)
    if unmet():
        warn_of_torch()
        return module.forward
    # What it imports has torch's internal names, which a torch that does not fit may lack.
    from .compilation import compile_graph

    return compile_graph(module, example_inputs, mode, chosen)
