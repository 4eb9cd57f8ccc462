"""Fresh processes until the first result of a model: tracing alone, Quern, Inductor.

`./dev bench start [MODEL…] [--training] [--no-inductor] [--json FILE]`

Tracing alone is Dynamo and AOTAutograd with Inductor's decompositions and the graph
run as it is. Cold has fresh cache folders; warm is the second process on the same. With
`--json` what was measured is kept after every process, and a later run goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

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
    """Runs in the fresh process: prints the seconds to the first result, and the kernels made."""
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
    found = {"seconds": time.perf_counter() - ready}
    if backend == "quern":
        import quern

        found["kernels"] = quern.counters()["compiles"]
    print(json.dumps(found))
    return 0


def fresh(model: str, backend: str, training: bool, caches: Path) -> dict[str, Any]:
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
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def measure(model: str, backend: str, training: bool) -> dict[str, Any]:
    """Seconds of the first and of the second process."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (fresh(model, backend, training, Path(folder)) for _ in range(2))
    made = {"kernels": cold["kernels"]} if "kernels" in cold else {}
    return {"cold": cold["seconds"], "warm": warm["seconds"], **made}


class Record:
    """What was measured, kept in a file if there is one."""

    def __init__(self, path: Path | None, training: bool) -> None:
        # The processes that are measured import nothing that they do not need.
        from _machine import description

        self._path = path
        what = "training step" if training else "inference"
        self._content = {"what": what, "machine": description(), "rows": {}}
        if path and path.exists():
            self._content = json.loads(path.read_text())
            if self._content["what"] != what:
                raise SystemExit(f"`{path}` is of: {self._content['what']}")

    def row(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = self._content["rows"].setdefault(model, {})
        return found

    def save(self) -> None:
        if self._path:
            self._path.write_text(json.dumps(self._content, indent=1) + "\n")


def print_row(model: str, row: dict[str, Any], backends: list[str]) -> None:
    """Seconds, the kernels made, and the cold start's ratios that the bars are about."""
    cells = [f"{model:12}"]
    for backend in backends:
        cells += [f"{row[backend][when]:14.2f}" for when in ("cold", "warm")]
    cold = row["quern"]["cold"]
    cells += [f"{row['quern']['kernels']:7}", f"{cold / row['tracing']['cold']:9.2f}"]
    if "inductor" in backends:
        cells.append(f"{row['inductor']['cold'] / cold:11.2f}")
    print("  ".join(cells), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.models[0], options.child, options.training)
    sys.path.insert(0, str(FOLDER))
    from models import NAMES

    backends = ["tracing", "quern"] + ([] if options.no_inductor else ["inductor"])
    record = Record(options.json, options.training)
    header = "".join(f"  {b + ' cold':>14}  {b + ' warm':>14}" for b in backends)
    header += f"  {'kernels':>7}  {'x tracing':>9}"
    print(f"{'model':12}{header}" + ("" if options.no_inductor else f"  {'of inductor':>11}"))
    for model in options.models or NAMES:
        row = record.row(model)
        for backend in backends:
            if backend not in row:
                row[backend] = measure(model, backend, options.training)
                record.save()
        print_row(model, row, backends)
    return 0


if __name__ == "__main__":
    sys.exit(main())
