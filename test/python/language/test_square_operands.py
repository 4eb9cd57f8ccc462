"""One axis for two dimensions of an operand: a square in kernels and ops, elsewhere a mistake."""

from __future__ import annotations

import numpy as np
import pytest
import quern
import torch
from emulator.amd import kernel_for
from slices import gpus
from tree import build_dir

SOURCE = """
kernel turned(x: f32[N, N], y: mut f32[N, N]):
    launch grid(N) block(8)
    for c in range(thread.x, N, 8):
        y[c, block.x] = x[block.x, c]

kernel both(x: f32[N, M, N], y: f32[M, M], z: mut f32[N, N]):
    launch grid(N) block(8)
    for c in range(thread.x, N, 8):
        var total = f32(0)
        for i in range(M):
            for k in range(M):
                total += x[block.x, i, c] * y[i, k]
        z[block.x, c] = total

kernel pack_twice(x: f32[*S], y: mut f32[*S, *S]):
    launch grid(1) block(1)
    pass

kernel beyond(x: f32[N, N], y: mut f32[N, N]):
    launch grid(1) block(1)
    y[0, 0] = x[0, N]

elementwise doubled(x: f32) -> f32:
    return x + x

op through(x: f32[N, N]) -> f32[N, N]:
    return doubled(x.transpose(0, 1))
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "squares.qn")


@pytest.mark.parametrize("n", [0, 1, 7, 20])
def test_squares_and_their_views(k: quern.Module, n: int) -> None:
    x = torch.randn(2 * n, n, 3)[::2, :, 1]
    for view in (x, x.t(), x.flip(0), torch.ones(1, 1).expand(n, n)):
        y = torch.zeros(n, n)
        k.turned(view, y)
        assert (y == view.t()).all()
        y = torch.zeros(n, 2 * n)[:, ::2]
        k.turned(view, y)
        assert (y == view.t()).all()
    assert (k.through(x) == 2 * x.t()).all()
    a, b, z = torch.randn(n, 4, n), torch.randn(4, 4), torch.zeros(n, n)
    k.both(a, b, z)
    torch.testing.assert_close(z, torch.einsum("nmo,mk->no", a, b))


def test_what_is_no_square(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match=r"QN2022.*axis `N` is 3 in `x` and 4 in `x`"):
        k.turned(torch.zeros(3, 4), torch.zeros(4, 3))
    with pytest.raises(quern.Error, match=r"QN2050.*index 5 is out of range for axis `N`"):
        k.beyond(torch.zeros(5, 5), torch.zeros(5, 5))


def test_a_pack_that_stands_twice(k: quern.Module) -> None:
    k.pack_twice(torch.zeros(2, 3), torch.zeros(2, 3, 2, 3))
    with pytest.raises(quern.Error, match=r"QN2022"):
        k.pack_twice(torch.zeros(2, 3), torch.zeros(2, 3, 3, 2))


@pytest.mark.parametrize("target", gpus("square operands"))
def test_on_a_gpu(tmp_path_factory: pytest.TempPathFactory, target: str) -> None:
    file = tmp_path_factory.mktemp("squares") / "squares.qn"
    file.write_text(SOURCE)
    program = build_dir() / "bin" / "quern"
    x = np.random.default_rng(1).standard_normal((20, 20)).astype("f4")
    y = np.zeros_like(x)
    kernel_for(program, file, "turned", target, ()).run([x, y])
    np.testing.assert_array_equal(y, x.T)
    a, z = np.ones((5, 3, 5), "f4"), np.zeros((5, 5), "f4")
    kernel_for(program, file, "both", target, ()).run([a, np.ones((3, 3), "f4"), z])
    np.testing.assert_array_equal(z, 9)


LIFTED = (
    "rowwise f(x: f32[N, N]) -> f32[N]:\n    return sum(x over N)\n",
    "rowwise f(x: f32[N]) -> f32[N, N]:\n    return x\n",
    "rowwise f(x: f32[*S, *S]) -> f32[*S]:\n    return x\n",
    "rowwise f(x: f32[(N N)]) -> f32[N]:\n    return x\n",
    "rowwise f(x: f32[(N M), N], M: int) -> f32[N]:\n    return sum(x over M)\n",
    "rowwise f(xs: list[f32[N, N]]) -> f32[N]:\n    return concat(xs over N)\n",
)


@pytest.mark.parametrize("text", LIFTED)
def test_lifted_text_names_an_axis_once(text: str) -> None:
    with pytest.raises(quern.Error, match=r"QN1204.*named twice"):
        quern.compile(text, "lifted.qn")


def test_the_diagonal_by_its_places() -> None:
    text = "rowwise f(x: f32[N, M]) -> f32[N]:\n    return x[index(N), index(N)]\n"
    x = torch.randn(4, 4)
    assert (quern.compile(text, "diagonal.qn").f(x) == x.diagonal()).all()


SPLIT = """
kernel grouped[T: Number](x: T[R, (G C)], y: mut T[R, (G C)], top: mut T[R, G], G: int):
    launch grid(R) block(8)
    for e in range(thread.x, G * C, 8):
        y[block.x, G * C - 1 - e] = x[block.x, e]
    for g in range(thread.x, G, 8):
        var total = T(0)
        for c in range(C):
            total += x[block.x, g * C + c]
        atomic_add(top[block.x, g], total)
"""


@pytest.mark.parametrize(
    ("element", "sizes"), [("float32", (3, 4, 5)), ("int16", (1, 1, 1)), ("float64", (2, 3, 0))]
)
def test_a_split_dimension_has_one_position(element: str, sizes: tuple[int, int, int]) -> None:
    r, g, c = sizes
    x = (np.random.default_rng(r).standard_normal((r, g * c)) * 9).astype(element)
    y, top = np.zeros_like(x), np.zeros((r, g), element)
    quern.compile(SPLIT, "split.qn").grouped(x, y, top, g)
    np.testing.assert_array_equal(y, x[:, ::-1])
    np.testing.assert_allclose(top, x.reshape(r, g, c).sum(2), rtol=1e-5)
