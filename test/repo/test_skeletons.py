"""`./dev new` writes what the tools accept, all of it or nothing, and refuses clearly."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test" / "dev"))

import skeleton  # noqa: E402

KEPT = ("docs/diagnostics", "dsl", "frontend", "lit-tests", "stdlib-kernels")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the rooms that skeletons go to."""
    for folder in KEPT:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.setattr(skeleton, "ROOT", tmp_path)
    return tmp_path


def contents(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): path.read_text(errors="replace")
        for path in tree.rglob("*")
        if path.is_file()
    }


def made(tree: Path, *words: str) -> dict[str, str]:
    """The files that differ afterwards."""
    before = contents(tree)
    assert skeleton.main(list(words)) == 0
    return {path: text for path, text in contents(tree).items() if before.get(path) != text}


def commands(path: Path) -> list[str]:
    """The RUN lines of a lit test, as a shell runs them."""
    lines = path.read_text().splitlines()
    filecheck = shutil.which("FileCheck") or "FileCheck-22"
    return [
        line.partition("RUN: ")[2]
        .replace("%s", str(path))
        .replace("%t", f"{path}.tmp")
        .replace("FileCheck ", f"{filecheck} ")
        for line in lines
        if "RUN: " in line
    ]


def runs(path: Path) -> bool:
    tools = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True)
    text = f"export PATH={tools.stdout.strip()}:$PATH\n" + "\n".join(commands(path))
    return subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=False).returncode == 0


@pytest.mark.parametrize("stage", sorted(path.name for path in (ROOT / "lit-tests").glob("*/")))
def test_lit_test_passes(stage: str, tree: Path) -> None:
    if stage in ("gpu", "llvm-dialect", "loops", "schedule"):
        expected = f"lit-tests/{stage}/my-test.mlir"
    else:
        expected = f"lit-tests/{stage}/my-test.qn"
    assert list(made(tree, "lit", f"{stage}/my-test")) == [expected]
    assert runs(tree / expected)


@pytest.mark.parametrize("stage", sorted(skeleton.STAGES))
def test_diagnostic_has_a_free_code(stage: str, tree: Path) -> None:
    files = made(tree, "diagnostic", "too-odd", "--stage", stage)
    table = skeleton.STAGES[stage][0]
    (test,) = (path for path in files if path.startswith("lit-tests/"))
    (page,) = (path for path in files if path.startswith("docs/"))
    assert set(files) == {table, test, page}
    code = Path(page).stem
    assert files[page].startswith(f"# {code}: too odd\n")
    assert f"QN_DIAGNOSTIC({int(code[2:])}, TooOdd, Error," in files[table]
    assert not (ROOT / page).exists()
    assert code.lower() in test


@pytest.mark.parametrize("name", ["soft-bump", "aten::cholesky", "aten::nuclear_norm"])
def test_kernel_is_checked_text(name: str, tree: Path) -> None:
    (path,) = made(tree, "kernel", name)
    assert Path(path).stem.isidentifier()
    assert subprocess.run(["quern", "check", str(tree / path)], check=False).returncode == 0


def test_pass_and_operation(tree: Path) -> None:
    files = made(tree, "pass", "tidy-loops")
    assert set(files) == {
        "dsl/CMakeLists.txt",
        "dsl/passes/Passes.td",
        "dsl/passes/TidyLoops.cpp",
        "lit-tests/loops/tidy-loops.mlir",
    }
    files = made(tree, "op", "turn-round", "--group", "kernel")
    assert set(files) == {"dsl/dialect/KernelOps.td", "lit-tests/qn/turn-round.mlir"}
    assert 'Qn_TurnRoundOp : Qn_PureOp<"turn_round">' in files["dsl/dialect/KernelOps.td"]


REFUSED = {
    ("pass", "Bad_Name"): "no name in kebab-case",
    ("op", "fold constants"): "no name in kebab-case",
    ("kernel", "../x"): "no name in kebab-case",
    ("diagnostic", "too-odd"): "say whose it is: --stage",
    ("lit", "nope/my-test"): "begin with a stage",
    ("lit", "my-test"): "begin with a stage",
    ("lit", "qn/"): "begin with a stage",
    ("lit", "qn/roundtrip.mlir"): "lit-tests/qn/roundtrip.mlir exists",
    ("kernel", "activations"): "stdlib-kernels/activations.qn exists",
    ("kernel", "aten::silu"): "aten::silu has a kernel: stdlib-kernels/activations.qn:",
    ("kernel", "aten::nothing"): "torch has no overload aten::nothing",
    ("pass", "carry-nan"): "CarryNan.cpp exists",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused_leaves_nothing(
    words: tuple[str, ...], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(tree)
    assert skeleton.main(list(words)) == 1
    assert REFUSED[words] in capsys.readouterr().err
    assert contents(tree) == before
