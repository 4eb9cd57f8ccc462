"""Programs as a new user writes them: each against NumPy or PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import quern
import torch


def test_complex_numbers_of_any_width() -> None:
    k = quern.compile("""
elementwise unit[C: Complex](x: C) -> C:
    return complex(cos(re(x)), sin(re(x)))
rowwise dft[C: Complex](x: C[*B, N]) -> C[*B, K = N]:
    let a = -6.283185307179586 * real(C)(index(K) * index(N) % size(N)) / real(C)(size(N))
    return sum(x * complex(cos(a), sin(a)) over N)
rowwise spectrum[T: Float](x: T[N]) -> complex(T)[K = N]:
    let a = -6.283185307179586 * T(index(K) * index(N) % size(N)) / T(size(N))
    return sum(complex(x * cos(a), x * sin(a)) over N)
rowwise parts[T: Float](x: T[N], y: T[N]) -> (T[N], T[N]):
    let z = complex(x, y) * complex(y, x)
    return re(z), im(z)
""")
    z = torch.randn(3, 12, dtype=torch.complex128)
    torch.testing.assert_close(k.unit(z), torch.exp(1j * z.real))
    torch.testing.assert_close(k.dft(z), torch.fft.fft(z))
    torch.testing.assert_close(k.dft(z.to(torch.complex64)), torch.fft.fft(z.to(torch.complex64)))
    x, y = torch.randn(2, 12, dtype=torch.float64)
    torch.testing.assert_close(k.spectrum(x), torch.fft.fft(x))
    torch.testing.assert_close(k.spectrum(x.float()), torch.fft.fft(x.float()))
    w = torch.complex(x, y) * torch.complex(y, x)
    torch.testing.assert_close(k.parts(x, y), (w.real, w.imag))


FUNCTIONS = """
fn square[T: Number](x: T) -> T:
    return x * x
fn cube[T: Number](x: T) -> T:
    return x * x * x
fn product[T: Number](x: T, y: T) -> T:
    return x * y
elementwise twice[T: Float, F: fn(T) -> T = square](x: T, y: T) -> T:
    return F(x) + F(y)
"""


def test_a_function_by_default_and_by_name() -> None:
    k = quern.compile(FUNCTIONS)
    x, y = torch.randn(2, 9)
    torch.testing.assert_close(k.twice(x, y), x * x + y * y)
    torch.testing.assert_close(k.twice(x, y, F="cube"), x**3 + y**3)


@pytest.mark.parametrize("name", ["nothing", "product", "twice"])
def test_a_name_of_no_such_function(name: str) -> None:
    k = quern.compile(FUNCTIONS)
    with pytest.raises(quern.Error, match=f"QN2042[^\n]*`fn` of 1 operand, and `{name}` is none"):
        k.twice(torch.ones(3), torch.ones(3), F=name)


def test_a_file_that_is_saved_while_its_module_lives(tmp_path: Path) -> None:
    file = tmp_path / "k.qn"
    more = "".join(f"elementwise k{n}(x: f32) -> f32:\n    return x + {n}\n\n" for n in range(600))
    text = "rowwise at(x: f32[N], i: i64[M]) -> f32[M]:\n    return x[i]\n\n" + more
    file.write_text(text)
    k = quern.load(file)
    with file.open("r+") as saved:  # in place, as editors do
        saved.write("#" * len(text))
    assert k.k599(np.ones(3, np.float32)).tolist() == [600.0] * 3
    with pytest.raises(quern.Error, match=r"return x\[i\]"):
        k.at(np.ones(3, np.float32), np.array([7]))


def test_a_text_that_lies_in_two_folders(tmp_path: Path) -> None:
    """What is kept of the first serves the second; messages name the one that was loaded."""
    at = "rowwise at(x: f32[N], i: i64[M]) -> f32[M]:\n    return x[i]\n"
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        through = at.replace("at", "through").replace("x[i]", "far(x, i)")
        (folder / "k.qn").write_text(f"from part use far\n{at}\n{through}")
        (folder / "part.qn").write_text(at.replace("at", "far"))
        k = quern.load(folder / "k.qn")
        for name, place in (("at", "k.qn:3:14"), ("through", "part.qn:2:14")):
            with pytest.raises(quern.Error) as caught:
                getattr(k, name)(np.ones(3, np.float32), np.array([7]))
            message = str(caught.value)
            assert message.startswith(f"{folder / place}: error[QN2050]: `{name}`: ")
            assert "|     return x[i]\n" in message


def test_modules_in_files(tmp_path: Path) -> None:
    (tmp_path / "nn").mkdir()
    leaky = (
        "const SLOPE: f32 = {}\nfn leaky[T: Float](x: T) -> T:\n    return max(x, T(SLOPE) * x)\n"
    )
    (tmp_path / "slopes.qn").write_text(leaky.format(0.5))
    (tmp_path / "nn" / "block.qn").write_text(
        "from slopes use leaky as act\nelementwise block[T: Float](x: T) -> T:\n    return act(x)\n"
    )
    main = tmp_path / "main.qn"
    main.write_text(
        "from nn.block use block\nelementwise f[T: Float](x: T) -> T:\n    return block(x) + 1\n"
    )
    x = torch.randn(20)
    torch.testing.assert_close(quern.load(main).f(x), torch.maximum(x, x / 2) + 1)
    # Another text under the same name is other code.
    (tmp_path / "slopes.qn").write_text(leaky.format(0.25))
    torch.testing.assert_close(quern.load(main).f(x), torch.maximum(x, x / 4) + 1)
    main.write_text("from nn.nowhere use block\n")
    with pytest.raises(quern.Error, match="QN1004"):
        quern.load(main)


def test_flash_attention_by_hand() -> None:
    k = quern.compile("""
