"""Wrong use from Python: a clear `quern.Error`, and nothing is written."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import _quern
import numpy as np
import pytest
import quern
import torch
from torch.autograd import forward_ad

SOURCE = """
elementwise add[T: Number](x: T, y: T) -> T:
    return x + y

elementwise scaled[T: Float](x: T, a: acc(T)) -> T:
    return T(x * a)

elementwise copied[T: Complex](x: T) -> T:
    return x

rowwise total(x: f32[M, K]) -> f32[M]:
    return sum(x over K)

rowwise repeated(x: f32[N], n: int) -> f32[N, M = n]:
    return expand(x over M)

rowwise take(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]

rowwise parts[M: bool[2]](x: f32[R, C]) -> (f32[R]?, f32[C]?):
    return sum(x over C) if const M[0] else none, sum(x over R) if const M[1] else none

rowwise folded(x: f32[*B, *S], s: int[*S]) -> f32[*B, *P = *S // s]:
    return sum(x.at(*S = *index(P) * s + *i) over (*i: 0 .. *s))

rowwise front(x: f32[*B, *S]) -> f32[*B]:
    return sum(x over *S)

rowwise pooled(x: f32[B, *S], s: int[*S]) -> f32[B, *P = *S // s]:
    return sum(x.at(*S = *index(P) * s + *i) over (*i: 0 .. *s))

op rows(xs: list[f32[N]]) -> list[f32[N]]:
    return [add(x, x) for x in xs]

op scaled_rows(xs: list[f32[R, C]], w: f32[C]) -> list[f32[R, C]]:
    return [add(x, w) for x in xs]

elementwise copies[K: int = 3](x: f32) -> f32:
    return x * f32(K)

op twice[T: Number](xs: list[T[*S]]) -> list[T[*S]]:
    return [add(x, x) for x in xs]
"""

A = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def k() -> Any:
    return quern.compile(SOURCE, "wrong.qn")


NO_TENSORS: dict[str, tuple[Any, str]] = {
    "objects": (np.array([1, None]), "format 'O'"),
    "texts": (np.array(["a"]), "no element type"),
    "other byte order": (A.astype(">f4"), "format '>f'"),
    "long double": (A.astype(np.longdouble), "format 'g'"),
    "records": (np.zeros(3, [("a", "f4")]), "no element type"),
    "dates": (np.zeros(3, "M8[s]"), "`x` cannot be read"),
    "a list": ([1.0, 2.0], "`x` must be a tensor, not list"),
    "a capsule": (torch.ones(4).__dlpack__(), "must be a tensor, not PyCapsule"),
    "no memory": (torch.ones(2, device="meta"), "`x` has no elements .* with `quern.op`"),
    "a traced value": (
        torch.fx.Proxy(torch.fx.Graph().placeholder("x")),
        "`x` must be a tensor, not Proxy",
    ),
    "masked": (
        torch.masked.masked_tensor(torch.ones(2), torch.ones(2, dtype=torch.bool)),
        r"`x` is masked, .* pass `x\.to_tensor\(0\)`",
    ),
    "sparse": (torch.eye(3).to_sparse(), r"`x` is sparse, .* pass `x\.to_dense\(\)`"),
    "another layout": (torch.eye(4).to_mkldnn(), r"laid out for oneDNN, .* pass `x\.to_dense\(\)`"),
    "nested": (
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        r"`x` is nested, .* pass `x\.values\(\)`",
    ),
    "nested without offsets": (
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        r"`x` is nested, .* pass `x\.to_padded_tensor\(0\)`",
    ),
    "quantized": (
        torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8),
        r"`x` is quantized, .* pass `x\.dequantize\(\)`",
    ),
    "a large number": (2**70, "must fit 64 bits"),
    "a text": ("a", "takes a tensor, not a string"),
}


@pytest.mark.parametrize("name", NO_TENSORS)
def test_what_is_no_tensor(k: Any, name: str) -> None:
    given, message = NO_TENSORS[name]
    with pytest.raises(quern.Error, match=message) as caught:
        k.add(given, A)
    assert isinstance(caught.value.diagnostics, list)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda f: torch.func.vmap(f),
    "grad": lambda f: torch.func.grad(lambda x: f(x).sum()),
    "functionalize": lambda f: torch.func.functionalize(f),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_of_a_kernel(k: Any, name: str) -> None:
    with pytest.raises(quern.Error, match=r"`x` has no elements .* with `quern\.op`"):
        TRANSFORMS[name](lambda x: k.add(x, x))(torch.ones(3, 4))


ARGUMENTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "too few": (lambda k: k.add(A), "not given `y`"),
    "too many": (lambda k: k.add(A, A, A), "takes 2 arguments, 3 are given"),
    "twice": (lambda k: k.add(A, x=A), "given `x` twice"),
    "two devices": (lambda k: k.add(A, torch.ones(2, device="meta")), "`y` has no elements"),
    "text for a number": (lambda k: k.scaled(A, "2"), "takes a number, not a string"),
    "fraction for an integer": (lambda k: k.repeated(A[0], 2.5), "`n` takes an integer"),
    "type of no element": (lambda k: k.add(A, A, T=torch.complex32), "`T` is torch.complex32"),
    "class for a type": (lambda k: k.add(A, A, T=np.float64), "`T` is a class; .* its name"),
    "elements of no type": (lambda k: k.copied(torch.ones(2, dtype=torch.complex32)), "complex32"),
    "tensor for a number": (lambda k: k.scaled(A, A), "`a` must be a number"),
    "number for a tensor": (lambda k: k.total(2.0), "takes a tensor, not a number"),
    "no list": (lambda k: k.twice(A), "must be a list of tensors"),
    "a number in a list": (lambda k: k.twice([A, 3]), "must be a tensor, not int"),
    "lists of two types": (lambda k: k.twice([A, A.astype("f8")]), "QN2011"),
    "too much memory": (lambda k: k.repeated(A[0], 2**44), "cannot be allocated"),
    "more than addresses": (lambda k: k.repeated(A[0], 2**61), "cannot be allocated|QN2036"),
    "an open pack": (lambda k: k.front(A), "QN2027"),
    "numbers for other axes": (
        lambda k: k.folded(np.ones((2, 3), "f4"), [2, 2, 2]),
        "QN2008|QN2021",
    ),
    "too few numbers": (
        lambda k: k.pooled(np.ones((1, 4, 4), "f4"), [2]),
        "`s` has 1 values?, must",
    ),
    "a fraction in a list": (lambda k: k.pooled(np.ones((1, 4), "f4"), [1.5]), "takes an integer"),
    "lists of matrices": (
        lambda k: k.rows([np.ones((2, 2), "f4")]),
        r"`xs\[0\]` has 2 axes, .* for 1",
    ),
    "no vector in a list": (lambda k: k.rows([A[0], A]), r"`xs\[1\]` has 2 axes, .* for 1"),
    "axis of a list": (
        lambda k: k.scaled_rows([A, A[:, :2]], A[0]),
        "axis `C` is 4 in .* and 2 in",
    ),
    "no tensor in a list": (lambda k: k.rows([A[0], None]), r"`xs\[1\]` must be a tensor"),
    "a misspelt name": (lambda k: k.scaled(A, alpha=2), "no parameter `alpha`, .* given `a`"),
    "a large number": (lambda k: k.repeated(A[0], 2**70), f"`n` is {2**70}, must fit 64 bits"),
    "a word for a number": (lambda k: k.copies(A, K="5"), "`K` takes an integer, not a string"),
    "a name that is no text": (lambda k: k.copies(A, **{"\ud800": 5}), "surrogates not allowed"),
    "a mask too long": (lambda k: k.parts(A, M=[True, False, True]), "QN2042"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wrong_arguments(k: Any, name: str) -> None:
    call, message = ARGUMENTS[name]
    with pytest.raises(quern.Error, match=message):
        call(k)


def test_python_sees_a_wrong_call_as_a_type_error(k: Any) -> None:
    with pytest.raises(TypeError, match="not given `y`"):
        k.add(A)


def test_python_sees_too_little_memory_as_no_type_error(k: Any) -> None:
    with pytest.raises(quern.Error, match="cannot be allocated") as caught:
        k.repeated(A[0], 2**44)
    assert not isinstance(caught.value, TypeError)


def test_marks_that_dlpack_does_not_tell(k: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    with pytest.raises(quern.Error, match=r"conjugated; call `\.resolve_conj\(\)`"):
        k.copied(z.conj())
    with pytest.raises(quern.Error, match=r"negated; call `\.resolve_neg\(\)`"):
        k.add(z.conj().imag, torch.ones(2))
    halves = quern.compile("elementwise same[T: Float](x: T) -> T:\n    return x\n")
    with pytest.raises(quern.Error, match=r"negated; call `\.resolve_neg\(\)`"):
        halves.same(z.to(torch.complex32).conj().imag)
    for view in (z.conj().imag[:, None], z.conj().imag[None], z[:1].conj().imag.reshape(1, 1)):
        with pytest.raises(quern.Error, match=r"negated; call `\.resolve_neg\(\)`"):
            halves.same(view)
    assert torch.equal(k.copied(z.conj().resolve_conj()), z.conj())
    assert torch.equal(k.add(z.imag, torch.ones(2)), z.imag + 1)


def test_a_tensor_that_requires_gradients_is_named() -> None:
    k = quern.compile("elementwise doubled(x: f32) -> f32:\n    return x * 2\n")
    w = torch.nn.Parameter(torch.ones(3))
    for x in (w, w * 2):
        with pytest.warns(UserWarning, match=r"`x` requires gradients.*pass `x\.detach\(\)`"):
            assert torch.equal(k.doubled(x), x.detach() * 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(quern.Error, match="requires gradients"):
                k.doubled(x)
            assert torch.equal(k.doubled(x.detach()), x.detach() * 2)
            with torch.no_grad():
                assert torch.equal(k.doubled(x), x * 2)
            with torch.inference_mode():
                assert torch.equal(k.doubled(w), w * 2)


def test_a_tensor_with_a_tangent_is_named() -> None:
    k = quern.compile("elementwise doubled(x: f32) -> f32:\n    return x * 2\n")
    x = torch.randn(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        k.doubled(x)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, torch.ones(3))
            with pytest.raises(quern.Error, match=r"`x` has a tangent.*unpack_dual\(x\)\.primal"):
                k.doubled(dual)
            primal = forward_ad.unpack_dual(dual).primal
            assert torch.equal(k.doubled(primal), x * 2)
    with forward_ad.dual_level(), pytest.warns(UserWarning, match="`x` has a tangent"):
        assert torch.equal(k.doubled(forward_ad.make_dual(x, x)), x * 2)


def test_a_kernel_within_a_function_that_derives_it() -> None:
    k = quern.compile("elementwise doubled(x: f32) -> f32:\n    return x * 2\n")

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(_context: Any, x: torch.Tensor) -> torch.Tensor:
            return k.doubled(x)

        @staticmethod
        def backward(_context: Any, *gradients: torch.Tensor) -> torch.Tensor:
            return k.doubled(gradients[0])

    w = torch.ones(3, requires_grad=True)
    Doubled.apply(w).sum().backward()
    assert w.grad is not None
    assert torch.equal(w.grad, torch.full((3,), 2.0))


def test_a_bad_index_is_shown_in_its_line(k: Any) -> None:
    with pytest.raises(quern.Error) as caught:
        k.take(A[0], np.array([1, 4]))
    assert str(caught.value).splitlines() == [
        "wrong.qn:18:14: error[QN2050]: `take`: index 4 is out of range for axis `N` of extent 4",
        "18 |     return x[i]",
        "   |              ^",
    ]


def test_nothing_is_written_by_a_call_that_fails(k: Any) -> None:
    memory = np.full(20, 7, np.float32)
    frozen = np.full((3, 4), 7, np.float32)
    frozen.flags.writeable = False
    calls: list[Callable[[], Any]] = [
        lambda: k.add(memory[:12], memory[:12], out=memory[4:16]),
        lambda: k.add(A, A, out=frozen),
        lambda: k.add(A, A, out=memory[:12]),
        lambda: k.add(A, A, out=memory.view(np.int32)[:12].reshape(3, 4)),
        lambda: k.add(A, A.astype("f8"), out=memory[:12].reshape(3, 4)),
        lambda: k.total(A[:, :2], out=memory[:4]),
    ]
    for call in calls:
        with pytest.raises(quern.Error):
            call()
    assert (memory == 7).all()
    assert (frozen == 7).all()


def test_numbers_of_other_libraries(k: Any) -> None:
    for number in (np.float32(2), np.int64(2), np.float16(2), torch.tensor(2.0), torch.tensor(2)):
        np.testing.assert_array_equal(k.scaled(A, number), A * 2)


def test_a_whole_float_is_an_integer(k: Any) -> None:
    assert k.repeated(A[0], 2.0).shape == (4, 2)


def test_truth_values_of_a_mask(k: Any) -> None:
    rows, absent = k.parts(A, M=[True, False])
    np.testing.assert_array_equal(rows, A.sum(1))
    assert absent is None
    absent, columns = k.parts(A, M="01")
    np.testing.assert_array_equal(columns, A.sum(0))
    assert absent is None


def test_a_list_of_numbers_says_the_rank_of_its_pack(k: Any) -> None:
    x = np.arange(48, dtype=np.float32).reshape(2, 4, 6)
    wanted = x.reshape(2, 2, 2, 2, 3).sum((2, 4))
    np.testing.assert_array_equal(k.folded(x, [2, 3]), wanted)


def test_empty_and_without_axes(k: Any) -> None:
    assert k.add(A[:0], A[:0]).shape == (0, 4)
    np.testing.assert_array_equal(k.total(A[:, :0]), np.zeros(3))
    one = np.ones((), np.float32)
    assert k.add(one, one).shape == ()
    assert k.twice([], T="f32") == []


TILES = """
kernel moved[COUNT: int](x: f32[N], y: mut f32[N]):
    launch grid(1) block(1)
    copy(y[0], x[0], COUNT)

kernel tiled[M: int, SHARE: int](x: f32[A, B], y: mut f32[A, B]):
    launch grid(1) block(target.warp_size)
    local own: f32[SHARE]
    load_tile(own, x[0, 0], M, 16)
    store_tile(y[0, 0], own, M, 16)
"""


@pytest.mark.parametrize(
    ("name", "constants", "code"),
    [
        ("moved", {"COUNT": 0}, "QN1333"),
        ("moved", {"COUNT": 1025}, "QN1333"),
        ("tiled", {"M": 20, "SHARE": 8}, "QN1334"),
        ("tiled", {"M": 16, "SHARE": 3}, "QN1335"),
        ("tiled", {"M": 16, "SHARE": 0}, "QN1336"),
        ("tiled", {"M": 16, "SHARE": 1 << 24}, "QN1345"),
        ("tiled", {"M": 16, "SHARE": 1 << 62}, "QN1345"),
    ],
)
def test_counts_given_by_parameters_are_checked(
    name: str, constants: dict[str, int], code: str
) -> None:
    x = torch.ones(2048) if name == "moved" else torch.ones(20, 20)
    y = torch.zeros_like(x)
    with pytest.raises(quern.Error, match=code) as caught:
        getattr(quern.compile(TILES), name)(x, y, **constants)
    assert caught.value.diagnostics[0]["code"] == code
    assert not y.any()


def test_code_of_another_machine_is_not_run() -> None:
    session = _quern.Session(cache="-", target="aarch64")
    module = session.compile("elementwise twice(x: f32) -> f32:\n    return x + x\n", "twice.qn")
    with pytest.raises(quern.Error, match="`aarch64` cannot run here: it is another"):
        module.twice(torch.ones(4))
