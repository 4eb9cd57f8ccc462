"""The C interface as an archive for GPUs uses it, here on tensors of the host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from device_library import Library, QuernError
from test_written_kernels import host_warp
from tree import ROOT, build_dir
from written import written_cases

GPU = ROOT / "test" / "gpu"
TEXT = """
rowwise total[T: Float](x: T[R, C]) -> T[R]:
    return sum(x over C)

elementwise scaled[T: Float](x: T, factor: T) -> T:
    return x * factor

rowwise pick(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]
"""


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(threads=1, path=build_dir() / "lib" / "libquern.so")


def test_outputs_are_made(library: Library) -> None:
    module = library.compile(TEXT, "c.qn")
    x = torch.randn(5, 7).t()
    torch.testing.assert_close(module("total", x), x.sum(1))
    torch.testing.assert_close(module("scaled", x.bfloat16(), 2.0), x.bfloat16() * 2)


def test_errors_are_told(library: Library) -> None:
    module = library.compile(TEXT, "c.qn")
    with pytest.raises(QuernError, match=r"index 9 .* axis `N` of extent 4"):
        module("pick", torch.zeros(4), torch.tensor([1, 9]))
    with pytest.raises(QuernError, match="QN0109"):
        library.compile("fn f(x: Nope)", "c.qn")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("program", ["gpu_test.py", "gpu_bench.py"])
def test_without_a_gpu_it_says_so(program: str) -> None:
    words = [sys.executable, GPU / program]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "PyTorch sees no GPU here" in done.stderr


def test_the_runner_without_a_driver() -> None:
    runner = build_dir() / "bin" / "gpu-runner"
    if not runner.exists():
        pytest.skip("only an archive needs it")
    words = [runner, Path("nowhere.so")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "gpu-runner: " in done.stderr


@pytest.mark.parametrize("vendor", ["libcuda.so.1", "libamdhip64.so"])
def test_the_runner_launches(vendor: str, tmp_path: Path) -> None:
    """On a stand-in driver: the whole way of a launch, without a device."""
    runner, library = build_dir() / "bin" / "gpu-runner", build_dir() / "lib" / "libquern.so"
    driver = build_dir() / "test" / "stand-in" / vendor
    if not runner.exists() or not driver.exists():
        pytest.skip("only an archive needs it")
    (tmp_path / vendor).symlink_to(driver)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run(
        [runner, library], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("launch: ")


WRITTEN = [name for name, _ in written_cases(None, "cpu", 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize("place", range(len(WRITTEN)), ids=WRITTEN)
def test_written_kernels_through_the_library(library: Library, place: int) -> None:
    """What `gpu-test` runs on a device."""
    _, case = list(written_cases(library, "cpu", host_warp()))[place]
    case()
