"""What a text requires is asked of each element that is computed, and of no other."""

from __future__ import annotations

import pytest
import quern
import torch

TEXT = """
const LEAST: f32 = require(0.5, 1 < 2, "one is not below two")

elementwise root[T: Float](x: T) -> T:
    return sqrt(require(x, x >= 0, "x is negative"))

elementwise phase[T: Complex](z: T) -> T:
    return require(z, abs(z) > 0, "z has no phase") * conj(z)

rowwise powers[T: Float](x: T[N, C], least: acc(T)) -> T[N]:
    let bound = require(least, least > 0, "the bound is not positive")
    return sum(log(require(x, x > 0, "x has no logarithm")) over C where x < bound)

rowwise columns(x: f32[N, C]) -> f32[C]:
    return sum(require(x, x > 0, "x is not positive") over N)

elementwise chosen(x: f32) -> f32:
    if x > 1:
        return log(require(x, x > 1, "what does not run"))
    let small = x < 0 and require(x, x < 0, "what is not asked") < -1
    return 1 if small else 0

elementwise halvings(x: f32) -> i32:
    var rest = x
    var count = i32(0)
    while rest > 1 bound 200:
        rest = require(rest, rest > 1, "it has left the loop") / 2
        count += 1
    return count

rowwise one_of(x: f32[N, C], i: i64[N], left: int) -> f32[N, C]:
    let at = i if i == left else require(i, C)
    return x if at == index(C) else 0

rowwise row_of(x: f32[N, C], i: int) -> f32[C]:
    return sum(x over N where index(N) == require(i, N))

kernel read_of(x: f32[N], y: mut f32[M], at: i64[M]):
    launch grid((M + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    if i < M:
        y[i] = f32(require(at[i], N))

op tail(x: f32[N], n: int) -> f32[M = N - n]:
    return x.slice(0, require(n, N), N)

kernel own(x: f32[N], y: mut f32[N], n: int):
    launch grid((N + 63) // 64) block(64)
    let i = block.x * 64 + thread.x
    let times = f32(require(n, n > 0, "n is not positive"))
    if i < N:
        y[i] = require(x[i], x[i] >= 0, "x is negative") * times

op front[T: Float](x: T[N], n: int) -> T[N]:
    let count = require(n, n <= N, "x is too short")
    return root(x.slice(0, 0, count))
"""


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(TEXT, "required.qn")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("n", [1, 3, 8, 17, 100])
def test_every_element(k: quern.Module, dtype: torch.dtype, n: int) -> None:
    x = torch.rand(n).to(dtype)
    torch.testing.assert_close(k.root(x), x.sqrt())
    for place in {0, n // 2, n - 1}:
        bad = x.clone()
        bad[place] = -1
        with pytest.raises(quern.Error, match=r"required.qn:5:17: .*QN2058.*`root`: x is negative"):
            k.root(bad)


def test_strided(k: quern.Module) -> None:
    x = torch.rand(6, 10)
    x[:, 1::2] = -1
    torch.testing.assert_close(k.root(x[:, ::2].t()), x[:, ::2].t().sqrt())
    x[4, 6] = -1
    with pytest.raises(quern.Error, match="QN2058"):
        k.root(x[:, ::2].t())


def test_complex(k: quern.Module) -> None:
    z = torch.tensor([3 + 4j, -2j])
    torch.testing.assert_close(k.phase(z), z * z.conj())
    with pytest.raises(quern.Error, match="z has no phase"):
        k.phase(z - z[0])


@pytest.mark.parametrize("n", [1, 7, 33, 3000])
def test_of_a_reduction_only_where_it_counts(k: quern.Module, n: int) -> None:
    x = torch.rand(5, n) + 0.5
    wanted = torch.where(x < 1, x.log(), 0).sum(1)
    torch.testing.assert_close(k.powers(x, 1.0), wanted, rtol=1e-5, atol=1e-5)
    x[3, n - 1] = 0
    with pytest.raises(quern.Error, match="x has no logarithm"):
        k.powers(x, 1.0)
    x[3, n - 1] = 9
    k.powers(x, 1.0)


def test_numbers(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match="the bound is not positive"):
        k.powers(torch.ones(2, 20), 0.0)


@pytest.mark.parametrize("shape", [(9, 5), (40, 64), (1000, 3)])
def test_along_columns(k: quern.Module, shape: tuple[int, int]) -> None:
    x = torch.rand(shape) + 0.1
    torch.testing.assert_close(k.columns(x), x.sum(0), rtol=1e-5, atol=1e-5)
    x[-1, -1] = 0
    with pytest.raises(quern.Error, match="x is not positive"):
        k.columns(x)


def test_nothing_is_asked_that_does_not_run(k: quern.Module) -> None:
    x = torch.tensor([0.5, 2.0, -3.0, 1.0, float("nan"), 4.0, -0.5, 8.0, 0.0])
    wanted = torch.where(x > 1, x.log(), (x < -1).float())
    torch.testing.assert_close(k.chosen(x), wanted)


def test_lanes_that_left_a_loop(k: quern.Module) -> None:
    x = torch.tensor([1.0, 2.0, 100.0, 0.0, 7.0, 1e30, 3.0, 4.0, 5.0])
    wanted = x.log2().ceil().clamp(min=0).int()
    assert k.halvings(x).tolist() == wanted.tolist()


@pytest.mark.parametrize("n", [1, 64, 100])
def test_threads(k: quern.Module, n: int) -> None:
    x, y = torch.rand(n), torch.zeros(n)
    k.own(x, y, 2)
    torch.testing.assert_close(y, x * 2)
    with pytest.raises(quern.Error, match="n is not positive"):
        k.own(x, y, 0)
    x[n - 1] = -1
    with pytest.raises(quern.Error, match="x is negative"):
        k.own(x, y, 2)


def test_on_the_host(k: quern.Module) -> None:
    x = torch.rand(5)
    torch.testing.assert_close(k.front(x, 5), x.sqrt())
    with pytest.raises(quern.Error, match=r"QN2071.*x is too short"):
        k.front(x, 6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (20, 16), (7, 100), (3000, 3)])
