"""A `launch` of numbers that the text has named before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import quern

TEXT = """
kernel doubled(x: f32[N], out: mut f32[N], share: int):
    let size_of_block = 64
    let work = share * size_of_block
    let blocks = (size(N) + work - 1) // work
    launch grid(blocks) block(size_of_block)
    for i in range(block.x * work + thread.x, min(N, (block.x + 1) * work), size_of_block):
        out[i] = x[i] * 2
"""

UNKNOWN = """
kernel f(x: i64[N], out: mut i64[N]):
    {name}
    launch grid(n) block(32)
    out[thread.x] = x[thread.x]
"""


@pytest.mark.parametrize("share", [1, 3])
@pytest.mark.parametrize("count", [1, 64, 65, 1000])
def test_a_launch_of_named_numbers(count: int, share: int) -> None:
    x = np.arange(count, dtype=np.float32)
    out = np.zeros_like(x)
    quern.compile(TEXT).doubled(x, out, share)
    assert np.array_equal(out, x * 2)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_it_is_built_for_gpus(target: str, tmp_path: Path) -> None:
    file = tmp_path / "doubled.qn"
    file.write_text(TEXT)
    words = ["quern", "build", str(file), "--emit=abi", f"--target={target}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert '"geometry"' in done.stdout


@pytest.mark.parametrize(
    "name", ["let n = x[0]", "let n = thread.x", "var n = 3", "let n = block.x + size(N)"]
)
def test_what_only_threads_know_is_refused(name: str) -> None:
    with pytest.raises(quern.Error, match="QN1234"):
        quern.compile(UNKNOWN.format(name=name))
