"""`./dev gpu-pack`, `hip-pack`: an archive for machines with a GPU; `gpu-test`, `gpu-bench`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tree import ROOT, VENV, build_dir, run, say

from build import build

MOST_BYTES = 48 << 20
GPU = ROOT / "test" / "gpu"
#: Nothing in an archive may need these.
FORBIDDEN = ("libpython", "libtorch", "libc10", "libLLVM", "libMLIR")
#: What the oldest systems have on which an archive is meant to run: Ubuntu 22.04's.
SYSTEM = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30)}


def needed(program: Path) -> list[str]:
    """The libraries an image names."""
    words = ["llvm-readelf-22", "--needed-libs", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [line.strip() for line in done.stdout.splitlines() if ".so" in line]


def too_new(program: Path) -> list[str]:
    """Versions of the system's libraries that an image asks for, and older systems lack."""
    words = ["llvm-readelf-22", "--version-info", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = set(re.findall(r"Name: (GLIBC|GLIBCXX)_([0-9.]+)", done.stdout))
    return sorted(
        f"{name} {version}"
        for name, version in found
        if tuple(map(int, version.split("."))) > SYSTEM[name]
    )


def fill(folder: Path, preset: str) -> list[str]:
    """Copies everything; gives what is wrong with it."""
    tree = build_dir(preset)
    for part in ("bin", "lib", "emulator"):
        (folder / part).mkdir(parents=True)
    images = {
        "lib/libquern.so": tree / "lib" / "libquern.so",
        "bin/quern": tree / "bin" / "quern",
        "bin/gpu-runner": tree / "bin" / "gpu-runner",
    }
    wrong = []
    for name, image in images.items():
        shutil.copy2(image, folder / name)
        subprocess.run(["llvm-strip-22", "--strip-unneeded", folder / name], check=True)
        wrong += [
            f"{name} needs {library}"
            for library in needed(folder / name)
            if library.startswith(FORBIDDEN)
        ]
        wrong += [f"{name} needs {version}" for version in too_new(folder / name)]
    for source in GPU.glob("*.py"):
        shutil.copy2(source, folder)
    shutil.copy2(GPU / "README.md", folder)
    for cases in (ROOT / "test" / "python" / "cases").glob("*.py"):
        shutil.copy2(cases, folder)
    shutil.copy2(GPU / "archive.sh", folder / "dev")
    for name in ("calls.py", "declared.py", "headers.py", "schedules.qn"):
        shutil.copy2(ROOT / "test" / "emulator" / name, folder / "emulator")
    (folder / "emulator" / "__init__.py").touch()
    shutil.copytree(ROOT / "test" / "kernels", folder / "kernels")
    shutil.copytree(ROOT / "stdlib-kernels", folder / "stdlib-kernels")
    return wrong


def pack(name: str, preset: str = "release") -> int:
    if status := build(preset, ("libquern", "quern", "gpu-runner")):
        return status
    target = ROOT / "build" / f"{name}.tar.xz"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        wrong = fill(folder, preset)
        with tarfile.open(target, "w:xz") as archive:
            archive.add(folder, name)
    size = target.stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"{size} bytes, at most {MOST_BYTES}")
    for problem in wrong:
        print(f"dev: {target.name}: {problem}", file=sys.stderr)
    say(f"{target}, {size / 2**20:.1f} MiB; there: ./dev gpu-test, ./dev gpu-bench")
    return 1 if wrong else 0


def gpu_pack(arguments: list[str]) -> int:
    return pack("quern-gpu", *arguments)


def hip_pack(arguments: list[str]) -> int:
    """The library holds both vendors' code generators: only the name differs."""
    return pack("quern-hip", *arguments)


def gpu_test(arguments: list[str]) -> int:
    return build() or run(VENV / "bin" / "python", GPU / "start.py", "gpu-test", *arguments)


def gpu_bench(arguments: list[str]) -> int:
    return build() or run(VENV / "bin" / "python", GPU / "start.py", "gpu-bench", *arguments)
