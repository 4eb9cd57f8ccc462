"""What random programs found in schedules and code, as small kernels against PyTorch."""

from __future__ import annotations

import _quern
import pytest
import quern
import torch
from targets import LEVELS, runnable

TARGETS = [runnable(name) for name in LEVELS]


def test_a_scan_that_a_reduction_walks_along_is_not_the_store_s() -> None:
    text = """
rowwise k(x: f32[C, B, A]) -> i32[B, A, E = size(C) + size(C)]:
    let v = u8(0) if bool(index(A)) else scan(max, u8(x) over A)
    let top = max(i32(x) over (A, C) where i64(v) < sum(i64(index(B)) over B))
    return concat(i32(x) + top, i32(index(C)) over C)
"""
    x = torch.arange(27.0).reshape(3, 3, 3)
    v = x.cummax(2).values.clone()
    v[:, :, 1:] = 0
    top = torch.where(v < 3, x, -torch.inf).amax((0, 2))
    own = (x + top[None, :, None]).permute(1, 2, 0)
    wanted = torch.cat([own, torch.arange(3.0).expand(3, 3, 3)], 2)
    assert torch.equal(quern.compile(text).k(x), wanted.int())


@pytest.mark.parametrize("include_self", [True, False])
def test_a_scatter_is_the_same_along_an_axis_that_its_values_have(include_self: bool) -> None:
    text = """
rowwise k[S: bool](x: i8[B, A], i: i64[M], y: i8[M]) -> i8[M, A, B]:
    return expand(scatter(x, at = (B = i), y, with = min, include_self = S) over M)
"""
    x = torch.arange(5, 14, dtype=torch.int8).reshape(3, 3)
    i = torch.tensor([0, 1, 1, 0, 1])
    y = torch.tensor([4, 9, 2, 7, 8], dtype=torch.int8)
    into = x.clone()
    rows = y[:, None].expand(5, 3)
    into.scatter_reduce_(0, i[:, None].expand(5, 3), rows, "amin", include_self=include_self)
    wanted = into.T.expand(5, 3, 3)
    assert torch.equal(quern.compile(text).k(x, i, y, S=include_self), wanted)


