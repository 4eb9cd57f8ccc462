"""Texts of `op`s that are called on the host and on an emulated device."""

SOURCE = """
elementwise plus[T: Number](x: T, y: T) -> T:
    return x + y

rowwise times[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return sum(a * b over K)

op chain[T: Float](a: T[M, K], b: T[K, N], c: T[N]) -> T[M, N]:
    let y = times(a, b)
    let z = plus(y, c)
    return plus(z, z)

op powers[T: Float](a: T[N, N], n: int) -> T[N, N]:
    var y = a
    for i in range(1, n):
        y = times(y, a)
    return y

op halves[T: Number](x: T[N, M]) -> T[M, N]:
    let t = x.permute(1, 0)
    return plus(t, zeros(T, (M, N)))

op kept[T: Number](x: T[A, B, C, D]) -> T[A, B, C, D]:
    let y = plus(x, zeros(T, (A, B, C, D)))
    return y.reshape(A * B, C * D).reshape(A, B, C, D)
"""

LISTS = """
elementwise step[T: Float](p: mut T, g: T, rate: T):
    p = p - rate * g

op sgd[T: Float](ps: list[mut T[*S]], gs: list[T[*S]], rate: T):
    each (p, g) in zip(ps, gs): step(p, g, rate)

rowwise total[T: Float](x: T[*S]) -> acc(T)[]:
    return sum(x over *S)

elementwise joined[T: Float](a: T, b: T) -> T:
    return a + b

op norm[T: Float](xs: list[T[*S]]) -> acc(T)[]:
    var all = zeros(acc(T))
    for x in xs:
        all = joined(all, total(x))
    return all

elementwise add_to[T: Float](y: mut T, x: T):
    y = y + x

op gathered[T: Float](xs: list[T[N]], start: T[N]) -> T[N]:
    let all = joined(start, start)
    each x in xs: add_to(all, x)
    return all

op many[T: Float](xs: list[T[*S]]) -> T[N]:
    return zeros(T, len(xs))
"""

HOST = """
rowwise holding(x: bool[N]) -> i64[]:
    return count(x over N)

rowwise ranks(x: bool[N]) -> i64[N]:
    return scan(sum, i64(x) over N, exclusive)

rowwise place(into: i64[K], x: bool[N], rank: i64[N]) -> i64[K]:
    return scatter(into, at = (K = rank), index(N), with = last, when = x)

op nonzero(x: bool[N]) -> i64[K]:
    let n = host(holding(x))
    return place(zeros(i64, n), x, ranks(x))

elementwise halve[T: Float](x: mut T):
    x = x / 2

rowwise top[T: Float](x: T[N]) -> T[]:
    return max(x over N)

op tamed[T: Float](x: mut T[N]):
    while host(top(x)) > 1 bound 100:
        halve(x)

op wrong(x: f32[N]) -> f32[N]:
    return zeros(f32, 3)
"""

VIEWS = """
elementwise turned[T: Float](x: T) -> T:
    return -x

op parts(x: c64[N]) -> f32[N, A]:
    return turned(x.view_as_real())

op complexes(x: f64[N, A]) -> c128[N]:
    return x.view_as_complex()

op diagonal[T: Float](x: T[N, N], n: int) -> T[N]:
    return turned(x.as_strided(n, N + 1))

op shifted[T: Float](x: T[N]) -> T[M, A]:
    return turned(x.as_strided((N - 2, 2), (1, 1), 1))

op doubles(x: f32[N], at: int) -> f64[M]:
    return turned(x.slice(0, at, at + 4).view_as[f64]())
"""

RETURNED = """
rowwise blocks[T: Float](x: T[*B, P, Q], k: int) -> T[*B, H = P // k, W = Q // k]:
    return sum(x.at(P = index(H) * k + i, Q = index(W) * k + j) over (i: 0 .. k, j: 0 .. k))

elementwise more[T: Float](x: T) -> (T, T):
    return x + 1, x + 2

elementwise doubled[T: Float](x: T) -> T:
    return x + x

op inner[T: Float](x: T[*B, P, Q], k: int) -> T[*B, H = P // k, W = Q // k]:
    if k > 1:
        return blocks(x, k)
    return doubled(x)

op outer[T: Float](x: T[*B, P, Q], k: int) -> T[*B, H = P // k, W = Q // k]:
    return inner(x, k)

op both[T: Float](x: T[*B, P, Q], k: int) -> (T[*B, H = P // k, W = Q // k], T[*B, P, Q]):
    let (_, y) = more(x)
    return inner(y, k), doubled(doubled(y))
"""
