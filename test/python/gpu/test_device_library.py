"""The C interface as an archive for GPUs uses it, here on tensors of the host."""

from __future__ import annotations

import contextlib
from pathlib import Path

import op_cases
import pytest
import torch
from device_library import Library, QuernError
from emulator.calls import chosen, options, subjects, variants
from emulator.declared import declared
from gpu_test import SkippedError, library_case, op_case, ways
from slices import matrix
from thread_meaning import host_warp
from tree import build_dir
from written import written_cases

TEXT = """
rowwise total[T: Float](x: T[R, C]) -> T[R]:
    return sum(x over C)

elementwise scaled[T: Float](x: T, factor: T) -> T:
    return x * factor

rowwise pick(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]
"""


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(threads=1, path=build_dir() / "lib" / "libquern.so")


def test_outputs_are_made(library: Library) -> None:
    module = library.compile(TEXT, "c.qn")
    x = torch.randn(5, 7).t()
    torch.testing.assert_close(module("total", x), x.sum(1))
    torch.testing.assert_close(module("scaled", x.bfloat16(), 2.0), x.bfloat16() * 2)


def test_errors_are_told(library: Library) -> None:
    module = library.compile(TEXT, "c.qn")
    with pytest.raises(QuernError, match=r"index 9 .* axis `N` of extent 4"):
        module("pick", torch.zeros(4), torch.tensor([1, 9]))
    with pytest.raises(QuernError, match="QN0109"):
        library.compile("fn f(x: Nope)", "c.qn")


WRITTEN = [name for name, _ in written_cases(None, "cpu", 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize("place", range(len(WRITTEN)), ids=WRITTEN)
def test_written_kernels_through_the_library(library: Library, place: int) -> None:
    """What `gpu-test` runs on a device."""
    _, case = list(written_cases(library, "cpu", host_warp()))[place]
    case()


@pytest.mark.parametrize(
    ("file", "name", "variant"),
    matrix("calls of a device's tests", ways(), group=lambda case: case[0], quick=0.02),
    ids=str,
)
def test_calls_that_a_device_is_to_make(
    library: Library, file: Path, name: str, variant: int
) -> None:
    """They are legal, and what they are compared with follows from their arguments."""
    try:
        library_case(library, file, name, variant, device="cpu")
    except SkippedError as error:
        if "the C interface" not in str(error):
            raise


@pytest.mark.parametrize("call", op_cases.calls(), ids=str)
def test_ops_that_a_device_is_to_run(library: Library, call: op_cases.Call) -> None:
    with contextlib.suppress(SkippedError):
        op_case(library, call, device="cpu")


def test_what_a_declaration_says() -> None:
    text = 'rowwise f[T: Float, K: {"a", "b"}](x: mut T[N, (G C), *S]?, n: int[*S], e: f64 = 1)\n'
    read = declared(text + "        -> (T[N, P = n[0]], T[*S]?):\n    return x\n", "f")
    assert read.types == {"T": "Float"}
    assert [chosen(read, variant) for variant in variants(read)] == [{"K": "a"}, {"K": "b"}]
    assert [p.typed.axes for p in read.parameters] == [[["N"], ["G", "C"], ["*S"]], [["*S"]], None]
    assert [p.typed.mutable for p in read.parameters] == [True, False, False]
    assert [p.default for p in read.parameters] == ["", "", "1"]
    assert [result.axes for result in read.results] == [[["N"], ["P"]], [["*S"]]]
    assert read.packs == ["S"]


def test_every_choice_is_made() -> None:
    text = "rowwise f[A: bool, M: bool[2], I: int, P: match p {0, inf, else}](p: f64, x: f32[N]):\n"
    read = declared(text, "f")
    made = [chosen(read, variant) for variant in variants(read)]
    assert [one["A"] for one in made] == [True, False, True]
    assert [one["M"] for one in made] == [(True, True), (True, False), (False, True)]
    assert [one["I"] for one in made] == [1, 2, 0]
    assert [options(read, variant)[0].split("P=")[1] for variant in variants(read)] == [
        "0",
        "inf",
        "else",
    ]
    given = [subjects(read, variant)["p"] for variant in variants(read)]
    assert given[:2] == [0, float("inf")]
    assert given[2] not in given[:2]
