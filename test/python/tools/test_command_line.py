"""The `quern` program as a shell meets it: help, full disks, closed pipes, odd names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import quern
from tree import ROOT

TWO = """from math use exp

elementwise gate[T: Float](x: T, g: T) -> T:
    return x * g / (1 + exp(-g))

elementwise half[T: Float, F: fn(T) -> T = exp, N: int = 2, M: int = N * 2](x: T) -> T:
    return F(x) / T(M)
"""


def run(*words: str | bytes, **more: object) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **more}
    return subprocess.run(["quern", *words], check=False, **options)


VERBS = ["check", "fmt", "build", "run", "explain", "reduce", "completion", "lsp", "ops", "options"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.qn"
    path.write_text(TWO)
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb: str) -> None:
    shown = run(verb, "--help")
    assert shown.returncode == 0
    for words in (("help", verb), (verb, "-h"), ("--help", verb)):
        assert run(*words).stdout == shown.stdout
    assert run("help", "nothing").returncode == 2


def test_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quern", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == run("--version").stdout == f"quern {quern.__version__}\n"


@pytest.mark.parametrize("words", [("ops",), ("help",), ("build", "--emit=asm", "{}")])
def test_full_disk_is_said(words: tuple[str, ...], two: Path) -> None:
    filled = [word.format(two) for word in words]
    with open("/dev/full", "w") as full:
        done = run(*filled, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == "quern: cannot write to standard output: No space left on device\n"


def test_every_page_is_printed() -> None:
    pages = sorted((ROOT / "docs/diagnostics").glob("QN*.md"))
    done = run("explain", *(page.stem for page in pages))
    assert done.stdout == "\n".join(page.read_text() for page in pages)


def test_closed_pipe_is_silent(two: Path) -> None:
    command = f"trap '' PIPE; quern build --emit=asm '{two}' gate | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1)
    assert done.stderr == ""


@pytest.mark.parametrize(("stage", "target"), [("obj", "x86-64-v3"), ("hsaco", "gfx942")])
def test_an_object_holds_one_declaration(stage: str, target: str, two: Path) -> None:
    out = two.with_suffix(".out")
    words = ["build", str(two), f"--emit={stage}", f"--target={target}", "-o", str(out)]
    done = run(*words)
    assert done.returncode == 2
    assert "name one of `gate`, `half`" in done.stderr
    assert not out.exists()
    assert run(*words, "gate").returncode == 0
    assert out.read_bytes().startswith(b"\x7fELF")


def test_defaults_are_those_of_a_call(two: Path) -> None:
    """Also functions, and expressions of the parameters in front."""
    assert run("build", str(two), "half", "--emit=qn").returncode == 0
    bare = two.with_name("bare.qn")
    bare.write_text("elementwise f[T: Float, F: fn(T) -> T](x: T) -> T:\n    return F(x)\n")
    done = run("build", str(bare), "--emit=qn")
    assert done.returncode == 1
    assert "`F` of `f` has no default: give it with --constants" in done.stderr
    assert run("build", str(bare), "--emit=qn", "--constants=F=sin").returncode == 0


@pytest.mark.parametrize("stage", ["ast", "qn"])
def test_output_goes_where_it_is_asked_for(stage: str, two: Path) -> None:
    """Files are replaced; links stay links, pipes stay pipes."""
    words = ("build", str(two), f"--emit={stage}")
    wanted = run(*words).stdout
    plain, link, pipe = (two.with_name(name) for name in ("plain", "link", "pipe"))
    plain.write_text("old")
    plain.chmod(0o640)
    link.symlink_to(plain.name)
    os.mkfifo(pipe)
    assert run(*words, "-o", str(link)).returncode == 0
    assert link.is_symlink()
    assert plain.read_text() == wanted
    assert plain.stat().st_mode & 0o777 == 0o640
    for path in (str(pipe), "/dev/fd/1"):
        reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
        with open(pipe, "w") as end:
            done = run(*words, "-o", path, capture_output=False, stdout=end)
        assert done.returncode == 0
        assert reader.communicate(timeout=60)[0] == wanted
        assert pipe.is_fifo()
    assert sorted(path.name for path in two.parent.iterdir()) == ["link", "pipe", "plain", "two.qn"]


@pytest.mark.parametrize("stage", ["ast", "qn"])
def test_output_that_cannot_be_written_is_named(stage: str, two: Path) -> None:
    missing = two.parent / "no" / "file"
    for path, why in ((two.parent, "Is a directory"), (missing, "No such file or directory")):
        done = run("build", str(two), f"--emit={stage}", "-o", str(path))
        assert done.returncode == 1
        assert done.stderr == f"quern: cannot write `{path}`: {why}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("build", "--emit=qn", "--constants=T=f32"), "`gate` has no `T`"),
        (("build", "--emit=qn", "--types=x=f32"), "`gate` has no `x`"),
        (("run", "--types=U=f32"), "`--types` names `U`, which `gate` does not have"),
        (("run", "--axes=R=3"), "`--axes` names `R`, which `gate` does not have"),
        (("run", "--scalars=x=3"), "`--scalars` names `x`, which `gate` does not have"),
        (("run", "--axes=R=3y"), "`--axes` takes extents: N=64,R=4x8"),
        (("run", "--axes=R=x"), "`--axes` takes extents: N=64,R=4x8"),
        (("run", "--shape=4x"), "`--shape` takes extents: 4x8"),
        (("run", "--seed=x"), "`--seed` takes an integer from 0 on, not `x`"),
        (("run", "--threads=-1"), "`--threads` takes an integer from 0 on, not `-1`"),
        (("run", "--repeat=0"), "`--repeat` takes an integer from 1 on, not `0`"),
        (("run", f"--shape={10**14}"), f"there is no memory for f32[{10**14}]"),
    ],
)
def test_what_an_option_cannot_mean_is_said(
    words: tuple[str, ...], message: str, two: Path
) -> None:
    done = run(words[0], str(two), "gate", *words[1:])
    assert done.returncode in (1, 2)
    assert done.stderr == f"quern: {message}\n"
    assert done.stdout == ""


def test_a_run_shows_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "fill.qn"
    path.write_text(
        "rowwise fill[T: Float](x: T[N, *S], y: mut T[N, *S], z: mut i64[N]) -> T[N]:\n"
        "    y = 2\n    z = index(N)\n    return T(3)\n"
    )
    done = run("run", str(path), "--axes=N=3,S=1x1")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["f32[3]:", "3.000000", "3.000000"],
        ["y:", "f32[3,", "1,"],
        ["z:", "i64[3]:", "0.000000"],
    ]
    done = run("run", str(path), "--axes=N=3x4")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "quern: `N` of `--axes` is one axis, not `3x4`\n"


@pytest.mark.parametrize("words", [("run", "gaet"), ("build", "gaet", "--emit=qn")])
def test_a_name_near_a_declared_one_is_said(words: tuple[str, ...], two: Path) -> None:
    verb, *rest = words
    shown = run(verb, str(two), *rest)
    assert shown.returncode != 0
    assert "no declaration `gaet`" in shown.stderr
    assert "did you mean `gate`?" in shown.stderr


@pytest.mark.parametrize("word", ["--emti=qn", "-emit=qn"])
def test_an_option_near_another_is_said_as_it_is_written(word: str, two: Path) -> None:
    assert "did you mean `--emit`?" in run("build", str(two), word).stderr


def test_format_follows_a_link(tmp_path: Path) -> None:
    text, link = tmp_path / "text.qn", tmp_path / "link.qn"
    text.write_text("fn f(x: f32) -> f32:\n  return x\n")
    link.symlink_to(text.name)
    assert run("fmt", str(link)).returncode == 0
    assert link.is_symlink()
    assert text.read_text() == "fn f(x: f32) -> f32:\n    return x\n"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """A name of a file is bytes, whatever the locale makes of them."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xe9 \xc3\xbc.qn"))
    path.write_text("elementwise f(x: f32) -> f32:\n    return y\n")
    assert run("check", os.fsencode(path), text=False).returncode == 1
    with pytest.raises(quern.Error, match="unknown name `y`") as caught:
        quern.load(path)
    assert caught.value.diagnostics[0]["file"] == str(path)
    with pytest.raises(quern.Error, match="no such file"):
        quern.load(path.with_name(path.name + "x"))
    path.write_text("elementwise f(x: f32) -> f32:\n    return x\n")
    assert quern.load(path).f(2.0) == 2


def test_locale_without_letters(tmp_path: Path) -> None:
    path = tmp_path / "gäte k.qn"
    path.write_text("elementwise f(x: f32) -> f32:\n    return x + 1\n")
    text = "import quern, sys; print(float(quern.load(sys.argv[1]).f(2.0)))"
    done = subprocess.run(
        [sys.executable, "-c", text, str(path)],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("3.0\n", "")


@pytest.mark.parametrize("text", ["abc", "-3", "1.5", "99999999999999"])
def test_threads_are_a_number(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import quern; quern.compile('')"],
        env={**os.environ, "QUERN_THREADS": text},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"`QUERN_THREADS` is `{text}`, must be a number of threads" in done.stderr


def test_json_names_the_file(two: Path) -> None:
    two.write_text(TWO.replace("-g", "-h"))
    (line,) = run("check", "--json", str(two)).stdout.splitlines()
    assert json.loads(line)["span"]["file"] == str(two)
