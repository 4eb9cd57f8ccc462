"""A call compiles the variant of a kernel that its extents need, and no other code."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import quern
import torch
from quern._session import session

PRODUCT = """
rowwise {name}[T: Float](x: T[M, K], y: T[K, N]) -> T[M, N]:
    return sum(x * y over K)
"""
#: Products that run in different forms: large ones, one row, few rows, long sums.
SHAPES = [(300, 200, 260), (1, 256, 512), (2, 256, 512), (16, 40000, 24)]

PROCESS = """
import hashlib, sys, torch, quern
from quern._session import session
kernel = quern.compile({text!r}).product
shapes = {shapes!r}
for m, k, n in shapes:
    torch.manual_seed(m)
    x, y = torch.randn(m, k), torch.randn(k, n)
    made = kernel(x, y)
    torch.testing.assert_close(made.double(), x.double() @ y.double(), rtol=1e-4, atol=1e-2)
    print(hashlib.sha256(made.numpy().tobytes()).hexdigest())
counts = session().counters()
print(counts["compiles"], counts["disk_hits"])
"""


def product(name: str) -> quern.Module:
    return quern.compile(PRODUCT.format(name=name))


def compiles() -> int:
    return session().counters()["compiles"] + session().counters()["disk_hits"]


def given(m: int, k: int, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(m * k + n)
    return torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)


def check(kernel: object, shape: tuple[int, int, int]) -> None:
    x, y = given(*shape)
    made = kernel(x, y)  # type: ignore[operator]
    torch.testing.assert_close(made.double(), x.double() @ y.double(), rtol=1e-4, atol=1e-2)


def test_each_form_is_made_once_when_a_call_needs_it() -> None:
    kernel = product("forms_once").forms_once
    for shape in SHAPES:
        before = compiles()
        check(kernel, shape)
        assert compiles() - before == 1, shape
    before = compiles()
    for m, k, n in SHAPES:
        check(kernel, (m, k, n))
    # Extents that choose the same form.
    check(kernel, (301, 190, 250))
    assert compiles() == before


def test_a_kernel_without_choices_is_one() -> None:
    text = "rowwise alone[T: Float](x: T[*R, C]) -> T[*R, C]:\n    return x * x - x\n"
    kernel = quern.compile(text).alone
    before = compiles()
    for shape in [(3, 5), (1, 5000), (700, 3), (0, 4)]:
        x = torch.randn(shape)
        torch.testing.assert_close(kernel(x), x * x - x)
    assert compiles() - before == 1


def process(cache: Path, shapes: list[tuple[int, int, int]]) -> tuple[list[str], int, int]:
    """Hashes of the products in a process of its own, what it compiled, what it found."""
    text = PROCESS.format(text=PRODUCT.format(name="product"), shapes=shapes)
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "QUERN_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *hashes, made, found = done.stdout.split()
    return hashes, int(made), int(found)


def test_another_process_finds_each_form_on_disk(tmp_path: Path) -> None:
    first, made, found = process(tmp_path, SHAPES[:2])
    assert (made, found) == (2, 0)
    second, made, found = process(tmp_path, SHAPES[:3])
    assert (made, found) == (1, 2)
    assert second[:2] == first


def test_bits_do_not_depend_on_what_was_made_before(tmp_path: Path) -> None:
    forwards, _, _ = process(tmp_path / "forwards", SHAPES)
    backwards, _, _ = process(tmp_path / "backwards", SHAPES[::-1])
    assert forwards == backwards[::-1]


def test_a_lost_form_is_made_again(tmp_path: Path) -> None:
    """What chooses is on disk, and one of the forms is not."""
    whole, _, _ = process(tmp_path, SHAPES[:2])
    entries = sorted(tmp_path.rglob("*"), key=lambda path: path.stat().st_size)
    largest = [path for path in entries if path.is_file()][-1]
    largest.unlink()
    again, made, found = process(tmp_path, SHAPES[:2])
    assert again == whole
    assert (made, found) == (1, 1)


def test_threads_ask_for_different_forms() -> None:
    kernel = product("forms_of_threads").forms_of_threads
    failures: list[BaseException] = []

    def call(shape: tuple[int, int, int]) -> None:
        try:
            for _ in range(3):
                check(kernel, shape)
        except BaseException as failure:  # reported by the test's own thread
            failures.append(failure)

    before = compiles()
    threads = [threading.Thread(target=call, args=(shape,)) for shape in SHAPES * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    assert compiles() - before == len(SHAPES)


def test_extents_that_are_empty() -> None:
    kernel = product("forms_of_nothing").forms_of_nothing
    for m, k, n in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)]:
        assert torch.equal(kernel(torch.ones(m, k), torch.ones(k, n)), torch.zeros(m, n))


@pytest.mark.parametrize("rows", [1, 300])
def test_errors_name_their_place(rows: int) -> None:
    """A checked index in a form reports its own place, whatever else is compiled."""
    text = f"""
