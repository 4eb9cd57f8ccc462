"""Install a wheel: it works with no compiler, no LLVM, no toolkit on the machine."""

from __future__ import annotations

import fcntl
import os
import sys
import zipfile
from pathlib import Path

import pytest
from slices import everything
from support import ROOT, shell

pytestmark = pytest.mark.skipif(not everything(), reason="builds a wheel: ./dev test --all")

CALL = """
import numpy, quern
k = quern.compile("elementwise f[T: Float](x: T) -> T:\\n    return x * 2 + 1\\n")
x = numpy.arange(100, dtype="float32")
assert (k.f(x) == x * 2 + 1).all()
print(quern.__file__)
"""


def pip(python: str, *words: str) -> None:
    # Without a compiler's cache the whole of Quern is compiled here. What this
    # process imports is not installed there.
    done = shell(python, "-m", "pip", *words, limit=3600, PYTHONPATH="")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all workers: whoever comes first builds it, the others wait."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "wheel"
    with open(shared / "wheel.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("quern-*.whl")):
            words = ("wheel", str(ROOT), "--no-deps", "--no-build-isolation")
            pip(sys.executable, *words, "-w", str(folder))
    (built,) = folder.glob("quern-*.whl")
    return built


def test_holds_what_it_must(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "quern/lib/libquern.so",
        "quern/lib/libquern_torch.so",
        "quern/bin/quern",
        "quern/__init__.py",
    ):
        assert wanted in names
    assert any(name.startswith("_quern.") for name in names)
    assert any(name.startswith("_quern_torch_2_13.") for name in names)
    assert not any("test" in name.split("/")[0] for name in names)


def test_works_alone(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    assert shell(sys.executable, "-m", "venv", str(venv)).returncode == 0
    python = str(venv / "bin" / "python")
    pip(python, "install", str(wheel), "numpy")
    alone = {
        "PATH": str(venv / "bin"),
        "PYTHONPATH": "",
        "QUERN_CACHE_DIR": str(tmp_path / "cache"),
        "LD_LIBRARY_PATH": "",
    }
    done = shell(python, "-c", CALL, **alone)
    assert done.returncode == 0, done.stderr
    assert str(venv) in done.stdout
    kernel = tmp_path / "k.qn"
    kernel.write_text("fn f[T: Any](x: T) -> T:\n    return x\n")
    assert shell(str(venv / "bin" / "quern"), "check", str(kernel), **alone).returncode == 0


def test_needs_no_llvm(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    listed = shell("ldd", os.fspath(tmp_path / "quern" / "lib" / "libquern.so")).stdout
    assert "libc.so" in listed
    assert "LLVM" not in listed
    assert "MLIR" not in listed
