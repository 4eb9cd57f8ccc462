"""Run two processes of data parallel: they equal one process with the whole batch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import shell

TEXT = """
import torch, quern
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(6, 12), nn.LayerNorm(12), nn.Linear(12, 3)

    def forward(self, x):
        return self.last(self.norm(nn.functional.gelu(self.first(x))))

def make():
    torch.manual_seed(0)
    return Model()

def compiled(model):
    return torch.compile(model, backend="quern")

def train(model, call, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(call(x), y).backward()
        optimizer.step()
    return list(model.parameters())

dist.init_process_group("gloo")
torch.manual_seed(1)
x, y = torch.randn(8, 6), torch.randn(8, 3)
whole = make()
expected = train(whole, whole, x, y)
rank = dist.get_rank()
parallel = FORM
half = slice(4 * rank, 4 * rank + 4)
ours = train(parallel, parallel, x[half], y[half])
torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-6)
assert quern.counters()["launches"] > 0
dist.destroy_process_group()
print("equal", flush=True)
"""

# Of a module that is torch's own, `nn.Sequential`, Dynamo traces nothing inside
# DistributedDataParallel, whatever the backend.
FORMS = {
    "of_compiled": "DistributedDataParallel(compiled(make()))",
    "compiled": "compiled(DistributedDataParallel(make()))",
}


@pytest.mark.parametrize("form", FORMS)
def test_two_processes(form: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TEXT.replace("FORM", FORMS[form]))
    done = shell(
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        *("--nproc-per-node", "2", str(path)),
        OMP_NUM_THREADS="1",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("equal") == 2
