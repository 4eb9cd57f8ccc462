"""`rubbish = 1` is an error in every place of the grammar that takes an argument."""

from __future__ import annotations

import json
import subprocess

import pytest

FORMS = {
    "index brackets": "rowwise f(x: f32[N]) -> f32[]:\n    return x[@]",
    "kernel index": "kernel f(y: mut f32[N]):\n    launch grid(1) block(1)\n    y[@] = 0",
    "at": "rowwise f(x: f32[N]) -> f32[]:\n    return x.at(N = 0, @)",
    "cast": "fn f(x: f64) -> f32:\n    return f32(@)",
    "type": "fn f[T: Float](x: acc(T)) -> f32:\n    return f32(x) * f32(bitwidth(@))",
    "builtin": "fn f(x: f32) -> f32:\n    return max(x, @)",
    "fma": "fn f(x: f32) -> f32:\n    return fma(x, x, @)",
    "call": "fn g(x: f32) -> f32:\n    return x\n\nfn f(x: f32) -> f32:\n    return g(@)",
    "compile-time": "fn g[N: int]() -> int:\n    return N\n\nfn f() -> int:\n    return g[@]()",
    "function": "fn f[G: fn(f32) -> f32](x: f32) -> f32:\n    return G(@)",
    "bitcast": "fn f(x: f32) -> i32:\n    return bitcast[@](x)",
    "bitcast operand": "fn f(x: f32) -> i32:\n    return bitcast[i32](@)",
    "range": "fn f(x: int) -> int:\n    for i in range(@): pass\n    return x",
    "reduction": "rowwise f(x: f32[N]) -> f32[]:\n    return sum(@ over N)",
    "reduction parameter": "rowwise f(x: f32[N]) -> f32[]:\n    return sum(x, @ over N)",
    "scan operand": "rowwise f(x: f32[N]) -> f32[N]:\n    return scan(sum, @ over N)",
    "scan reduction": "rowwise f(x: f32[N]) -> f32[N]:\n    return scan(@, x over N)",
    "scan option": "rowwise f(x: f32[N]) -> f32[N]:\n    return scan(sum, x over N, @)",
    "sort": "rowwise f(x: f32[N]) -> f32[N]:\n    return sort_by(@ over N)",
    "sort option": "rowwise f(x: f32[N]) -> f32[N]:\n    return sort_by(x over N, @)",
    "concat": "rowwise f(x: f32[N]) -> f32[P = 2 * N]:\n    return concat(x, @ over N)",
    "concat option": "rowwise f(x: f32[N]) -> f32[P = 2 * N]:\n    return concat(x, x over N, @)",
    "concat axis": "rowwise f(x: f32[N]) -> f32[P = 2 * N]:\n    return concat[@](x, x over N)",
    "scatter": "rowwise f(x: f32[N]) -> f32[N]:\n"
    "    return scatter(x, at = (N = 0), 1, with = sum, @)",
    "scatter at": "rowwise f(x: f32[N]) -> f32[N]:\n"
    "    return scatter(x, at = (N = 0, @), 1, with = sum)",
    "expand": "rowwise f(x: f32[N]) -> f32[N, C = N]:\n    return expand(@ over C)",
    "index": "rowwise f(x: f32[N]) -> i64[N]:\n    return index(@)",
    "size": "rowwise f(x: f32[N]) -> i64[]:\n    return size(@)",
    "present": "rowwise f(x: f32[N]?) -> f32[N]:\n    if const present(@):\n        return x\n"
    "    return 0",
    "kind": "fn f[T: Any](x: T) -> bool:\n    return is_float(@)",
    "target": "fn f() -> i64:\n    return target.vector_width(@)",
    "require": "fn f(x: f32) -> f32:\n    return require(x, x > 0, @)",
    "tuple": "fn f(x: f32) -> (f32, f32):\n    return (x, @)",
    "named tuple": "fn f(x: f32) -> (a: f32, b: f32):\n    return (a = x, @)",
    "all of a tuple": "fn f(x: f32) -> (f32, f32):\n    return (rubbish = x, other = x)",
    "pattern": "fn f(x: f32) -> f32:\n    let (a, b) = (x, @)\n    return a + b",
    "target of an assignment": "fn f(x: f32) -> f32:\n    var a = x\n    var b = x\n"
    "    (a, rubbish = b) = (x, x)\n    return a + b",
    "atomic": "kernel f(y: mut i32[N]):\n    launch grid(1) block(1)\n    atomic_add(y[0], 1, @)",
    "barrier": "kernel f(y: mut i32[N]):\n    launch grid(1) block(1)\n    barrier(@)",
    "shuffle": "kernel f(y: mut i32[N]):\n    launch grid(1) block(1)\n    y[0] = shuffle(y[0], @)",
    "copy": "kernel f(y: mut i32[N], x: i32[N]):\n    launch grid(1) block(1)\n"
    "    copy(y[0], x[0], @)",
    "empty": "op f(x: f32[N]) -> f32[M]:\n    return empty(f32, @)",
    "extents": "op f(x: f32[N]) -> f32[M, K]:\n    return zeros(f32, (N, @))",
    "full": "op f(x: f32[N]) -> f32[N]:\n    return full(f32, N, @)",
    "view": "op f(x: f32[N]) -> f32[N]:\n    return x.slice(0, 0, @)",
    "permute": "op f(x: f32[N, M]) -> f32[M, N]:\n    return x.permute((1, @))",
    "view type": "op f(x: f32[N]) -> i32[N]:\n    return x.view_as[@]()",
    "host": "op f(x: f32[]) -> f32[]:\n    return full(f32, (), host(@))",
    "len": "op f(x: list[f32[N]]) -> list[f32[N]]:\n    let n = len(@)\n    return x",
    "zip": "elementwise g(x: mut f32, y: f32):\n    x = y\n\n"
    "op f(xs: list[f32[N]], ys: list[f32[N]]):\n    each (x, y) in zip(xs, @): g(x, y)",
    "extern brackets": 'op f(x: f32[N]) -> f32[N]:\n    return extern "aten::relu"[@](x)',
}


