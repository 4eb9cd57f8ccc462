"""A torch that the package does not fit: one warning, graphs run eagerly, kernels work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from quern import torch_names
from quern._platform import unmet_torch
from quern.torch_names import Row

BUILT = [(2, 13), (2, 14)]

PROGRAM = """
import sys, warnings
import numpy, torch
{change}
import quern

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for bias in (1.0, 2.0):
        f = torch.compile(lambda x, b=bias: torch.sin(x) * 2 + b, backend="quern")
        x = torch.arange(8.0)
        assert torch.equal(f(x), torch.sin(x) * 2 + bias)
    ours = [str(each.message) for each in caught if "quern" in str(each.message)]
    assert len(ours) == 1, ours
    assert ours[0].endswith("torch.compile runs graphs eagerly, through ATen"), ours

text = "elementwise double[T: Float](x: T) -> T:\\n    return x + x\\n"
assert (quern.compile(text).double(numpy.ones(3, "float32")) == 2).all()
header = "op product[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:"
product = quern.compile(header + '\\n    return extern "aten::mm"(a, b)\\n')
twos = numpy.full((2, 2), 2, "float32")
assert (product.product(twos, twos) == 8).all()
double = quern.op("tests::double", text)
assert torch.equal(double(x), x + x)
assert torch.equal(torch.compile(double, backend="quern")(x), x + x)
try:
    quern.explain(torch.sin, x)
except ImportError as error:
    assert str(error) in ours[0]
else:
    sys.exit("explain has nothing to explain")
print(ours[0])
"""
NEWER = 'torch.__version__ = "2.99.0"'
OLDER = 'torch.__version__ = "2.9.1"'
LACKING = """
import torch._dynamo
torch._dynamo.list_backends()  # Loads all that names it.
import torch._functorch._aot_autograd.runtime_wrappers as wrappers
del wrappers.SerializableCompiledFunction
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (NEWER, ["built for torch 2.", "this is torch 2.99.0"]),
        (OLDER, ["needs torch 2.13 or newer, this is 2.9.1"]),
        (LACKING, [" has no `torch._functorch", "runtime_wrappers.SerializableCompiledFunction"]),
    ],
    ids=["newer", "older", "lacking"],
)
def test_runs_eagerly(change: str, words: list[str], tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("{change}", change))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in words), done.stdout


def test_a_name_that_torch_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = (Row("torch._guards", "TracingContext.try_get Gone"), Row("torch._gone", "name.part"))
    monkeypatch.setitem(torch_names._ROWS, "graphs", graphs)
    torch_names.missing.cache_clear()
    try:
        said = torch_names.missing("graphs")
        assert "has no `torch._guards.Gone`, `torch._gone.name.part`, which quern" in said
        with pytest.raises(ImportError, match=r"no `torch\._guards\.Gone`"):
            torch_names.Gone  # noqa: B018
    finally:
        torch_names.missing.cache_clear()


@pytest.mark.parametrize("part", ["kernels", "graphs", "recording"])
def test_this_torch_has_all_names(part: str) -> None:
    assert torch_names.missing(part) == ""


def test_rows_hold_for_their_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        Row("torch._gone", "moved", last=(2, 12)),
        Row("torch._guards", "moved=TracingContext"),
        Row("torch._not_yet", "moved", first=(2, 99)),
    )
    monkeypatch.setattr(torch_names, "_ROWS", {"graphs": rows})
    from torch._guards import TracingContext

    try:
        assert torch_names.moved is TracingContext
    finally:
        vars(torch_names).pop("moved", None)


def test_members_that_only_objects_have() -> None:
    shapes = "torch.fx.experimental.symbolic_shapes"
    assert torch_names._is_there(shapes, ["ShapeEnv", "var_to_range"])
    assert not torch_names._is_there(shapes, ["ShapeEnv", "no_such_member"])


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.13.1", "2.14.1+cu130", "2.14.0a0+git12"])
def test_any_patch_of_a_release_that_is_built(version: str) -> None:
    assert unmet_torch(version, BUILT) == ""


@pytest.mark.parametrize(
    ("version", "built", "words"),
    [
        ("2.12.1", BUILT, "needs torch 2.13 or newer, this is 2.12.1"),
        ("2.15.0", BUILT, "built for torch 2.13 and 2.14 here, this is torch 2.15.0"),
        ("2.13.0", [], "was built without its PyTorch backend"),
    ],
)
def test_other_releases(version: str, built: list[tuple[int, int]], words: str) -> None:
    assert words in unmet_torch(version, built)


def test_a_release_after_all_that_are_known() -> None:
    assert unmet_torch("2.17.0", [*BUILT, (2, 17)]) == ""
