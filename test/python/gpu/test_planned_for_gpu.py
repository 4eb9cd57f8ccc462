"""How graphs of a GPU's tensors are planned, where there is no GPU: torch's fakes of such tensors,
and a driver that stands in."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tree import build_dir

PROGRAM = """
import json, sys, torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from quern.torch_backend import native
from quern.torch_backend.compilation import make_graph
from quern.torch_backend.decompositions import decomposition_table
from quern.torch_backend.fx_import import describe
from quern.torch_backend.options import validate
from quern.torch_backend.recording import records
from quern.torch_backend.state import state

def function(x, weight, near):
    normed = torch.nn.functional.layer_norm(x, (64,), weight)
    hidden = torch.nn.functional.gelu(normed @ weight.expand(64, 64))
    dropped = torch.nn.functional.dropout(hidden, 0.5)
    return dropped.softmax(-1), x.sort().values, near.exp() * 2, x + near[0, 0]

options = validate({"random": "philox", **json.loads(sys.argv[1])}, None)
with FakeTensorMode():
    x, weight = torch.empty(128, 64, device="cuda"), torch.empty(64, device="cuda")
    near = torch.empty(128, 64)
    table = decomposition_table(state().overloads(options))
    module = make_fx(function, decomposition_table=table)(x, weight, near)
builder = describe(module, native().GraphBuilder("graph"), seeds=True)
graph = make_graph(builder, "graph", "inference", options)
print(json.dumps({
    "kernels": [step["nodes"] for step in graph.steps() if "kernel" in step],
    "aten": {overload: [kind, why] for _, overload, _, why, kind in graph.opaque()},
    "records": [records(mode, [each]) for mode in (None, "reduce-overhead") for each in (x, near)],
}))
"""


def planned(drivers: str, **options: str) -> dict[str, object]:
    environment = {**os.environ, "LD_LIBRARY_PATH": drivers, "QUERN_CACHE_DIR": "-"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, json.dumps(options)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return made


@pytest.fixture(scope="module")
def stand_in() -> str:
    return str(build_dir() / "test" / "stand-in")


def test_kernels_and_what_is_atens(stand_in: str) -> None:
    made = planned(stand_in)
    kernels = [set(each) for each in made["kernels"]]  # type: ignore[attr-defined]
    assert any({"exp", "mul"} <= each for each in kernels), "the host's"
    assert any(any("softmax" in name for name in each) for each in kernels)
    aten: dict[str, list[str]] = made["aten"]  # type: ignore[assignment]
    kinds = {overload: kind for overload, (kind, _) in aten.items()}
    assert kinds["aten::mm"] == "preferred"
    assert kinds["aten::sort"] == "preferred"
    assert kinds["aten::native_dropout"] == "random", "a GPU's generator is its own"
    assert aten["aten::add.Tensor"] == ["fallback", "its tensors lie on cuda:0 and on cpu"]
    assert set(kinds) == {"aten::mm", "aten::sort", "aten::native_dropout", "aten::add.Tensor"}


def test_without_aten_where_there_is_a_kernel(stand_in: str) -> None:
    aten = planned(stand_in, preferred="own")["aten"]
    assert set(aten) == {"aten::native_dropout", "aten::add.Tensor"}  # type: ignore[call-overload]


def test_without_a_driver_everything_there_is_atens() -> None:
    made = planned("/nowhere")
    assert made["kernels"] == [["exp", "mul"]] or made["kernels"] == [["exp", "mul_1"]]
    reasons = [why for _, why in made["aten"].values()]  # type: ignore[attr-defined]
    assert any("no CUDA driver" in why for why in reasons)


def test_only_calls_on_a_gpu_are_recorded(stand_in: str) -> None:
    assert planned(stand_in)["records"] == [False, False, True, False]
