"""Long texts: each compiles or says what is too long, and nothing ends the process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


def statements(count: int) -> str:
    lines = [f"    y = y * x + {n % 7}" for n in range(count)]
    return "\n".join(["elementwise f(x: f32) -> f32:", "    var y = x", *lines, "    return y", ""])


def reductions(count: int) -> str:
    lines = [f"    let v{n + 1} = sum(x + v{n} over C)" for n in range(count)]
    head = ["rowwise f(x: f32[R, C]) -> f32[R]:", "    let v0 = sum(x over C)"]
    return "\n".join([*head, *lines, f"    return v{count}", ""])


def places(count: int) -> str:
    lines = [f"    let v{n + 1} = i.at(N = v{n}, outside = 0)" for n in range(count)]
    head = ["rowwise f(i: i64[N]) -> i64[N]:", "    let v0 = i"]
    return "\n".join([*head, *lines, f"    return v{count}", ""])


def functions(count: int) -> str:
    head = "fn g0(x: int) -> int:\n    return x\n"
    each = [f"fn g{n + 1}(x: int) -> int:\n    return g{n}(x) + 1\n" for n in range(count)]
    last = f"const C: int = g{count}(1)\nelementwise f(x: i64) -> i64:\n    return x + C\n"
    return "".join([head, *each, last])


def built(text: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "long.qn"
    path.write_text(text)
    words = ["quern", "build", str(path), "f", "--emit=loops", "--target=x86-64-v3"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (statements(12000), "a value depends on a chain of others"),
        (reductions(3000), "a value depends on a chain of others"),
        (places(3000), "a value depends on a chain of others"),
        (functions(3000), "nested too deeply"),
    ],
    ids=["statements", "reductions", "places", "functions"],
)
def test_what_is_too_long_is_said(text: str, said: str, tmp_path: Path) -> None:
    done = built(text, tmp_path)
    assert done.returncode == 1, done.stderr[-500:]
    assert said in done.stderr


@pytest.mark.parametrize(
    "text",
    [statements(1500), reductions(60), places(60), functions(50)],
    ids=["statements", "reductions", "places", "functions"],
)
def test_what_is_long_is_built(text: str, tmp_path: Path) -> None:
    done = built(text, tmp_path)
    assert done.returncode == 0, done.stderr[-500:]