@pytest.mark.parametrize("name", ["largest", "smallest"])
def test_the_first_place_of_two_axes_in_whatever_order_they_lie(name: str) -> None:
    text = """
rowwise largest(x: f32[C, B, A]) -> i64[C]:
    return argmax(x over (A, B))

rowwise smallest(x: f32[C, B, A]) -> i64[C]:
    return argmin(x over (A, B))
"""
    x = torch.randint(0, 3, (4, 3, 130)).float()
    x[3, 1, 70] = x[3, 2, 30] = torch.nan
    flat = x.transpose(1, 2).reshape(4, -1)
    wanted = flat.argmax(1) if name == "largest" else flat.argmin(1)
    assert torch.equal(getattr(quern.compile(text), name)(x), wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sign_that_is_rounded_twice_needs_no_library(target: str) -> None:
    text = """
elementwise k(x: f16, y: f64) -> f16:
    return f16(copysign(y, f64(x) if x == x else f64(1)))
"""
    x = torch.tensor([1.0, -2.0, float("nan"), -0.0, 0.0] * 9).half()
    y = torch.linspace(-70000, 70000, 45, dtype=torch.float64)
    sign = torch.where(x.isnan(), torch.ones_like(x), x).double()
    k = _quern.Session(target=target).compile(text, "sign.qn").k
    assert torch.equal(k(x, y), torch.copysign(y, sign).float().half())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_small_floats_that_are_carried_along_need_no_library(
    target: str, dtype: torch.dtype
) -> None:
    text = """
rowwise k[T: Float](x: T[C, B]) -> f32[P = size(B), C]:
    return sum(f32(x.at(B = index(P) + w, outside = 3)) over w: 0 .. 3)
"""
    x = torch.tensor([1.5, -2.25, torch.nan, -0.0]).to(dtype)
    k = _quern.Session(target=target).compile(text, "carried.qn").k
    for strides in ((1, 0), (0, 0)):
        wide = x.as_strided((4, 20), strides)
        padded = torch.cat([wide.float(), torch.full((4, 2), 3.0)], 1)
        wanted = padded.unfold(1, 3, 1).sum(2).T
        torch.testing.assert_close(k(wide), wanted, rtol=0, atol=0, equal_nan=True)


ARMS = """
rowwise chosen(x: f32[N], i: i64[K]) -> f32[K]:
    if i >= 0:
        let v = x.at(N = i)
        return log(abs(v) + 1) + exp(v) * sin(v)
    return f32(i)

rowwise walked(x: f32[N], i: i64[K]) -> f32[K]:
    var place = i
    var sum = f32(0)
    while place < size(N) bound 100:
        sum += x.at(N = place)
        place += 3
    return sum
"""


def test_checks_of_lanes_that_do_not_take_an_arm() -> None:
    """A checked read in an arm that is worth a branch was an error for lanes of the other arm."""
    k = quern.compile(ARMS, "arms.qn")
    x, i = torch.rand(10), torch.tensor([1, 2, -3, 4, -7, 9, 0, 1, -1])
    v = x[i.clamp(min=0)]
    wanted = torch.where(i >= 0, (v.abs() + 1).log() + v.exp() * v.sin(), i.float())
    torch.testing.assert_close(k.chosen(x, i), wanted)
    i[5] = 10
    with pytest.raises(quern.Error, match="QN2050"):
        k.chosen(x, i)
    begins = torch.tensor([0, 1, 12, 9, 8, 3, 30, 5, 10])
    wanted = torch.stack([x[int(b) :: 3].sum() for b in begins])
    torch.testing.assert_close(k.walked(x, begins), wanted)
    with pytest.raises(quern.Error, match="QN2050"):
        k.walked(x, begins - 1)


GATHERED = """
rowwise largest[T: Real](x: T[*R, C]) -> T[*R]:
    return max(x over C)

rowwise running[T: Real](x: T[*R, C]) -> T[*R, C]:
    return scan(max, x over C)

rowwise handed(p: f32[V], m: bool[R, C, A], i: i64[R, C, A]) -> f32[R, C, A]:
    return 1 if m else largest[C = C](p.at(V = i))

rowwise handed_scan(p: f32[V], m: bool[R, C, A], i: i64[R, C, A]) -> f32[R, C, A]:
    return 1 if m else running[C = C](p.at(V = i))

rowwise named(p: f32[V], m: bool[R, C, A], i: i64[R, C, A]) -> f32[R, C, A]:
    var result: f32 = 1
    if not m:
        let v = p.at(V = i)
        result = max(v over C)
    return result

rowwise computed(p: f32[V], m: bool[R, C, A], i: i64[R, C, A]) -> f32[R, C, A]:
    let square = p * p
    return 1 if m else largest[C = C](square.at(V = i, outside = 0.25))

rowwise changed(p: f32[V], m: bool[R, C, A], i: i64[R, C, A]) -> f32[R, C, A]:
    var result: f32 = 1
    if not m:
        var v = p.at(V = i)
        v = v + 0
        result = max(v over C)
    return result
"""


@pytest.mark.parametrize("name", ["handed", "handed_scan", "named", "computed", "changed"])
def test_an_arm_reduces_reads_of_lanes_that_do_not_take_it(name: str) -> None:
    """What an arm reads along an axis of its condition, a reduction along that axis takes whole."""
    p, m = torch.randn(6), torch.rand(3, 5, 4) < 0.5
    i = torch.randint(0, 6, m.shape)
    v = (p * p if name == "computed" else p)[i]
    made = v.cummax(1).values if name == "handed_scan" else v.amax(1, keepdim=True).expand(v.shape)
    kernel = getattr(quern.compile(GATHERED), name)
    assert torch.equal(kernel(p, m, i), torch.where(m, torch.ones(()), made))


COUNTED = """
fn halvings(x: f32) -> i32:
    var n: i32 = 0
    var v: f32 = x
    while v > 1.0 bound 64:
        v = v * 0.5
        n = n + 1
    return n

rowwise largest(x: i32[*R, C]) -> i32[*R]:
    return max(x over C)

rowwise named(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var result: i32 = 1
    if not m:
        var n: i32 = 0
        var v: f32 = x
        while v > 1.0 bound 64:
            v = v * 0.5
            n = n + 1
        result = max(n over C)
    return result

rowwise in_an_inner_arm(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var result: i32 = 1
    if not m:
        var n: i32 = 0
        if x > 1.0:
            n = halvings(x)
        result = max(n over C)
    return result

rowwise behind_a_return(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    if m:
        return 1
    var n: i32 = halvings(x)
    n = n + 0
    return max(n over C)

rowwise behind_the_arm(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var n: i32 = 0
    var taken: bool = false
    if not m:
        n = halvings(x)
        taken = true
    let most = max(n over C)
    return most if taken else 1

rowwise scanned(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var result: i32 = 1
    if not m:
        var n: i32 = halvings(x)
        n = n + 0
        result = scan(max, n over C)
    return result

rowwise handed(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var result: i32 = 1
    if not m:
        var n: i32 = halvings(x)
        n = n + 0
        result = largest[C = C](n)
    return result

rowwise elsewhere(x: f32[R, C], m: bool[R, C]) -> i32[R, C]:
    var result: i32 = 1
    if not m:
        var n: i32 = halvings(x)
        n = n + 0
        result = n.at(C = 0)
    return result
"""


@pytest.mark.parametrize(
    "name",
    [
        "named",
        "in_an_inner_arm",
        "behind_a_return",
        "behind_the_arm",
        "scanned",
        "handed",
        "elsewhere",
    ],
)
def test_loops_go_round_for_lanes_whose_values_others_take(name: str) -> None:
    """Lanes that do not take an arm give what its loops make of them to a reduction of others."""
    x, m = torch.rand(5, 37) * 1000, torch.rand(5, 37) < 0.7
    x[m] *= 1000
    n = x.log2().ceil().clamp(min=0).int()
    taken = {
        "scanned": n.cummax(1).values,
        "elsewhere": n[:, :1],
        "behind_the_arm": torch.where(m, 0, n).amax(1, keepdim=True),
    }.get(name, n.amax(1, keepdim=True))
    kernel = getattr(quern.compile(COUNTED), name)
    assert torch.equal(kernel(x, m), torch.where(m, 1, taken).int())


@pytest.mark.parametrize("returns", [63, 64, 130])
def test_a_loop_behind_as_many_returns_as_there_are(returns: int) -> None:
    early = "".join(f"    if x == {i}.0:\n        return {i}.5\n" for i in range(returns))
    text = f"""
rowwise halvings(x: f32[R, C]) -> f32[R, C]:
{early}    var n: f32 = 0
    var v: f32 = x
    while v > 1.0 bound 64:
        v = v * 0.5
        n = n + 1
    return max(n over C)
"""
    x = torch.arange(2.0 * returns + 8).reshape(2, -1)
    most = x.log2().ceil().clamp(min=0).amax(1, keepdim=True)
    kernel = quern.compile(text).halvings
    assert torch.equal(kernel(x), torch.where(x < returns, x + 0.5, most))


RETURNING = """
rowwise behind(x: f32[R, C]) -> f32[R, C]:
    if x > 2:
        return 1
    var n = x
    while n < 3 bound 64:
        n = n + 1
        if n < -100:
            return n
    return max(n over C)

rowwise written(x: f32[R, C], last: mut f32[R, C]) -> f32[R, C]:
    if x > 2:
        return 1
    var n = x
    while n < 3 bound 64:
        n = n + 1
        last = n
        if n > 2.5:
            return 7
    return max(n over C)

rowwise nested(x: f32[R, C]) -> f32[R, C]:
    var n = x
    for i in range(0, 40):
        if n > 20:
            return n + 100
        var m = n
        while m < f32(i) bound 64:
            m = m + 1
            if m > 30:
                return m + 200
        n = n + 1
    return -n
"""


def test_loops_that_return_behind_a_return() -> None:
    """They go round for lanes that had returned, whose results and stores stay what they were."""
    k = quern.compile(RETURNING, "returning.qn")
    x = torch.tensor([[-1.0, 2.5, -3.0], [-0.5, -0.25, 9.0]])
    assert torch.equal(k.behind(x), torch.tensor([[3.5, 1, 3.5], [9, 9, 1]]))
    last = torch.zeros_like(x)
    assert torch.equal(k.written(x, last), torch.tensor([[7.0, 1, 7], [7, 7, 1]]))
    assert torch.equal(last, torch.tensor([[3.0, 0, 3], [3.5, 2.75, 0]]))

    def nested(n: float) -> float:
        for i in range(40):
            if n > 20:
                return n + 100
            m, rounds = n, 0
            while m < i and rounds < 64:
                m, rounds = m + 1, rounds + 1
                if m > 30:
                    return m + 200
            n = n + 1
        return -n

    y = torch.tensor([[-30.0, -5, 0, 3, 19, 25, -100, -9.5]])
    assert k.nested(y)[0].tolist() == [nested(n) for n in y[0].tolist()]


def test_what_an_index_has_to_be_is_noted_without_lanes() -> None:
    """An error's record has room for one extent: all lanes' were written over what lies behind."""
    k = quern.compile(
        "rowwise f(x: f32[N, C, H, W], t: i64[N, H, W]) -> f32[N, C, H, W]:\n"
        "    let s = t if t == -100 else require(t, C)\n"
        "    return x if s == index(C) else 0\n"
    )
    for _ in range(3):
        with pytest.raises(quern.Error, match="index -9 is out of range for axis `C` of extent 3"):
            k.f(torch.ones(4, 3, 1, 1), torch.tensor([0, 1, -9, 2])[:, None, None])
