"""An archive for machines with a GPU, filled from this tree, where there is none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import gpu_pack
import pytest
import torch
from tree import build_dir


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack") / "quern-gpu"
    gpu_pack.fill(folder, "dev")
    return folder


@pytest.fixture
def drivers(tmp_path: Path) -> Path:
    """A folder where a test puts drivers that stand in for the vendors'."""
    return tmp_path


def stand_in(drivers: Path, vendor: str, name: str = "") -> None:
    driver = build_dir() / "test" / "stand-in" / vendor
    (drivers / (name or vendor)).symlink_to(driver.resolve(strict=True))


def call(
    archive: Path, *words: str, python: str = sys.executable, drivers: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """With nothing of this tree on the paths."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "QUERN_LIBRARY")}
    environment = {**kept, "PYTHON": python}
    if drivers:
        environment["LD_LIBRARY_PATH"] = str(drivers)
    return subprocess.run(
        ["sh", archive / "dev", *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        check=False,
    )


VERBS = pytest.mark.parametrize("verb", ["gpu-test", "gpu-bench"])
NO_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@NO_GPU
@VERBS
def test_without_a_driver_it_says_so(archive: Path, verb: str) -> None:
    done = call(archive, verb)
    assert done.returncode == 2, done.stderr
    drivers = "neither libcuda.so.1 nor libamdhip64.so can be opened"
    assert done.stderr == f"{verb}: no driver here: {drivers}\n"


@NO_GPU
@VERBS
def test_without_a_gpu_it_says_so(archive: Path, verb: str, drivers: Path) -> None:
    stand_in(drivers, "libcuda.so.1")
    done = call(archive, verb, drivers=drivers)
    assert done.returncode == 2, done.stderr
    what = f"PyTorch {torch.__version__} sees no GPU here, though libcuda.so.1 is here"
    assert done.stderr == f"{verb}: {what}\n"


@VERBS
def test_a_bare_python_is_told(archive: Path, verb: str, drivers: Path) -> None:
    stand_in(drivers, "libcuda.so.1")
    bare = drivers / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    done = call(archive, verb, python=str(bare), drivers=drivers)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"{verb}: no PyTorch in "), done.stderr


@VERBS
def test_no_python_at_all(archive: Path, verb: str) -> None:
    done = call(archive, verb, python="/nowhere/python")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"{verb}: no /nowhere/python here"), done.stderr


def test_the_runner_without_a_driver(archive: Path) -> None:
    words = ["bin/gpu-runner", "lib/libquern.so"]
    done = subprocess.run(words, cwd=archive, capture_output=True, text=True, check=False)
    assert done.returncode == (0 if torch.cuda.is_available() else 2)
    assert done.stderr == (
        ""
        if done.returncode == 0
        else "gpu-runner: neither libcuda.so.1 nor libamdhip64.so is here\n"
    )


def test_the_runner_names_a_device_that_is_not_there(archive: Path, drivers: Path) -> None:
    stand_in(drivers, "libamdhip64.so")
    done = subprocess.run(
        ["bin/gpu-runner", "lib/libquern.so", "7"],
        cwd=archive,
        capture_output=True,
        text=True,
        env={"LD_LIBRARY_PATH": str(drivers)},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "gpu-runner: the driver has no device 7\n"


@pytest.mark.parametrize("name", ["libcuda.so.1", "libamdhip64.so", "libamdhip64.so.6"])
def test_the_runner_launches(archive: Path, name: str, drivers: Path) -> None:
    """On a stand-in driver: the whole way of a launch, without a device. Where ROCm has no files
    for developers the library's name has its release."""
    stand_in(drivers, name.removesuffix(".6"), name)
    done = subprocess.run(
        ["bin/gpu-runner", "lib/libquern.so"],
        cwd=archive,
        capture_output=True,
        text=True,
        env={"LD_LIBRARY_PATH": str(drivers)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("launch: ")
    bar = r", the driver's own call \d+\.\d\d us, bar 0\.5 us more: (kept|missed)\n$"
    assert bool(re.search(bar, done.stdout)) == name.startswith("libcuda"), done.stdout


def test_nothing_needs_python_or_torch(archive: Path) -> None:
    """LLVM is inside only where it is linked statically, which an archive's preset does."""
    images = [archive / "lib" / "libquern.so", *sorted((archive / "bin").iterdir())]
    assert len(images) == 3
    needs = {library for image in images for library in gpu_pack.needed(image)}
    assert needs
    assert not [n for n in needs if n.startswith(("libpython", "libtorch", "libc10"))]


def test_older_systems_have_what_it_needs(archive: Path) -> None:
    for image in (archive / "lib" / "libquern.so", *sorted((archive / "bin").iterdir())):
        assert gpu_pack.too_new(image) == [], image


def test_its_own_page_names_its_commands(archive: Path) -> None:
    page = (archive / "README.md").read_text()
    usage = call(archive, "help").stdout
    for verb in ("gpu-test", "gpu-bench"):
        assert verb in usage
        assert f"./dev {verb}" in page
    assert call(archive, "nonsense").returncode == 1


def test_what_only_a_device_shows_is_right_on_a_host(archive: Path) -> None:
    program = (
        "import hardware\n"
        "from device_library import Library\n"
        "known = {f'hardware {case.__name__}' for case in hardware.EVERYWHERE}\n"
        "for name, case in hardware.hardware_cases(Library(), 'cpu'):\n"
        "    if name in known:\n"
        "        case()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=archive, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


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
