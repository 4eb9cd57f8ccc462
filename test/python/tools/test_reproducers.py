"""Compilations that fail or are killed leave a file that one command does again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quern
from tree import ROOT

QUERN = ROOT / "build/dev/bin/quern"
KNOWN = """
rowwise spread[T: Float, N: int](x: T[R, C]) -> T[R, C]:
    var s = x
    for i in range(N):
        s = s + s.at(C = index(C) - 1, outside = 0)
    return s
"""
CAT = """
rowwise cat[T: Any](xs: list[T[R, C]]) -> T[R, C]:
    return concat(xs over C)
"""
# A second of work, so that there is time to kill it.
LONG = "elementwise waves[T: Float](x: T) -> T:\n    var s = x\n" + "".join(
    f"    s = sin(s) + exp(s / {n}) * tanh(s)\n" for n in range(2, 60)
)
LONG += "    return s\n"


def call(source: str, arguments: str, folder: Path) -> subprocess.Popen[str]:
    text = f"import numpy, quern\nx = numpy.ones((3, 5), 'f4')\nk = quern.compile({source!r})\n"
    environment = os.environ | {"QUERN_REPRODUCE": str(folder), "QUERN_CACHE_DIR": "-"}
    return subprocess.Popen(
        [sys.executable, "-c", text + arguments],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def replay(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [QUERN, "build", f"--replay={file}", *options], capture_output=True, text=True, check=False
    )


def test_a_failure_is_kept_and_fails_again(tmp_path: Path) -> None:
    process = call(KNOWN, "k.spread(x, N=4000)", tmp_path)
    _, error = process.communicate()
    (file,) = tmp_path.iterdir()
    assert f"quern build --replay={file}" in error
    kept = json.loads(file.read_text())
    assert (kept["kernel"], kept["stage"]) == ("spread", "tools")
    again = replay(file)
    assert again.returncode != 0
    assert "QN1338" in error
    assert "4000 rounds, at most 1024 are possible" in error
    assert "4000 rounds, at most 1024 are possible" in again.stderr


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A compilation that succeeds when it is done again."""
    folder = tmp_path_factory.mktemp("kept")
    call(KNOWN, "k.spread(x, N=4000)", folder).communicate()
    (file,) = folder.iterdir()
    made: dict[str, Any] = json.loads(file.read_text())
    assert made["specialization"]["constants"] == ["i4000"]
    made["specialization"]["constants"] = ["i2"]
    file.write_text(json.dumps(made))
    assert replay(file, "--emit=qn").returncode == 0
    return made


CHANGES: list[dict[str, Any]] = [
    {"types": []},
    {"types": ["i32"]},
    {"types": ["f17"]},
    {"types": [13]},
    {"constants": []},
    {"constants": ["sfew"]},
    {"constants": ["-"]},
    {"ranks": []},
    {"ranks": [2, 0]},
    {"operands": []},
    {"operands": ["-", "d1"]},
    {"operands": ["d", "d1"]},
    {"operands": ["d1", "d1", "d1"]},
    {"lists": [1]},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_file_of_another_version_is_refused(
    tmp_path: Path, kept: dict[str, Any], change: dict[str, Any]
) -> None:
    file = tmp_path / "kept.json"
    file.write_text(json.dumps(kept | {"specialization": kept["specialization"] | change}))
    refused = replay(file, "--emit=qn")
    assert refused.returncode == 1
    assert "another version" in refused.stderr or "cannot read" in refused.stderr


def test_rounds_that_are_known() -> None:
    """The mend of QN1338, and what it says: few rounds, and as many as are launches."""
    x = np.arange(15, dtype="f4").reshape(3, 5)
    for rounds in (3, 40):
        wanted = x
        for _ in range(rounds):
            wanted = wanted + np.pad(wanted, ((0, 0), (1, 0)))[:, :-1]
        assert (quern.compile(KNOWN).spread(x, N=rounds) == wanted).all()


def test_what_kills_the_process_is_kept(tmp_path: Path) -> None:
    process = call(LONG, "k.waves(x)", tmp_path)
    while not (files := list(tmp_path.glob("*.json"))):
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert replay(files[0]).returncode == 0
    assert "@waves" in replay(files[0], "--emit=qn").stdout


def test_a_success_leaves_nothing(tmp_path: Path) -> None:
    process = call(CAT, "k.cat([x, x])", tmp_path)
    process.communicate()
    assert process.returncode == 0
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "damaged.json").write_text("{")
    assert "cannot read a compilation" in replay(tmp_path / "damaged.json").stderr


@pytest.mark.parametrize("deep", ["[" * 1_000_000, '{"a":' * 1_000_000, '[{"a":' * 500_000])
def test_a_file_nested_deeply_is_refused(tmp_path: Path, deep: str) -> None:
    """The parser of JSON takes stack for each bracket."""
    file = tmp_path / "deep.json"
    file.write_text(deep)
    done = replay(file)
    assert done.returncode == 1
    assert "cannot read a compilation" in done.stderr


def test_a_recording_nested_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "launches.json").write_text("[" * 1_000_000)
    program = tmp_path / "program.qn"
    program.write_text("elementwise f(x: f32) -> f32:\n    return x\n")
    done = subprocess.run([QUERN, "run", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the recording is damaged" in done.stderr


def test_a_full_disk_keeps_no_file_and_ends_nothing(tmp_path: Path) -> None:
    """Each write fails: the error of the text is what is said."""
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import resource, signal, numpy, quern\n"
                "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
                "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
                f"k = quern.compile({KNOWN!r})\n"
                "try:\n    k.spread(numpy.ones((3, 5), 'f4'), N=4000)\n"
                "except quern.Error as error:\n    print('QN1338' in str(error))\n"
                "k = quern.compile('elementwise f(x: f32) -> f32:\\n    return x + 1\\n')\n"
                "print(k.f(numpy.ones(2, 'f4')))\n"
            ),
        ],
        env=os.environ
        | {
            "QUERN_REPRODUCE": str(tmp_path / "kept"),
            "QUERN_CACHE_DIR": str(tmp_path / "cache"),
            "QUERN_CACHE_KEEP": "all",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "True\n[2. 2.]\n"
    assert not list((tmp_path / "kept").iterdir())
