"""What Python tests of the tree share: --all, --shard and --resume, and `fresh_dynamo`."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: So many cases of every test run in the quick tier, and so many if there is no time left.
CASES, LATE_CASES = 12, 3
MAY_BE_LEFT = pytest.StashKey[bool]()
PASSED = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("quern")
    group.addoption("--all", action="store_true", help="whole matrices, not slices")
    group.addoption("--shard", metavar="I/N", help="run the I-th of N parts")
    group.addoption("--resume", action="store_true", help="skip what passed on these sources")


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Sizes that another test has changed would be symbolic."""
    import torch

    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False).stdout


def sources_commit() -> str:
    return git("rev-parse", "HEAD").decode().strip()


def sources_digest() -> str:
    """What the tests run on: the commit and every change beside it."""
    state = sources_commit().encode() + git("diff", "HEAD")
    return hashlib.sha256(state).hexdigest()[:16]


def record(config: pytest.Config) -> Path:
    """Where the names of passed tests are kept, for --resume."""
    tree = os.environ.get("QUERN_TEST_LEFT")
    folder = Path(tree).parent if tree else ROOT / ".cache"
    return folder / "all.txt"


def pytest_configure(config: pytest.Config) -> None:
    # A graph kept by a run before this one would hide what became of its maker.
    os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    # Matrices are cut while modules are imported, before any fixture exists.
    if config.getoption("--all"):
        os.environ["QUERN_TEST_ALL"] = "1"
    config.stash[PASSED] = set()
    if config.getoption("--resume") and record(config).exists():
        digest, *names = record(config).read_text().splitlines()
        if digest == sources_digest():
            config.stash[PASSED] = set(names)


def in_shard(name: str, shard: str | None) -> bool:
    if shard is None:
        return True
    index, count = (int(part) for part in shard.split("/"))
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8]) % count == index - 1


def in_quick_tier(items: list[pytest.Item]) -> list[pytest.Item]:
    """Of a test in `test/python` with more than twelve cases, twelve and a third of the others: the
    commit's hash chooses them. Matrices have been cut by a rule of their own."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        is_cut = item.path.is_relative_to(ROOT / "test" / "python")
        tests.setdefault(item.nodeid.partition("[")[0] if is_cut else item.nodeid, []).append(item)
    commit = sources_commit()
    chosen: set[pytest.Item] = set()
    for cases in tests.values():
        cases.sort(key=lambda i: hashlib.sha256(f"{commit} {i.nodeid}".encode()).digest())
        share = CASES + max(0, len(cases) - CASES) // 3
        chosen.update(cases if is_of_matrix(cases[0]) else cases[:share])
        for case in cases[LATE_CASES:]:
            case.stash[MAY_BE_LEFT] = True
    if left := os.environ.get("QUERN_TEST_LEFT"):
        with Path(left).open("a", encoding="utf-8") as file:
            file.write(f"cases of tests {len(items)} {len(chosen)}\n")
    return [item for item in items if item in chosen]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shard = config.getoption("--shard")
    done = config.stash[PASSED]
    kept = [i for i in items if in_shard(i.nodeid, shard) and i.nodeid not in done]
    if os.environ.get("QUERN_TEST_QUICK"):
        kept = in_quick_tier(kept)
    if len(kept) < len(items):
        chosen = set(kept)
        config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
        items[:] = kept


def is_of_matrix(item: pytest.Item) -> bool:
    """Whether `slices.py` chose it among many cases of its kind."""
    names = vars(getattr(item, "module", item)).keys()
    return hasattr(item, "callspec") and not names.isdisjoint({"matrix", "one_of"})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keeps a slow machine within its time: past it, most cases of a test are left to --all."""
    until = os.environ.get("QUERN_TEST_UNTIL")
    if until and time.time() > float(until) and item.stash.get(MAY_BE_LEFT, False):
        if left := os.environ.get("QUERN_TEST_LEFT"):
            with Path(left).with_name("late.txt").open("a", encoding="utf-8") as file:
                file.write(f"{item.nodeid}\n")
        pytest.skip("the time of the quick tier is over")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Names a failed test at once. The report is written at the end, and a run of all tests takes
    long."""
    left = os.environ.get("QUERN_TEST_LEFT")
    if report.failed and left and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(left).with_name("failed.txt").open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n{report.longreprtext}\n\n")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Under --all, adds what passed to the record."""
    if not config.getoption("--all"):
        return
    passed = {report.nodeid for report in terminalreporter.getreports("passed")}
    names = sorted(passed | config.stash[PASSED])
    record(config).parent.mkdir(parents=True, exist_ok=True)
    record(config).write_text("\n".join([sources_digest(), *names]) + "\n")
