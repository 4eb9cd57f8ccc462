"""Variables of the environment that say nothing known are warned of, once a process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

KERNEL = 'import quern\nfor _ in "ab": quern.compile("fn one() -> i64:\\n    return 1\\n")\n'
GRAPH = 'import torch\ntorch.compile(lambda x: x + 1, backend="quern")(torch.ones(2))\n'


def warned(text: str, **variables: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stderr.splitlines() if "QUERN_" in line]


@pytest.mark.parametrize("text", [KERNEL, GRAPH])
def test_a_misspelt_name(text: str) -> None:
    lines = warned(text, QUERN_DEBGU="1", QUERN_MINE="1", QUERN_DEBUG="")
    assert len(lines) == 1
    assert "`QUERN_DEBGU` is no variable of Quern; did you mean `QUERN_DEBUG`?" in lines[0]


def test_unknown_values() -> None:
    lines = warned(KERNEL, QUERN_CACHE_KEEP="everything", QUERN_PERF="3", QUERN_GDB="no")
    assert len(lines) == 2
    assert "`QUERN_CACHE_KEEP` is `everything`, must be one of `all`" in lines[0]
    assert "`QUERN_PERF` is `3`, must be one of `1`, `lines`" in lines[1]


def test_known_values() -> None:
    assert warned(KERNEL, QUERN_CACHE_KEEP="ALL", QUERN_PERF="", QUERN_GDB="0") == []


def test_import_looks_at_nothing() -> None:
    assert warned("import quern", QUERN_DEBGU="1") == []
