"""NumPy's arrays as they may come: every layout and flag is read as NumPy itself reads it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import quern
import torch

SOURCE = """
elementwise same[T: Any](x: T) -> T:
    return x

elementwise add[T: Number](x: T, y: T) -> T:
    return x + y
"""

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture(scope="module")
def k() -> quern.Module:
    return quern.compile(SOURCE, "arrays.qn")


def strided(array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def misaligned(kind: str) -> np.ndarray:
    """At an odd address."""
    size = np.dtype(kind).itemsize
    array = np.frombuffer(bytearray(3 * size + 1), kind, count=3, offset=1)
    array[:] = [1, 2, 3]
    return array


ARRAYS: dict[str, Callable[[], np.ndarray]] = {
    "without axes": lambda: np.array(2.5),
    "empty": lambda: A[:, :0],
    "in Fortran's order": lambda: np.asfortranarray(A),
    "transposed": lambda: A.transpose(2, 0, 1),
    "reversed": lambda: A[::-1, :, ::-2],
    "broadcast": lambda: np.broadcast_to(A[0], (5, 3, 4)),
    "a stride of its own at one element": lambda: strided(A, (1, 3), (7, 8)),
    "a stride of its own at none": lambda: strided(A, (0, 3), (7, 8)),
    "swapped twice": lambda: A.view(A.dtype.newbyteorder().newbyteorder()),
    "a subclass": lambda: A.view(type("Own", (np.ndarray,), {})),
    "as many axes as may be": lambda: np.ones((1,) * 31 + (3,)),
    **{f"misaligned {kind}": lambda kind=kind: misaligned(kind) for kind in ("f4", "i8", "c8")},
    **{
        f"of type {kind}": lambda kind=kind: np.arange(3).astype(kind)
        for kind in "?bhilqBHILQefdFD"
    },
}


@pytest.mark.parametrize("name", ARRAYS)
def test_is_read_as_it_lies(k: quern.Module, name: str) -> None:
    array = ARRAYS[name]()
    result = k.same(array)
    assert type(result) is np.ndarray
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize("name", ARRAYS)
def test_is_written_as_it_lies(k: quern.Module, name: str) -> None:
    wanted = ARRAYS[name]()
    if name == "broadcast":
        with pytest.raises(quern.Error, match="read-only"):
            k.same(wanted, out=wanted)
        return
    out = ARRAYS[name]().copy() if name.startswith("a stride") else ARRAYS[name]()
    out[...] = np.zeros(1, out.dtype)[0]
    given = wanted.astype(wanted.dtype, order="C", subok=False, copy=True)
    assert k.same(given, out=out) is out
    np.testing.assert_array_equal(out, given)


def test_arrays_that_numpy_will_not_let_be_written(k: quern.Module) -> None:
    x, warned = np.arange(4, dtype="f4"), np.zeros((3, 4), "f4")
    warned = np.broadcast_arrays(x, warned)[0]
    frozen = np.zeros(4, "f4")
    frozen.flags.writeable = False
    for out in (warned, frozen):
        with pytest.raises(quern.Error, match="QN2032"):
            k.same(out.copy(), out=out)
    assert not frozen.any()


def test_strides_of_parts_of_elements_are_named(k: quern.Module) -> None:
    records = np.zeros(4, [("a", "f4"), ("b", "i1")])
    with pytest.raises(quern.Error, match="stride of 5 bytes for items of 4"):
        k.same(records["a"])


def test_a_mask_is_not_overlooked(k: quern.Module) -> None:
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False], dtype=np.float32)
    with pytest.raises(TypeError, match=r"`x` is a masked array.*x\.filled"):
        k.same(masked)
    with pytest.raises(TypeError, match="masked array"):
        k.same(masked.data, out=masked)
    assert (k.same(masked.filled(0)) == [1, 0, 3]).all()


def test_more_axes_than_may_be(k: quern.Module) -> None:
    with pytest.raises(quern.Error, match="33 axes, at most 32"):
        k.same(np.ones((1,) * 33))


def test_a_type_is_no_array(k: quern.Module) -> None:
    for kind in (np.ndarray, torch.Tensor):
        with pytest.raises(quern.Error, match="must be a tensor, not"):
            k.same(kind)


def test_frameworks_in_turn(k: quern.Module) -> None:
    """The first argument says what the result is."""
    tensor, parameter = torch.from_numpy(A), torch.nn.Parameter(torch.ones(2, 3, 4), False)
    buffer = memoryview(A)
    for _ in range(3):
        assert isinstance(k.add(A, tensor), np.ndarray)
        assert isinstance(k.add(tensor, A), torch.Tensor)
        assert torch.equal(k.add(tensor, parameter), tensor + 1)
        np.testing.assert_array_equal(k.add(buffer, A), A + A)


def test_a_type_where_another_has_been(k: quern.Module) -> None:
    """Types come and go, and one may lie where a tensor's has been."""
    for _ in range(50):
        own = type("Own", (torch.Tensor,), {})
        assert torch.equal(k.same(torch.ones(2).as_subclass(own)), torch.ones(2))
        del own
        other = type("Other", (), {})
        with pytest.raises(quern.Error, match="must be a tensor, not Other"):
            k.same(other())
