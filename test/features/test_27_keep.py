"""Keep every stage of a kernel in the cache folder with its metadata: `QUERN_CACHE_KEEP=all`."""

from __future__ import annotations

import json
from pathlib import Path

from support import python

TEXT = """
import numpy, quern
k = quern.compile("elementwise kept[T: Float](x: T) -> T:\\n    return x * 2\\n")
k.kept(numpy.ones(5, dtype="float32"))
"""


def test_a_file_a_stage(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    python(TEXT, QUERN_CACHE_DIR=str(cache), QUERN_CACHE_KEEP="")
    assert not (cache / "stages").exists()
    # Also for a kernel that comes from the cache.
    for _ in range(2):
        python(TEXT, QUERN_CACHE_DIR=str(cache), QUERN_CACHE_KEEP="all")
    (folder,) = (cache / "stages").iterdir()
    kept = {path.suffix.removeprefix("."): path for path in folder.iterdir()}
    assert set(kept) == {"qn", "schedule", "loops", "llvm-dialect", "llvm", "asm", "obj", "json"}
    assert kept["obj"].read_bytes().startswith(b"\x7fELF")
    facts = json.loads(kept["json"].read_text())
    assert facts["kernel"] == "kept"
    assert folder.name == f"kept-{facts['hash']}"
    assert facts["target"]["triple"].startswith(("x86_64", "aarch64"))
    assert any(word["kind"] == "pointer" for word in facts["abi"]["words"])