kernel flash[D: int = 32, BM: int = 16, BN: int = 16](q: f32[B, M, D], k: f32[B, N, D],
        v: f32[B, N, D], o: mut f32[B, M, D], scale: f32):
    launch grid(ceildiv(M, BM), B) block(BM)
    shared tk: f32[BN, D]
    shared tv: f32[BN, D]
    local out: f32[D]
    let row = block.x * BM + thread.x
    var m = -inf
    var l = f32(0)
    for d in range(D):
        out[d] = 0
    for n0 in range(0, N, BN):
        for i in range(thread.x, BN * D, BM):
            tk[i // D, i % D] = k.at(B = block.y, N = n0 + i // D, D = i % D, outside = 0)
            tv[i // D, i % D] = v.at(B = block.y, N = n0 + i // D, D = i % D, outside = 0)
        barrier()
        for n in range(BN):
            if n0 + n < N and row < M:
                var s = f32(0)
                for d in range(D):
                    s += q[block.y, row, d] * tk[n, d]
                s *= scale
                let top = max(m, s)
                let c = exp(m - top)
                let p = exp(s - top)
                l = l * c + p
                for d in range(D):
                    out[d] = out[d] * c + p * tv[n, d]
                m = top
        barrier()
    if row < M:
        for d in range(D):
            o[block.y, row, d] = out[d] / l
""")
    q, key, value = torch.randn(2, 37, 32), torch.randn(2, 45, 32), torch.randn(2, 45, 32)
    out = torch.empty(2, 37, 32)
    k.flash(q, key, value, out, 32**-0.5)
    expected = torch.nn.functional.scaled_dot_product_attention(q, key, value)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)


def test_bitonic_sort() -> None:
    k = quern.compile("""
kernel bitonic[T: Real, B: int = 256](x: mut T[R, N]):
    launch grid(R) block(B)
    shared s: T[B]
    let t = thread.x
    s[t] = x[block.x, t] if t < N else highest(T)
    barrier()
    var k = 2
    while k <= B:
        var j = k // 2
        while j > 0:
            let o = t ^ j
            if o > t:
                let up = (t & k) == 0
                let a = s[t]
                let b = s[o]
                if (a > b) == up:
                    s[t] = b
                    s[o] = a
            barrier()
            j //= 2
        k *= 2
    if t < N:
        x[block.x, t] = s[t]
""")
    rng = np.random.default_rng(1)
    for element, length, block in (("f4", 200, 256), ("i8", 60, 64), ("i1", 17, 32)):
        x = (rng.standard_normal((3, length)) * 50).astype(element)
        expected = np.sort(x, 1)
        k.bitonic(x, B=block)
        np.testing.assert_array_equal(x, expected)


def test_run_lengths() -> None:
    k = quern.compile("""
rowwise holding(x: bool[N]) -> i64[]:
    return count(x over N)
rowwise ranks(x: bool[N]) -> i64[N]:
    return scan(sum, i64(x) over N, exclusive)
rowwise pick[T: Any](into: T[K], x: T[N], m: bool[N], r: i64[N]) -> T[K]:
    return scatter(into, at = (K = r), x, with = last, when = m)
rowwise heads[T: Any](x: T[N]) -> bool[N]:
    return index(N) == 0 or x != x.at(N = max(index(N) - 1, 0))
rowwise lengths(start: i64[K], n: int) -> i64[K]:
    return (start.at(K = min(index(K) + 1, size(K) - 1)) if index(K) < size(K) - 1 else n) - start
rowwise places(h: bool[N]) -> i64[N]:
    return index(N)
op runs[T: Any](x: T[N]) -> (T[K], i64[K]):
    let h = heads(x)
    let n = host(holding(h))
    let r = ranks(h)
    let starts = pick(empty(i64, n), places(h), h, r)
    return pick(empty(T, n), x, h, r), lengths(starts, x.extent(0))
""")
    x = torch.randint(0, 3, (50,))
    torch.testing.assert_close(k.runs(x), torch.unique_consecutive(x, return_counts=True))


def test_a_selective_scan_and_experts() -> None:
    k = quern.compile("""
reduction recurrence[T: Float]:
    state: (a: T = 1, h: T = 0)
    step(s, a: T, b: T): (s.a * a, s.h * a + b)
    merge(s, t): (s.a * t.a, s.h * t.a + t.h)
    finish(s): s.h
rowwise selective[T: Float](u: T[B, L, D], delta: T[B, L, D], a: T[D, N], b: T[B, L, N],
        c: T[B, L, N], skip: T[D]?) -> T[B, L, D]:
    let dt = softplus(delta)
    let h = scan(recurrence, exp(dt * a), dt * b * u over L)
    return sum(h * c over N) + u * skip
rowwise experts[T: Float](x: T[N, D], w: T[E, D, F], i: i64[N, K], g: T[N, K]) -> T[N, F]:
    return sum(g * sum(x * w.at(E = i) over D) over K)
""")
    u, delta = torch.randn(2, 2, 20, 5)
    a, skip = -torch.rand(5, 4), torch.randn(5)
    b, c = torch.randn(2, 2, 20, 4)
    dt, h, rows = torch.nn.functional.softplus(delta), torch.zeros(2, 5, 4), []
    for t in range(20):
        h = torch.exp(dt[:, t, :, None] * a) * h
        h = h + dt[:, t, :, None] * b[:, t, None] * u[:, t, :, None]
        rows.append((h * c[:, t, None]).sum(-1) + u[:, t] * skip)
    expected = torch.stack(rows, 1)
    torch.testing.assert_close(k.selective(u, delta, a, b, c, skip), expected, atol=1e-5, rtol=1e-4)
    x, w, g = torch.randn(9, 5), torch.randn(6, 5, 7), torch.rand(9, 2)
    i = torch.randint(0, 6, (9, 2))
    expected = torch.einsum("nk,nd,nkdf->nf", g, x, w[i])
    torch.testing.assert_close(k.experts(x, w, i, g), expected, atol=1e-5, rtol=1e-4)


def test_graph_attention_scores() -> None:
    k = quern.compile("""
rowwise scores[T: Float](a: T[N], src: i64[E], dst: i64[E], low: T[N], zero: T[N]) -> T[E]:
    let s = a.at(N = src) + a.at(N = dst)
    let m = scatter(low, at = (N = dst), s, with = max)
    let e = exp(s - m.at(N = dst))
    let t = scatter(zero, at = (N = dst), e, with = sum)
    return e / t.at(N = dst)
rowwise spmv[T: Float](value: T[Z], col: i32[Z], ptr: i32[P], x: T[C]) -> T[R = P - 1]:
    let first = i64(ptr.at(P = index(R)))
    let last = i64(ptr.at(P = index(R) + 1))
    return sum(value.at(Z = j) * x.at(C = col.at(Z = j)) over j: first .. last)
""")
    a, src, dst = torch.randn(10), *torch.randint(0, 10, (2, 30))
    s = a[src] + a[dst]
    top = torch.full((10,), -torch.inf).scatter_reduce(0, dst, s, "amax")
    e = torch.exp(s - top[dst])
    expected = e / torch.zeros(10).index_add(0, dst, e)[dst]
    found = k.scores(a, src, dst, torch.full((10,), -torch.inf), torch.zeros(10))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    dense = torch.randn(13, 17) * (torch.rand(13, 17) < 0.3)
    rows, cols = dense.nonzero(as_tuple=True)
    ptr = torch.cat([torch.zeros(1), torch.bincount(rows, minlength=13).cumsum(0)]).int()
    x = torch.randn(17)
    found = k.spmv(dense[rows, cols], cols.int(), ptr, x)
    torch.testing.assert_close(found, dense @ x, atol=1e-5, rtol=1e-5)


OPTIONAL_RESULTS = """
rowwise by_flag[T: Float, ON: bool](x: T[N]) -> (T[N], T[N]?):
    return x, x * 2 if const ON else none
rowwise by_operand[T: Float](x: T[N], w: T[N]?) -> (T[N]?, T[N]):
    return x * w if const present(w) else none, x
rowwise by_mode[T: Float, MODE: {"one", "two"} = "one"](x: T[N]) -> (T[N], T[N]?):
    if const MODE == "one":
        return x, none
    return x, x * 3
rowwise by_type[T: Float](x: T[N]) -> (T[N], T[N]?):
    if const T == f32 or T == f16:
        return x, none
    return x, x * 4
rowwise alone[T: Float, ON: bool](x: T[N]) -> T[N]?:
    return x if const ON else none
op composed[T: Float](x: T[N]) -> (T[N], T[N]?):
    return by_flag[ON = false](x)
rowwise called[T: Float, K: int](x: T[N], w: T[N]?) -> (T[N], T[N]?):
    let (p, q) = chooses[K = K + 1](x, w)
    return p, q
rowwise chooses[T: Float, K: int = 2, MODE: {"one", "two"} = "one"](x: T[N], v: T[N]?)
        -> (T[N], T[N]?):
    if const K > 2 or MODE == "two" or T == f32:
        return x, x * 5
    return x, x * v if const present(v) else none
rowwise called_by_mode[T: Float](x: T[N]) -> (T[N], T[N]?):
    return chooses[MODE = "two"](x)
rowwise called_without[T: Float](x: T[N]) -> (T[N], T[N]?):
    return chooses(x)
"""


def test_results_that_are_none() -> None:
    k = quern.compile(OPTIONAL_RESULTS)
    x = np.arange(5.0)
    cases = [
        (k.by_flag(x, ON=True), (x, x * 2)),
        (k.by_flag(x, ON=False), (x, None)),
        (k.by_operand(x, x), (x * x, x)),
        (k.by_operand(x, None), (None, x)),
        (k.by_mode(x), (x, None)),
        (k.by_mode(x, MODE="two"), (x, x * 3)),
        (k.by_type(x), (x, x * 4)),
        (k.by_type(x.astype(np.float32)), (x, None)),
        ((k.alone(x, ON=True), k.alone(x, ON=False)), (x, None)),
        (k.composed(x), (x, None)),
        (k.called(x, None, K=1), (x, None)),
        (k.called(x, x, K=1), (x, x * x)),
        (k.called(x, None, K=2), (x, x * 5)),
        (k.called_by_mode(x), (x, x * 5)),
        (k.called_without(x), (x, None)),
        (k.called_without(x.astype(np.float32)), (x, x * 5)),
    ]
    for found, expected in cases:
        for one, other in zip(found, expected, strict=True):
            if other is None:
                assert one is None
            else:
                np.testing.assert_array_equal(one, other)


def test_a_result_that_may_be_none_by_the_target() -> None:
    text = """
rowwise k(x: f32[N]) -> (f32[N], f32[N]?):
    return x, x * 2 if const target.warp_size == 32 else none
"""
    with pytest.raises(quern.Error, match="QN1337"):
        quern.compile(text)
