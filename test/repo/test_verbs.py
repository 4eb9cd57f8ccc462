"""The verbs of `./dev`: each has its function, and none loads what it does not need."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "test" / "dev"


def table() -> dict[str, tuple[str, str]]:
    spec = importlib.util.spec_from_file_location("dev_main", DEV / "__main__.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    verbs: dict[str, tuple[str, str]] = module.VERBS
    return verbs


@pytest.mark.parametrize("verb", sorted(table()))
def test_has_its_function_and_is_handed_on(verb: str) -> None:
    module, function = table()[verb]
    assert re.search(rf"^def {function}\(", (DEV / f"{module}.py").read_text(), re.MULTILINE)
    assert re.search(rf"^  .*\b{verb}\b", (ROOT / "dev").read_text(), re.MULTILINE)


@pytest.mark.parametrize("module", ["build", "checks", "demo", "tests"])
def test_loads_no_torch(module: str) -> None:
    """That takes seconds, when a call that has nothing left to do takes tenths."""
    text = f"import sys, {module}; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": str(DEV)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
