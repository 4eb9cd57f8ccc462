"""Code for AMD's GPUs waits for what it loads before it is used, on every way through it."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from emulator.waits import disassembled, read, unawaited
from slices import matrix
from tree import ROOT, build_dir

PROGRAM = build_dir() / "bin" / "quern"
AMD = ("gfx90a", "gfx942", "gfx1100", "gfx1201")
FILES = [
    ROOT / "test" / "emulator" / "schedules.qn",
    *sorted((ROOT / "test" / "kernels").glob("*.qn")),
]
WAITS = re.compile(r"^\ts_wait(?:cnt|_loadcnt|_dscnt|_kmcnt|_storecnt_dscnt|_idle)\S* .*\n", re.M)


def declarations() -> list[tuple[str, str]]:
    found = re.compile(r"^(?:elementwise|rowwise|kernel) (\w+)", re.MULTILINE)
    return [(path.stem, name) for path in FILES for name in found.findall(path.read_text())]


@functools.cache
def listing(family: str, name: str, target: str, *options: str) -> str:
    path = next(path for path in FILES if path.stem == family)
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "k.hsaco"
        words = [str(path), name, "--emit=hsaco", f"--target={target}", f"--output={image}"]
        subprocess.run([PROGRAM, "build", *words, *options], check=True)
        return disassembled(image)


CASES = matrix(
    "waits of AMD's code",
    [(f, n, t) for f, n in declarations() for t in AMD],
    group=lambda case: (case[0], case[2]),
    quick=0.2,
)


@pytest.mark.parametrize(("family", "name", "target"), CASES)
def test_every_value_is_awaited(family: str, name: str, target: str) -> None:
    text = listing(family, name, target)
    assert read(text)
    assert unawaited(text, target) == []


@pytest.mark.parametrize("target", AMD)
@pytest.mark.parametrize("name", ["gather", "columns"])
def test_a_wait_less_is_found(name: str, target: str) -> None:
    """Without its waits nothing of the code is right; without one of them something is not."""
    text = listing("schedules", name, target, "--types=T=f32")
    assert unawaited(text, target) == []
    assert len(unawaited(WAITS.sub("", text), target)) > 10
    waits = list(WAITS.finditer(text))
    less = [text[: w.start()] + text[w.end() :] for w in waits[:: max(1, len(waits) // 12)]]
    assert any(unawaited(one, target) for one in less)


SPLIT = """0000000000001000 <k>:
\tglobal_load_b32 v1, v0, s[2:3]  // 000000001000: EE05007C
\tds_load_b32 v2, v0  // 000000001004: D8340000
\t{wait}  // 000000001008: BFC00000
\tv_add_f32_e32 v3, {used}, v3  // 00000000100C: 06100508
\ts_endpgm  // 000000001010: BFB00000
"""


@pytest.mark.parametrize(
    ("wait", "used", "good"),
    [("s_wait_loadcnt 0x0", "v1", True), ("s_wait_loadcnt 0x0", "v2", False),
     ("s_wait_dscnt 0x0", "v2", True), ("s_wait_dscnt 0x0", "v1", False),
     ("s_wait_loadcnt_dscnt 0x1", "v1", True), ("s_wait_loadcnt_dscnt 0x1", "v2", False),
     ("s_wait_loadcnt_dscnt 0x100", "v2", True), ("s_wait_loadcnt_dscnt 0x100", "v1", False)],
)  # fmt: skip
def test_counters_of_the_twelfth_generation(wait: str, used: str, good: bool) -> None:
    found = unawaited(SPLIT.format(wait=wait, used=used), "gfx1201")
    assert (not found) == good, found