rowwise picked{rows}[T: Float](x: T[M, K], y: T[L, N], at: i64[K]) -> T[M, N]:
    return sum(x * y.at(L = at) over K)
"""
    kernel = getattr(quern.compile(text), f"picked{rows}")
    x, y = torch.randn(rows, 40), torch.randn(50, 64)
    at = torch.arange(40)
    torch.testing.assert_close(kernel(x, y, at), x @ y[:40], rtol=1e-4, atol=1e-3)
    at[7] = 50
    with pytest.raises(quern.Error, match="index 50 is out of range"):
        kernel(x, y, at)


#: Kernels that are made differently for calls with short rows or with small operands.
HINTED = {
    "columns": ("x: T[A, R, C]) -> T[A, C]:\n    return sum(x over R)", lambda x: x.sum(1)),
    "channels": (
        "x: T[A, R, C]) -> T[R]:\n    return sum(x * x over (A, C))",
        lambda x: (x * x).sum((0, 2)),
    ),
    "shares": (
        "x: T[A, R, C]) -> T[A, R, C]:\n    let e = exp(x)\n    return e / sum(e over C)",
        lambda x: x.softmax(-1),
    ),
    "scaled": (
        "x: T[A, R, C]) -> T[A, R, C]:\n    return x * exp(x.at(A = 0))",
        lambda x: x * x[:1].exp(),
    ),
}
SHORT, LONG, MANY = (70, 9, 5), (3, 40, 900), (900, 4, 33)


@pytest.mark.parametrize("order", [(SHORT, LONG, MANY), (MANY, LONG, SHORT), (LONG, SHORT, MANY)])
@pytest.mark.parametrize("name", HINTED)
def test_variants_of_one_kernel_share_its_schedule(
    name: str, order: tuple[tuple[int, ...], ...]
) -> None:
    """What the first call was like decides the schedule, for the forms of later calls too."""
    own = f"{name}{''.join(str(shape[0]) for shape in order)}"
    body, reference = HINTED[name]
    kernel = getattr(quern.compile(f"rowwise {own}[T: Float]({body}\n"), own)
    for shape in order:
        x = torch.randn(shape)
        torch.testing.assert_close(kernel(x), reference(x), rtol=1e-4, atol=1e-3)


CROWDED = """
import random, sys
sys.path.insert(0, {folder!r})
import quern, test_variants, torch
kernels = {{}}
for name, (body, reference) in test_variants.HINTED.items():
    module = quern.compile("rowwise " + name + "[T: Float](" + body + "\\n")
    kernels[name] = (getattr(module, name), reference)
numbers = random.Random(5)
for _ in range(30):
    kernel, reference = kernels[numbers.choice(sorted(kernels))]
    x = torch.randn(numbers.choice([test_variants.SHORT, test_variants.LONG, test_variants.MANY]))
    torch.testing.assert_close(kernel(x), reference(x), rtol=1e-4, atol=1e-3)
print("done")
"""


@pytest.mark.parametrize("kernels", [1, 3])
def test_kernels_that_are_dropped_and_made_again(kernels: int) -> None:
    """A kernel may come back with another schedule, whose launches have other numbers."""
    done = subprocess.run(
        [sys.executable, "-c", CROWDED.format(folder=str(Path(__file__).parent))],
        env={**os.environ, "QUERN_CACHE_DIR": "-", "QUERN_MOST_KERNELS": str(kernels)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
