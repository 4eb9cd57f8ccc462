"""Fresh processes until the first result of a model: tracing alone, Quern, Inductor.

`./dev bench start [MODEL…] [--training] [--no-inductor]`

Tracing alone is Dynamo and AOTAutograd with Inductor's decompositions and the graph
run as it is. Cold has fresh cache folders; warm is the second process on the same.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def tracing_backend() -> object:
    # The table asks for it without importing it.
    import torch._inductor.lowering  # noqa: F401
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table

    return aot_autograd(
        fw_compiler=lambda graph, _: make_boxed_func(graph.forward),
        decompositions=select_decomp_table,
    )


def child(model: str, backend: str, training: bool) -> int:
    """Runs in the fresh process: prints the seconds to the first result."""
    start = time.perf_counter()
    sys.path.insert(0, str(FOLDER))
    import torch
    from models import build

    torch.set_num_threads(2)
    task = build(model)
    task.module.train(training)
    # What a backend imports is part of its time: `torch.compile` imports most of it.
    ready = time.perf_counter()
    chosen = tracing_backend() if backend == "tracing" else backend
    call = torch.compile(task.module, backend=chosen)
    if training:
        task.loss(call(**task.inputs)).backward()
    else:
        with torch.no_grad():
            call(**task.inputs)
    print(f"{ready - start:.3f} {time.perf_counter() - ready:.3f}")
    return 0


def fresh(model: str, backend: str, training: bool, caches: Path) -> float:
    environment = dict(os.environ)
    environment["QUERN_CACHE_DIR"] = str(caches / "quern")
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(caches / "inductor")
    command = [sys.executable, __file__, "--child", backend, model]
    output = subprocess.run(
        command + (["--training"] if training else []),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return float(output.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.models[0], options.child, options.training)
    sys.path.insert(0, str(FOLDER))
    from models import NAMES

    backends = ["tracing", "quern"] + ([] if options.no_inductor else ["inductor"])
    print(f"{'model':12}" + "".join(f"  {b + ' cold':>14}  {b + ' warm':>14}" for b in backends))
    for model in options.models or NAMES:
        cells = [f"{model:12}"]
        for backend in backends:
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(2):
                    seconds = fresh(model, backend, options.training, Path(folder))
                    cells.append(f"{seconds:14.2f}")
        print("  ".join(cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
