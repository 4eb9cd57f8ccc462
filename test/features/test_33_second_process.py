"""Start a second process: nothing compiles, nothing is traced again, and it says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support import python

TEXT = """
import json, sys, torch, quern
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
x = torch.randn(4, 8)
expected = model(x)
compiled = torch.compile(model, backend="quern")
y = compiled(x)
torch.testing.assert_close(y, expected)
ours = torch.autograd.grad(y.sin().sum(), list(model.parameters()))
theirs = torch.autograd.grad(expected.sin().sum(), list(model.parameters()))
torch.testing.assert_close(ours, theirs)
torch.compile(lambda a: a.cumsum(0) * 2, backend="quern", dynamic=True)(x)
hits = torch._dynamo.utils.counters["aot_autograd"]["autograd_cache_hit"]
generators = "torch._inductor.lowering" in sys.modules
import torch._inductor.codecache as cache
registers = cache.init_backend_registration.__module__
print(json.dumps({**quern.counters(), "hits": hits, "generators": generators, "by": registers}))
"""


def run(folder: Path, **more: str) -> dict[str, Any]:
    said = python(
        TEXT,
        QUERN_CACHE_DIR=str(folder / "kernels"),
        TORCHINDUCTOR_FORCE_DISABLE_CACHES="0",
        **more,
    )
    return dict(json.loads(said))


def test_nothing_compiles(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path)
    assert first["compiles"] > 0
    assert first["loaded"] == first["hits"] == 0
    assert second["compiles"] == 0
    assert second["disk_hits"] == first["compiles"]
    # A training step's two graphs and one of inference, from two entries.
    assert (second["loaded"], second["hits"]) == (3, 2)
    assert second["launches"] == first["launches"]
    # Inductor's code generators take a second to import, and nothing here needs them.
    assert not second["generators"]
    assert second["by"] == "torch._inductor.codegen.common"
