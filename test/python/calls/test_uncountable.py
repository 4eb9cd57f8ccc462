"""Shapes and strides beyond what 64 bits count, lists that change while they are read: errors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import quern
import torch

SOURCE = """
elementwise add[T: Number](x: T, y: T) -> T:
    return x + y

rowwise outer[T: Number](x: T[A], y: T[B]) -> T[A, B]:
    return x * y

rowwise least[T: Real](x: T[R, C]) -> T[R]:
    let _, y = sort_by(x, x over C)
    return y.at(C = 0)

op sums(xs: list[f32[*S]]) -> list[f32[*S]]:
    return [add(x, x) for x in xs]

op placed(x: f32[N], step: int) -> f32[A, B]:
    return add(x.as_strided((2, 2), (step, step)), x.slice(0, 0, 1))

op behind(x: f32[N], offset: int) -> f32[A]:
    return add(x.as_strided((2, ), (1, ), offset), x.slice(0, 0, 1))

op shaped(x: f32[N], a: int, b: int) -> f32[A, B]:
    return add(x.reshape(a, b), x.slice(0, 0, 1))

op stepped(x: f32[N], step: int) -> f32[M]:
    return add(x.slice(0, 0, N, step), x.slice(0, 0, 1))

op squares(x: f32[N], a: int) -> f32[A, B]:
    return add(zeros(f32, (a, a)), x.slice(0, 0, 1))

op widened(x: f32[N], a: int) -> f32[A, B]:
    return add(x.slice(0, 0, 1).expand(a, a), x.slice(0, 0, 1))
"""
X = torch.ones(16)
FAR = 2**32


@pytest.fixture(scope="module")
def k() -> Any:
    return quern.compile(SOURCE, "uncountable.qn")


def spread(*sizes: int) -> torch.Tensor:
    return torch.as_strided(torch.ones(1), sizes, (0,) * len(sizes))


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "elements of a result": (lambda k: k.add(spread(FAR, 1), spread(1, FAR)), "QN2036"),
    "elements of a row's result": (lambda k: k.outer(spread(FAR), spread(FAR)), "QN2036"),
    "bytes of an operand": (lambda k: k.add(spread(2**61), X[:1]), "QN2036"),
    "the last stride": (
        lambda k: k.add(np.lib.stride_tricks.as_strided(np.ones(1, "i1"), (2,), (-(2**63),)), 1),
        "QN2036",
    ),
    "strides both ways": (
        lambda k: k.add(
            np.lib.stride_tricks.as_strided(np.ones(1, "i1"), (2, 2), (2**62, -(2**62))), 1
        ),
        "QN2036",
    ),
    "strides of a view": (lambda k: k.placed(X, 2**60), "QN2072"),
    "strides that wrap": (lambda k: k.placed(X, 2**62), "QN2072"),
    "an offset that wraps": (lambda k: k.behind(X, 2**62), "QN2072"),
    "another offset": (lambda k: k.behind(X, 2**61), "QN2072"),
    "sizes that wrap": (lambda k: k.shaped(X, 16, 2**60 + 1), "QN2072"),
    "temporaries": (lambda k: k.squares(X, FAR), rf"QN2036.*f32\[{FAR}, {FAR}\]"),
    "a workspace": (lambda k: k.least(spread(1, 2**60 - 1)), "QN2051"),
    "a worker's workspace": (lambda k: k.least(spread(2, 2**57)), "QN2051"),
    "a spread view": (lambda k: k.widened(X, FAR), "QN2072"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_counted_is_refused(k: Any, name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(quern.Error, match=message):
        call(k)


def test_a_step_of_any_length(k: Any) -> None:
    x = torch.arange(16.0)
    for step in (15, 16, 2**62, 2**63 - 1):
        assert k.stepped(x, step).tolist() == x.tolist()[::step]  # torch's own would be empty


class Shortening:
    """A tensor that takes what stands behind it out of its list."""

    def __init__(self, owner: list[Any]) -> None:
        self.owner = owner

    def __dlpack__(self, **kwargs: Any) -> object:
        self.owner.clear()
        return torch.ones(3).__dlpack__()


def test_a_list_that_shrinks_while_it_is_read(k: Any) -> None:
    given: list[Any] = []
    given += [Shortening(given), np.ones(3, np.float32), np.ones(3, np.float32)]
    assert [y.tolist() for y in map(np.asarray, k.sums(given))] == [[2] * 3] * 3
    outs: list[Any] = []
    outs += [Shortening(outs), np.ones(3, np.float32)]
    x = np.ones(3, np.float32)
    k.sums([x, x], out=outs)


def test_a_version_of_dlpack_that_is_not_known(k: Any) -> None:
    capsule = torch.ones(3).__dlpack__(max_version=(1, 0))
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    major = ctypes.c_uint32.from_address(api.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))

    class Given:
        def __dlpack__(self, **kwargs: Any) -> object:
            return capsule

    major.value = 2
    try:
        with pytest.raises(quern.Error, match="version 2 of DLPack"):
            k.add(Given(), np.ones(3, np.float32))
    finally:
        major.value = 1
    assert np.asarray(k.add(Given(), np.ones(3, np.float32))).tolist() == [2] * 3
