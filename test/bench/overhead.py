"""What a call of a trivial compiled graph costs beside its work: backends in turn, one process.

`./dev bench overhead [--rounds N] [--no-inductor]`: microseconds of a call, and over those of
a backend whose callable is free: it gives back one tensor made beforehand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import torch
from _timing import Call, median, rounds
from torch._dynamo.backends.common import aot_autograd

STRETCH = 3e-2  # seconds: the processor's slow start after a pause is a small part of it


def free(graph: torch.fx.GraphModule, _inputs: Any) -> Callable[..., Any]:
    """Takes its arguments as compiled graphs do, and makes nothing."""
    outputs = graph.graph.output_node().args[0]
    assert isinstance(outputs, (tuple, list))
    results = tuple(torch.empty(output.meta["val"].shape) for output in outputs)

    def call(arguments: list[Any]) -> tuple[torch.Tensor, ...]:
        arguments.clear()
        return results

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def trivial(backend: Any, x: torch.Tensor) -> Call:
    """Compiled apart from what other backends compiled."""
    names: dict[str, Any] = {}
    exec("def trivial(x):\n    return x + 1", names)
    compiled = torch.compile(names["trivial"], backend=backend)
    for _ in range(3):
        compiled(x)
    return lambda: compiled(x)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--no-inductor", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(2)
    backends = {"free": aot_autograd(fw_compiler=free), "quern": "quern"}
    if not options.no_inductor:
        backends["inductor"] = "inductor"
    x = torch.randn(16)
    with torch.no_grad():
        calls = {name: trivial(backend, x) for name, backend in backends.items()}
        times = rounds(calls, options.rounds, STRETCH)
    for name, own in times.items():
        over = [a - b for a, b in zip(own, times["free"], strict=True)]
        print(f"{name:10} {median(own):6.2f} us {median(over):+6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
