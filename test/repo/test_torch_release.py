"""What `./dev test --torch VERSION` installs and runs."""

from __future__ import annotations

from tests import parse
from torch_release import environment_of, requirements, torch_tests
from tree import ROOT, tracked


def test_only_torch_differs() -> None:
    pinned = (ROOT / "python" / "requirements.txt").read_text().splitlines()
    made = requirements("2.14.1").splitlines()
    assert "torch==2.14.1" in made
    assert {line for line in pinned if not line.startswith("torch==")} < set(made)
    assert sum(line.startswith("torch==") for line in made) == 1


def test_environment_is_not_tracked() -> None:
    assert environment_of("2.14.1").parent == ROOT
    assert "/.venv*" in (ROOT / ".gitignore").read_text().splitlines()
    assert not [name for name in tracked() if name.startswith(".venv")]


def test_files() -> None:
    files = torch_tests()
    assert all((ROOT / name).exists() for name in files)
    for wanted in (
        "test/python/graphs/test_models.py",  # names torch.compile
        "test/python/operators/test_operators.py",  # through a helper that does
        "test/python/tools/test_docstrings.py",  # through docstrings
        "test/features/test_01_one_line.py",
    ):
        assert wanted in files
    for other in ("test/python/language/test_grammar.py", "test/python/language/test_kernels.py"):
        assert other not in files


def test_option() -> None:
    assert parse(["--torch", "2.14.1"]).runners == ["python"]
    assert parse([]).torch is None
