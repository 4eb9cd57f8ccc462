"""A schedule that a person wrote or edited: `quern run --schedule`, `QUERN_SCHEDULE`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tree import build_dir

TEXT = """
rowwise shares[T: Float](x: T[R, C]) -> T[R, C]:
    let e = exp(x - max(x over C))
    return e / sum(e over C)

rowwise product[T: Float](x: T[M, K], y: T[K, N]) -> T[M, N]:
    return sum(x * y over K)
"""
CALL = """
import sys, torch, quern
kernel = quern.compile(open(sys.argv[1]).read())
x, y = torch.randn(37, 100), torch.randn(100, 70)
torch.testing.assert_close(kernel.shares(x), x.softmax(-1))
torch.testing.assert_close(kernel.product(x, y), x @ y, rtol=1e-4, atol=1e-4)
"""
SHARES = ("shares", "--axes=R=37,C=100")
PRODUCT = ("product", "--axes=M=37,K=100,N=70")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "k.qn"
    path.write_text(TEXT)
    return path


def quern(text: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(build_dir() / "bin" / "quern"), "run", str(text), *words]
    env = {**os.environ, "QUERN_CACHE_DIR": "-"}
    return subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def written(text: Path, *words: str) -> str:
    path = text.with_suffix(".mlir")
    done = quern(text, *words, f"--write-schedule={path}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return path.read_text()


def refused(text: Path, schedule: str, *words: str) -> str:
    path = text.with_name("given.mlir")
    path.write_text(schedule)
    done = quern(text, *words, f"--schedule={path}")
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr


def test_an_edited_schedule_is_the_one_that_runs(text: Path) -> None:
    own = written(text, *SHARES)
    edited = re.sub(r"worth \d+", "worth 1", own)
    assert edited != own
    path = text.with_name("given.mlir")
    path.write_text(edited)
    done = quern(text, *SHARES, f"--schedule={path}", "--write-schedule=-")
    assert done.stdout == edited, done.stderr
    ran = quern(text, *SHARES, f"--schedule={path}")
    assert (ran.returncode, ran.stdout) == (0, quern(text, *SHARES).stdout), ran.stderr


@pytest.mark.parametrize("kernel", [SHARES, PRODUCT])
def test_python_calls_run_by_it(text: Path, kernel: tuple[str, str]) -> None:
    edited = re.sub(r"worth \d+", "worth 1", written(text, *kernel))
    path = text.with_name("given.mlir")
    path.write_text(edited)
    done = subprocess.run(
        [sys.executable, "-c", CALL, str(text)],
        env={**os.environ, "QUERN_CACHE_DIR": "-", "QUERN_SCHEDULE": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_other_types(text: Path) -> None:
    said = refused(text, written(text, *SHARES), *SHARES, "--types=T=f64")
    assert "differs in more than its schedule" in said
    assert "given.mlir" in said


def test_another_body(text: Path) -> None:
    schedule = written(text, *SHARES)
    assert "arith.divf" in schedule
    said = refused(text, schedule.replace("arith.divf", "arith.mulf", 1), *SHARES)
    assert "differs in more than its schedule" in said


def test_another_target(text: Path) -> None:
    schedule = written(text, *SHARES)
    other = "x86-64-v3" if 'for "x86-64-v2"' in schedule else "x86-64-v2"
    schedule = re.sub(r'qn.schedule for "[^"]*"', f'qn.schedule for "{other}"', schedule)
    assert "no schedule for" in refused(text, schedule, *SHARES)


def test_what_cannot_be_read(text: Path) -> None:
    assert "given.mlir:1:1" in refused(text, "no kernel @shares (", *SHARES)
    assert "no schedule of `shares`" in refused(text, "", *SHARES)
    done = quern(text, *SHARES, f"--schedule={text.with_name('missing.mlir')}")
    assert done.returncode == 1
    assert "cannot read" in done.stderr
    assert "missing.mlir" in done.stderr


def test_what_the_lowering_could_not_do(text: Path) -> None:
    schedule = written(text, *SHARES)
    said = refused(text, re.sub(r"lanes \d+", "lanes 3", schedule, count=1), *SHARES)
    assert re.search(r"given\.mlir:\d+:\d+", said), said


def test_a_schedule_of_another_kernel(text: Path) -> None:
    """`run` was told to use it. A whole program's other kernels run by their own."""
    assert "no schedule of `product`" in refused(text, written(text, *SHARES), *PRODUCT)