def test_positions(k: quern.Module, shape: tuple[int, int]) -> None:
    """An index that is out of range is said with its axis, in any lane."""
    x, i = torch.rand(shape), torch.randint(0, shape[1], shape[:1])
    wanted = x * torch.nn.functional.one_hot(i, shape[1])
    assert torch.equal(k.one_of(x, i, -100), wanted)
    for place, bad in ((0, -1), (shape[0] - 1, shape[1]), (shape[0] // 2, -(1 << 40))):
        wrong = i.clone()
        wrong[place] = bad
        found = bad if bad >= 0 else r"-\d+"
        text = f"QN2050.*index {found} is out of range for axis `C` of extent {shape[1]}"
        with pytest.raises(quern.Error, match=text):
            k.one_of(x, wrong, -100)
        wanted[place] = 0
        left = k.one_of(x, wrong, bad)
        assert torch.equal(left[place], wanted[place])


def test_positions_of_numbers_threads_and_hosts(k: quern.Module) -> None:
    x = torch.rand(4, 3)
    assert torch.equal(k.row_of(x, 2), x[2])
    with pytest.raises(quern.Error, match="index 4 is out of range for axis `N` of extent 4"):
        k.row_of(x, 4)
    y, at = torch.zeros(70), torch.arange(70) % 5
    k.read_of(x[:, 0].repeat(2)[:5], y, at)
    assert torch.equal(y, at.float())
    for bad in (5, -1):
        at[66] = bad
        with pytest.raises(
            quern.Error, match=f"index {bad} is out of range for axis `N` of extent"
        ):
            k.read_of(x[:, 0].repeat(2)[:5], y, at)
    assert torch.equal(k.tail(x[0], 1), x[0, 1:])
    with pytest.raises(quern.Error, match="index 3 is out of range for axis `N` of extent 3"):
        k.tail(x[0], 3)


def test_a_constant() -> None:
    with pytest.raises(quern.Error, match="one is not above two"):
        quern.compile('const N: i64 = require(1, 1 > 2, "one is not above two")', "constant.qn")


def test_in_a_graph() -> None:
    """A RuntimeError that names the line of the function, and all goes on."""
    root = quern.op(
        "requiretest::root", TEXT[TEXT.index("elementwise root") : TEXT.index("elementwise phase")]
    )

    def f(x: torch.Tensor) -> torch.Tensor:
        return root(x - 1) * 2

    compiled = torch.compile(f, backend="quern")
    torch.testing.assert_close(compiled(torch.full((4,), 5.0)), torch.full((4,), 4.0))
    with pytest.raises(RuntimeError, match="x is negative") as caught:
        compiled(torch.zeros(4))
    assert "requiretest::root" in str(caught.value)
    torch.testing.assert_close(compiled(torch.full((4,), 5.0)), torch.full((4,), 4.0))
