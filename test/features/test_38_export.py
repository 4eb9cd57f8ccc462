"""Export: the artifact of `torch.export` runs in a process without the model's class."""

from __future__ import annotations

from pathlib import Path

import torch
from support import python
from torch import nn

TEXT = """
import sys, torch, quern
program = torch.export.load(sys.argv[1] if len(sys.argv) > 1 else "{path}")
x, expected = torch.load("{data}")
compiled = torch.compile(program.module(), backend="quern")
with torch.no_grad():
    torch.testing.assert_close(compiled(x), expected)
    torch.testing.assert_close(compiled(x[:3]), expected[:3])
print(quern.counters()["launches"] > 0)
"""


class Gated(nn.Module):
    """A model whose class the other process does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate = nn.Linear(8, 16), nn.Linear(8, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.gate(x)) * self.up(x)


def test_artifact_runs_alone(tmp_path: Path) -> None:
    model, x = Gated().eval(), torch.randn(5, 8)
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
    path, data = tmp_path / "model.pt2", tmp_path / "data.pt"
    torch.export.save(program, path)
    torch.save((x, model(x).detach()), data)
    assert python(TEXT.format(path=path, data=data)).strip() == "True"
