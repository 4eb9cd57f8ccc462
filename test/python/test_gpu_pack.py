"""An archive for machines with a GPU, filled from this tree, where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gpu_pack
import pytest
import torch


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack") / "quern-gpu"
    gpu_pack.fill(folder, "dev")
    return folder


def call(archive: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """With nothing of this tree on the paths."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "QUERN_LIBRARY")}
    environment = {**kept, "PYTHON": sys.executable}
    return subprocess.run(
        ["sh", archive / "dev", *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        check=False,
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("verb", ["gpu-test", "gpu-bench"])
def test_without_a_gpu_it_says_so(archive: Path, verb: str) -> None:
    done = call(archive, verb)
    assert done.returncode == 2, done.stderr
    assert done.stderr == f"{verb}: PyTorch sees no GPU here\n"


def test_its_own_page_names_its_commands(archive: Path) -> None:
    page = (archive / "README.md").read_text()
    usage = call(archive, "help").stdout
    for verb in ("gpu-test", "gpu-bench"):
        assert verb in usage
        assert f"./dev {verb}" in page
    assert call(archive, "nonsense").returncode == 1


def test_every_explicit_kernel_is_in_it(archive: Path) -> None:
    """A case that names a kernel's file finds it there, and its modules too."""
    program = (
        "import pathlib, written\n"
        "from device_library import Library\n"
        "cases = list(written.written_cases(None, 'cpu', 1))\n"
        "assert written.TREE == pathlib.Path.cwd(), written.TREE\n"
        "assert written.CASES == pathlib.Path.cwd(), written.CASES\n"
        "print(len(cases))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=archive, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
    assert (archive / "kernels" / "tiles.qn").exists()
