"""An `op` calls operators of torch by name: `extern`."""

from __future__ import annotations

import pytest
import quern
import torch

EXTERN = """
elementwise twice[T: Float](x: T) -> T:
    return 2 * x

op doubled_product[T: Float](a: T[M, K], b: T[K, N]) -> T[M, N]:
    return twice(extern "aten::mm"(twice(a), b))

op sorted[T: Float](x: T[N]) -> (T[N], i64[N]):
    return extern "aten::sort"[T, i64](x, dim = 0, descending = true)

op stacked[T: Float](xs: list[T[N]]) -> T[M, N]:
    return extern "aten::stack"[T](xs)

op few(x: f32[N]) -> f32[N]:
    return extern "aten::sort"(x)

op mistyped(x: f32[N]) -> f32[]:
    return extern "aten::argmax"(x)

elementwise plus(x: f32, y: f32) -> f32:
    return x + y

op unknown(x: f32[N]) -> f32[N]:
    return extern "aten::no_such_operator"(x)

op unnamed(x: f32[N]) -> f32[N]:
    return extern "quern_test::raises"[f32](x)

op emptied(x: f32[N], xs: list[f32[N]]) -> list[f32[N]]:
    let y = extern "quern_test::empties"[f32](x)
    return [plus(v, y) for v in xs]
"""


def test_extern_calls_torch() -> None:
    k = quern.compile(EXTERN)
    a, b = torch.randn(5, 7), torch.randn(3, 7).t()
    torch.testing.assert_close(k.doubled_product(a, b), 4 * (a @ b))
    values, places = k.sorted(a[0])
    assert torch.equal(values, a[0].sort(descending=True).values)
    assert torch.equal(a[0][places], values)
    assert torch.equal(k.stacked([a[0], a[1]]), a[:2])


def test_an_extern_whose_error_is_no_text() -> None:
    def raises(x: torch.Tensor) -> torch.Tensor:
        raise OSError("no file \udcff")

    with torch.library._scoped_library("quern_test", "DEF") as library:
        library.define("raises(Tensor x) -> Tensor")
        library.impl("raises", raises, "CPU")
        library.impl("raises", torch.empty_like, "Meta")
        with pytest.raises(quern.Error, match=r"`quern_test::raises`.*OSError.*no file") as raised:
            quern.compile(EXTERN).unnamed(torch.ones(3))
    assert "\n" not in str(raised.value)


def test_a_list_that_is_emptied_while_the_call_runs() -> None:
    x = torch.ones(1000)
    xs = [2 * x, 3 * x]
    others: list[torch.Tensor] = []

    def empties(x: torch.Tensor) -> torch.Tensor:
        xs.clear()
        others.extend(torch.zeros(1000) for _ in range(9))  # where those lay
        return x.clone()

    with torch.library._scoped_library("quern_test", "DEF") as library:
        library.define("empties(Tensor x) -> Tensor")
        library.impl("empties", empties, "CPU")
        library.impl("empties", torch.empty_like, "Meta")
        results = quern.compile(EXTERN).emptied(x, xs)
    assert [each.unique().tolist() for each in results] == [[3.0], [4.0]]


@pytest.mark.parametrize(
    ("name", "message"),
    [("few", "gives 2"), ("mistyped", "`i64`"), ("unknown", "torch has no such operator$")],
)
def test_extern_mistakes(name: str, message: str) -> None:
    with pytest.raises(quern.Error, match=message):
        getattr(quern.compile(EXTERN), name)(torch.randn(4))


@pytest.mark.parametrize(
    "symbol",
    [
        "aten::mm.op", "aten::mm.__class__", "aten::mm.default._schema", "aten::mm.no_overload",
        "aten::__class__", "aten::name", "load_library::name", "higher_order::cond", "os::system",
        "aten::_dir", "aten::mm._op", "mm", "aten::", "::mm", "",
    ],
)  # fmt: skip
def test_only_registered_operators_are_called(symbol: str) -> None:
    text = f'op named(x: f32[N]) -> f32[N]:\n    return extern "{symbol}"[f32](x)\n'
    with pytest.raises(quern.Error):
        quern.compile(text).named(torch.ones(3))


@pytest.mark.parametrize("symbol", ["aten::sin", "aten::sin.default", "prims::sin"])
def test_registered_operators_are_called(symbol: str) -> None:
    text = f'op named(x: f32[N]) -> f32[N]:\n    return extern "{symbol}"[f32](x)\n'
    x = torch.rand(3)
    torch.testing.assert_close(quern.compile(text).named(x), x.sin())
