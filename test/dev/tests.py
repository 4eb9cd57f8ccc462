"""`./dev test`: every test program of the tree, counted on the last line."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from results import Counts, of_junit, of_lit
from torch_release import build_module, environment_of, prepare, torch_tests
from tree import ROOT, VENV, build_dir, environment, run, say

from build import build

PYTHON_SUITES = ("test/repo", "test/python", "test/features", "test/backend-torch")
#: Minutes of `./dev test`, the build included, after which three cases of a test are enough.
QUICK_MINUTES = 45


def unit(results: Path, arguments: argparse.Namespace) -> Counts:
    """GoogleTest programs under ctest. Each writes its own report; one that
    died before doing so is one failure in ctest's."""
    reports = results / "unit"
    summary = results / "ctest.xml"
    tree = build_dir(arguments.preset)
    status = run(
        *("ctest", "--test-dir", tree, "--output-on-failure"),
        *("-j", str(len(os.sched_getaffinity(0)))),
        *("--output-junit", summary),
        *(["-R", arguments.filter] if arguments.filter else []),
        preset=arguments.preset,
    )
    total = Counts()
    for report in sorted(reports.glob("*.xml")):
        total += of_junit(report)
    programs = of_junit(summary) if summary.exists() else Counts()
    if total.failed == 0:
        total.failed += programs.failed or (1 if status else 0)
    return total


def lit(results: Path, arguments: argparse.Namespace) -> Counts:
    report = results / "lit.json"
    status = run(
        *(VENV / "bin" / "lit", "-sv", "-o", report),
        *(["--filter", arguments.filter] if arguments.filter else []),
        build_dir(arguments.preset) / "lit-tests",
        preset=arguments.preset,
    )
    counts = of_lit(report) if report.exists() else Counts()
    if status and counts.failed == 0:
        counts.failed = 1
    return counts


def python(results: Path, arguments: argparse.Namespace) -> Counts:
    """All Python suites in one pytest, spread over the processors; of another torch's
    environment, those that need torch."""
    report = results / "pytest.xml"
    suites = [suite for suite in PYTHON_SUITES if (ROOT / suite).exists()]
    venv, more = VENV, {}
    if arguments.torch:
        suites, venv = torch_tests(), environment_of(arguments.torch)
        more["PATH"] = f"{venv / 'bin'}{os.pathsep}{environment(arguments.preset)['PATH']}"
    if not (arguments.all or arguments.filter):
        more["QUERN_TEST_QUICK"] = "1"
    if not arguments.all:
        more["QUERN_TEST_UNTIL"] = str(arguments.started + 60 * QUICK_MINUTES)
    workers = str(len(os.sched_getaffinity(0)))
    status = run(
        *(venv / "bin" / "python", "-m", "pytest", "-q", "-n", workers),
        *("--dist", "worksteal", f"--junitxml={report}"),
        *(["--all"] if arguments.all else []),
        *(["--shard", arguments.shard] if arguments.shard else []),
        *(["--resume"] if arguments.resume else []),
        *(["-k", arguments.filter] if arguments.filter else []),
        *suites,
        preset=arguments.preset,
        QUERN_TEST_LEFT=str(results / "left.txt"),
        **more,
    )
    counts = of_junit(report) if report.exists() else Counts()
    nothing_collected = 5
    if status not in (0, nothing_collected) and counts.failed == 0:
        counts.failed = 1
    return counts


def left_to_all(results: Path) -> str:
    """One line saying what of the large matrices this run did not do."""
    log = results / "left.txt"
    rows = sorted(set(log.read_text().splitlines())) if log.exists() else []
    left: dict[str, int] = {}
    for row in rows:
        name, total, done = row.rsplit(" ", 2)
        left[name] = int(total) - int(done)
    parts = [f"{count} of {name}" for name, count in left.items() if count]
    late = results / "late.txt"
    if late.exists():
        parts.append(f"{len(late.read_text().splitlines())} for which there was no time")
    if not parts:
        return "left to --all: nothing"
    return "left to --all: " + ", ".join(parts)


RUNNERS = {"unit": unit, "lit": lit, "python": python}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("--all", action="store_true", help="the long tier too")
    parser.add_argument("--shard", help="I/N: the I-th of N parts (Python tests)")
    parser.add_argument("--resume", action="store_true", help="skip what passed on these sources")
    parser.add_argument("--preset", default="dev")
    parser.add_argument("-k", dest="filter", help="only tests whose name matches")
    parser.add_argument("--torch", metavar="VERSION", help="what needs torch, with that release")
    parser.add_argument("runners", nargs="*", help=f"of {', '.join(RUNNERS)}")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.runners) - set(RUNNERS):
        parser.error(f"no runner {', '.join(sorted(unknown))}")
    if chosen.torch and chosen.runners not in ([], ["python"]):
        parser.error("--torch runs Python tests only")
    if chosen.torch:
        chosen.runners = ["python"]
    return chosen


def built(chosen: argparse.Namespace) -> int:
    """Makes what the tests run on."""
    if chosen.torch:
        return prepare(chosen.torch) or build_module(chosen.torch, chosen.preset)
    return build(chosen.preset)


def main(arguments: list[str]) -> int:
    started = time.time()
    chosen = parse(arguments)
    chosen.started = started
    if status := built(chosen):
        say("the build failed; nothing was tested")
        print("0 passed, 1 failed, 0 skipped")
        return status
    suffix = f"-torch-{chosen.torch}" if chosen.torch else ""
    results = build_dir(chosen.preset) / f"test-results{suffix}"
    kept = results / "all.txt"
    kept_text = kept.read_text() if kept.exists() else None
    shutil.rmtree(results, ignore_errors=True)
    (results / "unit").mkdir(parents=True)
    if kept_text is not None:
        kept.write_text(kept_text)
    total = Counts()
    for name, runner in RUNNERS.items():
        if chosen.runners and name not in chosen.runners:
            continue
        say(f"{name} tests")
        counts = runner(results, chosen)
        say(f"{name}: {counts}")
        total += counts
    sys.stderr.flush()
    print(left_to_all(results))
    print(total, flush=True)
    return 1 if total.failed or not total.passed else 0