def check(text: str) -> list[str]:
    done = subprocess.run(
        ["quern", "check", "--json", "-"], input=text, capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row["code"] for row in rows if row["severity"] == "error"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("star", ["", "*"])
def test_a_name_that_nothing_reads_is_an_error(form: str, star: str) -> None:
    text = (
        FORMS[form].replace("@", f"{star}rubbish = 1").replace("rubbish = b", f"{star}rubbish = b")
    )
    assert check(text + "\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "rowwise f(x: f32[N]) -> f32[]:\n    return x.at(N = 0, when = true, when = true)",
            "QN1011",
        ),
        ("rowwise f(x: f32[N]) -> f32[]:\n    return x.at(N = 0, N = 1)", "QN1204"),
        (
            (
                "rowwise f(x: f32[N]) -> f32[N]:\n"
                "    return scatter(x, at = (N = 0), at = (N = 1), 1, with = sum)"
            ),
            "QN1011",
        ),
        (
            (
                "rowwise f(x: f32[N]) -> f32[N]:\n"
                "    return scatter(x, at = (N = 0), 1, with = sum, with = last)"
            ),
            "QN1011",
        ),
        (
            (
                "fn g[T: Any](x: T) -> T:\n    return x\n\n"
                "fn f(x: f32) -> f32:\n    return g[T = f32, T = f32](x)"
            ),
            "QN1011",
        ),
        (
            (
                "fn g[T: Any](x: T) -> T:\n    return x\n\n"
                "fn f(x: f32) -> f32:\n    return g[f32, T = f32](x)"
            ),
            "QN1011",
        ),
    ],
)
def test_a_name_is_given_once(text: str, code: str) -> None:
    assert check(text + "\n") == [code]
