"""Change flags, versions or source: the cache does not lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import python

TEXT = """
import json, os, sys, torch, quern
change = os.environ["CHANGE"]
if change == "version":
    quern.__version__ = "0.0.0"
factor = 3 if change == "registered" else 2
double = quern.op("mylib::double", f'''
elementwise double[T: Number](x: T) -> T:
    return x * {factor}
''')
options = {"fusion": "off"} if change == "option" else {}
x = torch.ones(4)
result = torch.compile(lambda x: double(x).sin() + 1, backend="quern", options=options)(x)
torch.testing.assert_close(result, (x * factor).sin() + 1)
print(json.dumps(quern.counters()))
"""


def run(folder: Path, change: str) -> dict[str, Any]:
    said = python(
        TEXT,
        CHANGE=change,
        QUERN_CACHE_DIR=str(folder / "kernels"),
        TORCHINDUCTOR_FORCE_DISABLE_CACHES="0",
    )
    return dict(json.loads(said))


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm")
    run(folder, "nothing")
    assert run(folder, "nothing")["loaded"] == 1
    return folder


@pytest.mark.parametrize("change", ["option", "registered", "version"])
def test_change_is_a_miss(warm: Path, change: str) -> None:
    counts = run(warm, change)
    assert counts["loaded"] == 0
    # Another version of the package alone leaves the kernels as they are.
    assert (counts["compiles"] > 0) == (change != "version")


def test_source_of_a_kernel(tmp_path: Path) -> None:
    text = """
import json, numpy, quern, sys
from quern._session import session
k = quern.compile("elementwise f[T: Number](x: T) -> T:\\n    return x * FACTOR\\n")
assert (k.f(numpy.ones(3, dtype="float32")) == FACTOR).all()
print(session().counters()["compiles"])
"""
    made = [
        python(text.replace("FACTOR", factor), QUERN_CACHE_DIR=str(tmp_path)).strip()
        for factor in ("2", "2", "3")
    ]
    assert made == ["1", "0", "1"]
