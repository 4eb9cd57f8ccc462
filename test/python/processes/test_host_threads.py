"""Kernels take as many threads as torch lets operators have, asked at every call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAD = """
import pathlib
import numpy, quern
k = quern.compile("elementwise double(x: f32) -> f32:\\n    return x + x\\n")
def workers():
    names = [task.read_text().strip() for task in pathlib.Path("/proc/self/task").glob("*/comm")]
    return names.count("quern")
"""


def said(text: str, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HEAD + text],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **more},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.parametrize(("variable", "wanted"), [("", "0 2"), ("4", "3 3")])
def test_a_number_that_torch_gets_holds_from_the_next_call(variable: str, wanted: str) -> None:
    """Unless the variable says another one."""
    text = """
import torch
torch.set_num_threads(1)
big = torch.randn(4000, 480)
k.double(big)
first = workers()
torch.set_num_threads(3)
assert torch.equal(k.double(big), big * 2)
print(first, workers())
"""
    assert said(text, QUERN_THREADS=variable) == wanted


def test_torch_may_be_imported_after_the_first_call() -> None:
    text = """
k.double(numpy.ones(3, numpy.float32))
import torch
torch.set_num_threads(3)
big = torch.randn(4000, 480)
assert torch.equal(k.double(big), big * 2)
print(workers())
"""
    assert said(text, QUERN_THREADS="") == "2"
