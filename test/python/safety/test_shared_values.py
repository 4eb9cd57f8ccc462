"""Values that are used twice, and what is made of them twice again, compile soon.

The compiler takes a step for each value, not for each way back to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

COUNT = 48
TARGETS = ("x86-64-v2", "x86-64-v4", "sm_90", "gfx942")


def doubled(first: str, step: str, indent: int = 4) -> str:
    """`v48`, each name made of the one before by `step`, which has `{}` twice."""
    lines = [f"let v0 = {first}"]
    lines += [f"let v{n + 1} = " + step.replace("{}", f"v{n}") for n in range(COUNT)]
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


SUM = "{} + {}"
CHOICE = "{} if {} > 3 else {} + 1"
BOUNDED = "min({} * 2, {} + 1)"
REAL = "{} * 0.5 + {}"


def program(signature: str, body: str, result: str) -> str:
    return f"{signature}:\n{body}    return {result}\n"


PROGRAMS = {
    "place": lambda step: program(
        "rowwise f(x: f32[H], like: i64[P]) -> f32[P]",
        doubled("index(P)", step),
        f"x.at(H = v{COUNT}, outside = 0)",
    ),
    "window": lambda step: program(
        "rowwise f(x: f32[H, W], like: i64[P, W]) -> f32[P, W]",
        doubled("index(P)", step),
        f"sum(x.at(H = v{COUNT} + i, outside = 0) over i: 0 .. 4)",
    ),
    "product": lambda step: program(
        "rowwise f(x: f32[C, H], w: f32[O, C, K], like: i64[P]) -> f32[O, P]",
        doubled("index(P)", step),
        f"sum(x.at(H = v{COUNT} + index(K), outside = 0) * w over (C, K))",
    ),
    "bound": lambda step: program(
        "rowwise f(x: f32[R, C]) -> f32[R]",
        doubled("index(R)", step),
        f"sum(x.at(C = i, outside = 0) over i: 0 .. v{COUNT})",
    ),
    "size": lambda step: program(
        "rowwise f(x: f32[R, C]) -> f32[R]",
        doubled("size(C)", step),
        f"sum(x.at(C = i, outside = 0) over i: 0 .. v{COUNT})",
    ),
    "column": lambda step: program(
        "rowwise f(x: f32[R, C], at: i64[R]) -> f32[R]",
        doubled("at", step),
        f"x.at(C = v{COUNT}, outside = 0)",
    ),
    "where": lambda step: program(
        "rowwise f(x: f32[R, C], n: int) -> f32[R]",
        doubled("index(C)", step),
        f"sum(x over C where v{COUNT} < n)",
    ),
    "scatter": lambda step: (
        "rowwise f(x: f32[R], at: i64[R], out: mut f32[C]):\n"
        + doubled("at", step)
        + f"    out = scatter(out, at = (C = v{COUNT}), x, with = sum)\n"
    ),
    "loop": lambda step: program(
        "elementwise f(x: i64) -> i64",
        doubled("x", step)
        + f"    var y = x\n    while y < v{COUNT} bound 9:\n        y = y * 2 + 1\n",
        "y",
    ),
    "thread": lambda step: (
        "kernel f(x: f32[N], out: mut f32[N]):\n"
        "    launch grid(size(N)) block(32)\n"
        + doubled("block.x * 32 + thread.x", step)
        + f"    if 0 <= v{COUNT} and v{COUNT} < size(N):\n        out[v{COUNT}] = x[v{COUNT}]\n"
    ),
    "grid": lambda step: (
        "kernel f(x: f32[N], out: mut f32[N]):\n"
        + doubled("size(N)", SUM if step is CHOICE else step)
        + f"    launch grid(v{COUNT}) block(32)\n    out[0] = x[0]\n"
    ),
}
WHOLE = {
    "value": program("rowwise f(x: f32[R, C]) -> f32[R, C]", doubled("x", REAL), f"v{COUNT}"),
    "reduced": program(
        "rowwise f(x: f32[R, C]) -> f32[R]", doubled("x", REAL), f"sum(v{COUNT} over C)"
    ),
    "factor": program(
        "rowwise f(x: f32[M, K], y: f32[K, N]) -> f32[M, N]",
        doubled("x", REAL),
        f"sum(v{COUNT} * y over K)",
    ),
    "rows": program(
        "rowwise f(x: f32[R, C]) -> f32[R, C]",
        doubled("max(x over C)", REAL),
        f"exp(x - v{COUNT}) / sum(exp(x - v{COUNT}) over C)",
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("step", [SUM, CHOICE, BOUNDED], ids=["sum", "choice", "bounded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_integers(name: str, step: str, target: str, tmp_path: Path) -> None:
    build(PROGRAMS[name](step), target, tmp_path)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", WHOLE)
def test_floats(name: str, target: str, tmp_path: Path) -> None:
    build(WHOLE[name], target, tmp_path)


def build(text: str, target: str, folder: Path) -> None:
    path = folder / "shared.qn"
    path.write_text(text)
    words = ["quern", "build", str(path), "f", "--emit=llvm-dialect", f"--target={target}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-1000:]
