"""`./dev schedules` gives a kernel the same fingerprint twice, and tells what changed."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test" / "dev"))

import schedules  # noqa: E402


def job_of(target: str) -> schedules.Job:
    """The plain specialization of a kernel with few operations."""
    found = (job for job in schedules.jobs((target,)) if job.file.name == "compact.qn")
    return next(job for job in found if job.target == target)


def test_equal_runs_agree_and_targets_differ() -> None:
    row, first = schedules.fingerprint(job_of("x86-64-v2"))
    assert row == ("x86-64-v2", "lit-tests/loops/compact.qn", row[2])
    assert schedules.fingerprint(job_of("x86-64-v2")) == (row, first)
    assert schedules.fingerprint(job_of("x86-64-v4"))[1] != first


def test_every_target_has_kernels_and_lit_inputs() -> None:
    files = {Path(row[1]).parts[0] for row in (job.row() for job in schedules.jobs(("sm_90",)))}
    assert files == {"stdlib-kernels", "lit-tests"}


def test_differences_name_each_row(tmp_path: Path) -> None:
    before = {
        ("cpu", "a.qn", "same"): "1",
        ("cpu", "a.qn", "other"): "2",
        ("cpu", "b.qn", "k"): "3",
    }
    now = {("cpu", "a.qn", "same"): "1", ("cpu", "a.qn", "other"): "5", ("cpu", "c.qn", "k"): "4"}
    schedules.write(tmp_path / "t.tsv", before)
    assert schedules.differences(schedules.read(tmp_path / "t.tsv"), now) == [
        "changed\tcpu\ta.qn\tother",
        "gone\tcpu\tb.qn\tk",
        "new\tcpu\tc.qn\tk",
    ]
