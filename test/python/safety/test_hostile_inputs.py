"""Bad input gets a clear error: no crash, no hang, no unbounded memory."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from quern_program import quern

GIB = 1 << 30
MANY = 100_000
BODY = "fn f(x: f32) -> f32:\n"


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, 8 * GIB))
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))


def check(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs `quern check`; a hang or a death by signal fails the test."""
    done = subprocess.run(
        [str(quern()), "check", *options, str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        preexec_fn=limited,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    return done


def nested_blocks() -> str:
    lines = [" " * level + "if x > 0:" for level in range(1, 2000)]
    return BODY + "\n".join(lines) + "\n"


def returned(expression: str) -> str:
    return f"{BODY}    return {expression}\n"


def constants() -> str:
    rows = [f"const A{i}: int = A{i + 1} + A{i + 1}" for i in range(5000)]
    return "\n".join([*rows, "const A5000: int = 1"]) + "\n"


def many_names() -> str:
    """Each of them is one more than the name before; the last is read by positions."""
    names = "".join(f"    let y{i} = y{i - 1} + 1\n" for i in range(1, MANY))
    head = "rowwise f(x: f32[R, C], i: i64[K]) -> f32[K]:\n    let y0 = x\n"
    return f"{head}{names}    return y{MANY - 1}[i, i]\n"


def many_axes() -> str:
    count = 1000
    axes = ", ".join(f"A{i}" for i in range(count))
    places = ", ".join(["i"] * count)
    return f"rowwise f(x: f32[{axes}], i: i64[K]) -> f32[K]:\n    return x[{places}]\n"


ENDLESS = (
    "fn f() -> int:\n    var i = 0\n    while true bound 9000000000000000000:\n        i += 1\n"
)
HOSTILE: dict[str, tuple[str, Callable[[], bytes | str]]] = {
    "many names": ("", many_names),
    "many axes": ("", many_axes),
    "not UTF-8": ("QN0001", lambda: b"fn f(\xff\xfe"),
    "NUL": ("QN0002", lambda: b"fn f\x00(x: f32)"),
    "tabs and spaces": (
        "QN0004",
        lambda: BODY + "    let y = x\n\tlet z = y\n    return z\n",
    ),
    "parentheses": ("QN0017", lambda: returned("(" * MANY + "x" + ")" * MANY)),
    "open brackets": ("QN0017", lambda: "[" * MANY),
    "signs": ("QN0017", lambda: returned("-" * MANY + "x")),
    "not": ("QN0017", lambda: returned("not " * MANY + "x")),
    "choices": ("QN0017", lambda: returned("x if x > 0 else " * MANY + "x")),
    "chain": ("QN0017", lambda: returned("x" + " + x" * MANY)),
    "calls": ("QN0017", lambda: returned("f(" * MANY + "x" + ")" * MANY)),
    "members": ("QN0017", lambda: returned("x" + ".y" * MANY)),
    "blocks": ("QN0017", nested_blocks),
    "types": ("QN0017", lambda: f"fn f(x: {'list[' * MANY}f32{']' * MANY}):\n    pass\n"),
    "a million errors": ("QN0003", lambda: "fn \u2603\n" * 1_000_000),
    "a million unknown names": ("QN1000", lambda: BODY + "    let a = b\n" * 1_000_000),
    "one long name": ("QN0105", lambda: "x" * (100 << 20)),
    "one long comment": ("", lambda: "#" * (100 << 20)),
    "comments": ("", lambda: "# a comment\n" * (8 << 20)),
    "one long string": ("QN0105", lambda: '"' + "s" * (100 << 20) + '"'),
    "one long docstring": ("", lambda: '"""' + "s" * (100 << 20) + '"""\n'),
    "blank lines": ("", lambda: "\n" * (100 << 20)),
    "endless constant": ("QN1113", lambda: ENDLESS + "    return i\n\nconst A: int = f()\n"),
    "constants far below": ("QN1113", constants),
    "long number": ("QN0010", lambda: returned("f32(" + "9" * MANY + ")")),
    "recursion": ("QN1007", lambda: BODY + "    return f(x)\n\nconst A: f32 = f(1)\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text(name: str, tmp_path: Path) -> None:
    code, make = HOSTILE[name]
    text = make()
    path = tmp_path / "hostile.qn"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = check(path)
    if code:
        assert code in done.stderr, done.stderr[:2000]
    else:
        assert done.returncode == 0 or "error" in done.stderr
    assert len(done.stderr) < 1 << 20


def test_missing_file(tmp_path: Path) -> None:
    assert "QN0900" in check(tmp_path / "missing.qn").stderr


def test_directory(tmp_path: Path) -> None:
    assert "QN0901" in check(tmp_path).stderr


def test_unreadable_file() -> None:
    # Root may read everything; reading another process's memory fails even so.
    assert "error[QN090" in check(Path("/proc/self/mem")).stderr


def test_device_without_end() -> None:
    assert "error" in check(Path("/dev/zero")).stderr


@pytest.mark.parametrize("option", ["--json", "--sarif", "--color=always"])
def test_closed_pipe(option: str, tmp_path: Path) -> None:
    path = tmp_path / "errors.qn"
    path.write_text(BODY + "    let a = b\n" * 10_000)
    command = f"{quern()} check --error-limit=100000 {option} {path} 2>&1 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout
