"""Nothing that another user may have written is loaded: graphs are pickles, kernels are code."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OTHER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes files of another user")

TEXT = """
import json, torch, quern
x = torch.ones(4)
y = torch.compile(lambda x: x.sin() + 1, backend="quern")(x)
torch.testing.assert_close(y, x.sin() + 1)
counts = quern.counters()
print(json.dumps({"loaded": counts["loaded"], "disk": counts["disk_hits"]}))
"""


class Attack:
    """What an attacker's pickle does: leaves a file as a witness."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.witness),)


def run(folder: Path | str, **more: str) -> tuple[dict[str, int], str]:
    given = {
        **os.environ,
        "QUERN_CACHE_DIR": str(folder),
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "0",
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", TEXT],
        capture_output=True,
        text=True,
        timeout=300,
        env=given,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout)), done.stderr


def poison(graphs: Path, witness: Path) -> None:
    """Every entry becomes the attacker's pickle."""
    entries = [path for path in graphs.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        path.write_bytes(pickle.dumps(Attack(witness)))


def give_away(path: Path) -> None:
    for each in [path, *path.rglob("*")]:
        os.chown(each, OTHER, OTHER, follow_symlinks=False)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("warm") / "own"
    run(folder)
    counts, said = run(folder)
    assert counts == {"loaded": 1, "disk": 1}
    assert "warning" not in said.lower()
    return folder


@pytest.fixture
def own(warm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(warm, tmp_path / "own"))


def test_ones_own_entries_are_what_is_loaded(own: Path, tmp_path: Path) -> None:
    """The attack below is one: what this user wrote is trusted."""
    witness = tmp_path / "witness"
    poison(own / "graphs", witness)
    run(own)
    assert witness.exists()


def folder_of_another(own: Path, _: Path) -> None:
    give_away(own)


def graphs_of_another(own: Path, _: Path) -> None:
    give_away(own / "graphs")


def keys_of_another(own: Path, _: Path) -> None:
    for key in (own / "graphs").iterdir():
        give_away(key)


def entries_of_another(own: Path, _: Path) -> None:
    for key in (own / "graphs").iterdir():
        for entry in key.iterdir():
            give_away(entry)


def open_folder(own: Path, _: Path) -> None:
    own.chmod(0o777)


def open_graphs(own: Path, _: Path) -> None:
    (own / "graphs").chmod(0o775)


def open_keys(own: Path, _: Path) -> None:
    for key in (own / "graphs").iterdir():
        key.chmod(0o777)


def open_entries(own: Path, _: Path) -> None:
    for key in (own / "graphs").iterdir():
        for entry in key.iterdir():
            entry.chmod(0o666)


def link_to_graphs(own: Path, other: Path) -> None:
    shutil.move(own / "graphs", other)
    (own / "graphs").symlink_to(other)


def link_to_keys(own: Path, other: Path) -> None:
    for key in list((own / "graphs").iterdir()):
        other.mkdir()
        shutil.move(key, other / key.name)
        key.symlink_to(other / key.name)


def link_to_entries(own: Path, other: Path) -> None:
    other.mkdir()
    for key in (own / "graphs").iterdir():
        for entry in list(key.iterdir()):
            shutil.move(entry, other / entry.name)
            entry.symlink_to(other / entry.name)


def link_of_another(own: Path, other: Path) -> None:
    shutil.move(own, other)
    own.symlink_to(other)
    os.chown(own, OTHER, OTHER, follow_symlinks=False)


ATTACKS = [
    folder_of_another,
    graphs_of_another,
    keys_of_another,
    entries_of_another,
    open_folder,
    open_graphs,
    open_keys,
    open_entries,
    link_to_graphs,
    link_to_keys,
    link_to_entries,
    link_of_another,
]
# The whole cache is off there, and the user hears of it.
REFUSED = [
    folder_of_another, graphs_of_another, open_folder, open_graphs, link_to_graphs, link_of_another
]  # fmt: skip


@needs_root
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_others_may_have_written_is_not_loaded(
    own: Path, tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    witness = tmp_path / "witness"
    poison(own / "graphs", witness)
    attack(own, tmp_path / "other")
    counts, said = run(own)
    assert not witness.exists()
    assert counts["loaded"] == 0
    assert ("traced graphs are not cached" in said) == (attack in REFUSED), said


@needs_root
@pytest.mark.parametrize("attack", [folder_of_another, open_folder, link_of_another])
def test_kernels_of_others_are_not_loaded(
    own: Path, tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    attack(own, tmp_path / "other")
    counts, said = run(own)
    assert counts["disk"] == 0
    assert "kernels are not cached" in said


@needs_root
def test_another_user_may_not_lend_a_folder(tmp_path: Path) -> None:
    """Root made the folder for everybody: another user's process does not take it."""
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    for each in [tmp_path.parent, tmp_path]:
        each.chmod(0o755)
    text = f"""
import os
from quern.torch_backend import graph_folder
os.setgid({OTHER})
os.setuid({OTHER})
try:
    graph_folder.GraphFolder({str(own)!r})
except (OSError, graph_folder.ForeignFolderError) as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("refused:"), done.stderr


def test_torch_own_folder_is_not_used(tmp_path: Path) -> None:
    """It has a well-known name in the temporary folder: anybody may have made it."""
    torch_folder = tmp_path / "torch"
    torch_folder.mkdir()
    run(tmp_path / "own", TORCHINDUCTOR_CACHE_DIR=str(torch_folder))
    shutil.copytree(tmp_path / "own" / "graphs", torch_folder / "aotautograd")
    shutil.rmtree(tmp_path / "own")
    witness = tmp_path / "witness"
    poison(torch_folder / "aotautograd", witness)
    counts, _ = run(tmp_path / "own", TORCHINDUCTOR_CACHE_DIR=str(torch_folder))
    assert counts["loaded"] == 0
    assert not witness.exists()


def test_no_folder_no_cache(own: Path, tmp_path: Path) -> None:
    counts, said = run("-", TMPDIR=str(tmp_path), TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "torch"))
    assert counts == {"loaded": 0, "disk": 0}
    assert "warning" not in said.lower()
    assert not list(tmp_path.rglob("aotautograd"))


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
def test_graphs_lie_beside_kernels(tmp_path: Path, variable: str) -> None:
    given = {"XDG_CACHE_HOME": "", variable: str(tmp_path)}
    run("", **given)
    [graphs] = tmp_path.rglob("graphs")
    assert list(graphs.parent.glob("*.qno"))
    assert graphs.stat().st_mode & 0o777 == 0o700
    assert run("", **given)[0] == {"loaded": 1, "disk": 1}
