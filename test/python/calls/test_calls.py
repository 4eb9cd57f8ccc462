"""Calling compiled declarations from Python: frameworks, outputs, errors."""

import os
import re
import sys
import threading

import numpy as np
import pytest
import quern
import torch

SOURCE = """
elementwise scale[T: Float](x: T, y: T) -> T:
    return x * y + 1

rowwise sums[T: Float](x: T[*R, *C]) -> T[*R]:
    return sum(x over *C)

rowwise padded(x: f32[*S], before: int[*S], after: int[*S]) -> f32[*P = *S + before + after]:
    return x.at(*S = *index(P) - before, outside = 0)

rowwise scaled(x: f32[*S], by: f32, when: bool) -> f32[*S]:
    return x * by if when else x

rowwise centered(x: f32[N, (G C)], G: int) -> f32[N, (G C)]:
    return x - mean(x over C)

rowwise picked(x: f32[N, C], t: i64[N]) -> f32[N]:
    return x.at(C = t, when = t >= 0)

elementwise both[T: Number](x: T, y: T) -> (T, T):
    return x + y, x - y
"""


@pytest.fixture(scope="module")
def kernels():
    return quern.compile(SOURCE, "calls.qn")


def test_numpy_in_numpy_out(kernels):
    x = np.linspace(-3, 3, 1001, dtype=np.float32)
    result = kernels.scale(x, x)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, x * x + 1)


def test_torch_in_torch_out(kernels):
    x = torch.randn(7, 33, dtype=torch.float64)
    result = kernels.scale(x, x)
    assert isinstance(result, torch.Tensor)
    torch.testing.assert_close(result, x * x + 1, rtol=0, atol=0)


def _mapping_flags(address: int) -> list[str]:
    """The system's flags of the mapping that holds an address."""
    inside = False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                inside = begin <= address < end
            elif inside and line.startswith("VmFlags:"):
                return line.split()[1:]
    return []


@pytest.mark.skipif(
    not os.path.exists("/sys/kernel/mm/transparent_hugepage"), reason="no large pages here"
)
def test_a_large_result_lies_in_large_pages(kernels):
    x = torch.rand(16 << 20)
    result = kernels.scale(x, x)
    assert "hg" in _mapping_flags(result.data_ptr() + (4 << 20))
    torch.testing.assert_close(result, x * x + 1, rtol=0, atol=0)


def test_strided_and_broadcast_operands(kernels):
    x = torch.randn(6, 10, 4).permute(2, 0, 1)[:, ::2]
    y = torch.randn(3, 1)[:, 0].reshape(3, 1)
    torch.testing.assert_close(kernels.scale(x, y), x * y + 1, rtol=0, atol=0)


def test_several_outputs(kernels):
    x, y = torch.arange(5), torch.arange(5) * 3
    total, difference = kernels.both(x, y)
    assert torch.equal(total, x + y)
    assert torch.equal(difference, x - y)


def test_given_output_is_written_and_returned(kernels):
    x = torch.randn(4, 5)
    out = torch.full((5, 4), -1.0).t()
    assert kernels.scale(x, x, out=out) is out
    torch.testing.assert_close(out, x * x + 1, rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (1, 1)])
def test_small_shapes(kernels, shape):
    x = torch.ones(shape)
    assert torch.equal(kernels.scale(x, x), x * x + 1)


def test_other_dlpack_objects(kernels):
    class Wrapped:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **kwargs):
            return self.tensor.__dlpack__(**kwargs)

    x = torch.randn(9)
    result = kernels.scale(Wrapped(x), Wrapped(x))
    np.testing.assert_array_equal(np.asarray(result), (x * x + 1).numpy())


def test_where_two_packs_meet_one_is_given_its_number_of_axes(kernels):
    x = torch.randn(2, 3, 4, 5)
    for axes in range(5):
        wanted = x.sum(dim=list(range(4 - axes, 4))) if axes else x
        torch.testing.assert_close(kernels.sums(x, C=axes), wanted)


def test_lists_of_numbers_go_to_packs(kernels):
    x = torch.randn(3, 4)
    wanted = torch.nn.functional.pad(x, (2, 0, 1, 5))
    torch.testing.assert_close(kernels.padded(x, [1, 2], (5, 0)), wanted)
    with pytest.raises(TypeError, match="must hold numbers"):
        kernels.padded(x, ["1", 2], (5, 0))


@pytest.mark.parametrize("make", [np.float32, np.float64, np.array, torch.tensor, float])
def test_numbers_of_other_libraries(kernels, make):
    x = torch.randn(3, 4)
    torch.testing.assert_close(kernels.scaled(x, make(2.5), True), x * 2.5)
    torch.testing.assert_close(kernels.scaled(x, 2.5, np.bool_(False)), x)


@pytest.mark.parametrize("make", [np.array, torch.tensor, torch.Size])
def test_shapes_of_other_libraries(kernels, make):
    x = torch.randn(3, 4)
    wanted = torch.nn.functional.pad(x, (2, 0, 1, 5))
    torch.testing.assert_close(kernels.padded(x, [np.int64(1), 2], make([5, 0])), wanted)


def test_what_is_no_number_is_named(kernels):
    with pytest.raises(TypeError, match=r"`by` must be a number, not .*object"):
        kernels.scaled(torch.randn(3, 4), object(), True)


@pytest.mark.parametrize("bad", [1j, np.complex64(1), 1 + 0j])
def test_a_complex_number_is_no_real_one(kernels, bad):
    with pytest.raises(quern.Error, match=r"QN2006.*`by` takes f32, not a complex number"):
        kernels.scaled(torch.randn(3, 4), bad, True)


def test_a_parameter_gives_an_axis_its_extent(kernels):
    x = torch.randn(3, 12)
    groups = x.view(3, 4, 3)
    wanted = (groups - groups.mean(2, keepdim=True)).view(3, 12)
    torch.testing.assert_close(kernels.centered(x, 4), wanted)


def test_a_read_is_checked_only_where_it_happens(kernels):
    x = torch.randn(3, 4)
    found = kernels.picked(x, torch.tensor([2, -100, 0]))
    torch.testing.assert_close(found, torch.stack([x[0, 2], torch.tensor(0.0), x[2, 0]]))
    with pytest.raises(quern.Error, match="9"):
        kernels.picked(x, torch.tensor([2, -100, 9]))


def test_errors_carry_both_numbers_and_write_nothing(kernels):
    out = torch.full((3,), -1.0)
    with pytest.raises(quern.Error) as caught:
        kernels.scale(torch.ones(3), torch.ones(4), out=out)
    assert "3" in str(caught.value)
    assert "4" in str(caught.value)
    assert caught.value.diagnostics
    assert torch.equal(out, torch.full((3,), -1.0))


def test_a_read_only_output_is_refused(kernels):
    out = np.zeros(3, dtype=np.float32)
    out.flags.writeable = False
    x = np.ones(3, dtype=np.float32)
    with pytest.raises(quern.Error):
        kernels.scale(x, x, out=out)
    assert not out.any()


def test_wrong_dtype_and_missing_argument(kernels):
    with pytest.raises(quern.Error):
        kernels.scale(torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int32))
    with pytest.raises(TypeError, match="not given `y`"):
        kernels.scale(torch.ones(3))
    with pytest.raises(AttributeError, match="declares no `nothing`"):
        kernels.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="`scael`; did you mean `scale`"):
        kernels.scael  # noqa: B018


def test_a_mistake_in_the_text_is_rendered():
    with pytest.raises(quern.Error) as caught:
        quern.compile("elementwise f[T: Float](x: T) -> T:\n    return x + z\n", "mine.qn")
    text = str(caught.value)
    assert "mine.qn:2:16" in text
    assert "`z`" in text
    assert "^" in text


@pytest.mark.parametrize("width", [2064, 2061])
def test_rows_larger_than_the_caches(width):
    kernels = quern.compile(
        "rowwise shifted(x: f32[R, C], b: f32[C]) -> f32[R, C]:\n"
        "    return x + b\n\n"
        "rowwise other_way(x: f32[R, C]) -> f32[C, R]:\n"
        "    return x\n"
    )
    x, b = torch.randn(4112, width), torch.randn(width)
    out = torch.empty(4112, width + 48)[:, :width]
    torch.testing.assert_close(kernels.shifted(x, b), x + b, rtol=0, atol=0)
    kernels.shifted(x, b, out=out)
    torch.testing.assert_close(out, x + b, rtol=0, atol=0)
    torch.testing.assert_close(kernels.other_way(x), x.T.contiguous(), rtol=0, atol=0)


@pytest.mark.parametrize("width", [1040, 4112, 4100, 70000])
def test_rows_that_are_reduced_and_larger_than_the_caches(width: int) -> None:
    kernels = quern.compile(
        "rowwise center(x: f32[R, C]) -> f32[R, C]:\n"
        "    return x - max(x over C)\n\n"
        "rowwise both(x: bf16[R, C]) -> (bf16[R, C], f32[R]):\n"
        "    let m = max(x over C)\n"
        "    return x - m, f32(m)\n"
    )
    rows = (7 << 20) // width
    x = torch.randn(rows, width)
    most = x.amax(1, keepdim=True)
    torch.testing.assert_close(kernels.center(x), x - most, rtol=0, atol=0)
    out = torch.full((rows + 1, width + 16), 7.0)
    kernels.center(x, out=out[:-1, :width])
    torch.testing.assert_close(out[:-1, :width], x - most, rtol=0, atol=0)
    assert (out[:-1, width:] == 7).all()
    assert (out[-1] == 7).all()
    x = torch.cat([x, x]).bfloat16()
    ours, found = kernels.both(x)
    most = x.amax(1, keepdim=True)
    torch.testing.assert_close(ours, x - most, rtol=0, atol=0)
    torch.testing.assert_close(found, most[:, 0].float(), rtol=0, atol=0)


def test_what_a_function_says_of_itself() -> None:
    module = quern.compile(
        'elementwise half[T: Float](x: T, by: acc(T) = 2.0) -> T:\n    """x by a number."""\n'
        "    return T(x / by)\n\n"
        "rowwise ends(x: f32[R, C]) -> (f32[R], f32[R]):\n"
        "    return min(x over C), max(x over C)\n"
    )
    assert module.half.__doc__ == "half[T: Float](x: T, by: acc(T)) -> T\n\nx by a number."
    assert module.ends.__doc__ == "ends(x: f32[R, C]) -> (f32[R], f32[R])"
    assert repr(module) == "<quern module: half, ends>"


def order_of_two_threads(call, wait):
    """Who goes on first: another thread that waits for Python's lock, or the caller."""
    order, start = [], threading.Event()

    def other():
        start.wait()
        order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is asked to give the lock away
    try:
        start.set()
        call()
        order.append("caller")
    finally:
        sys.setswitchinterval(interval)
    thread.join(wait)
    return order


def test_others_run_during_long_calls_only():
    k = quern.compile(
        "elementwise turned(x: f32, n: int) -> f32:\n    var y = x\n    var i = 0\n"
        "    while i < n bound 100000000:\n        y = y * 0.5 + 1\n        i += 1\n    return y\n"
    )
    x, out = np.ones(16, np.float32), np.ones(16, np.float32)
    for _ in range(1000):  # once undisturbed is enough
        k.turned(x, 1, out=out)
    assert order_of_two_threads(lambda: k.turned(x, 1, out=out), 60) == ["caller", "other"]
    for _ in range(2):
        order = order_of_two_threads(lambda: k.turned(x, 10_000_000, out=out), 60)
        assert order == ["other", "caller"]


def test_calls_that_proved_brief_still_raise_and_are_dropped(kernels: quern.Module) -> None:
    """They read a binding where it lies: one that fails lets go of it, seventeen push it out."""
    x, out = torch.arange(12.0).reshape(3, 4), torch.empty(3)
    for _ in range(3):
        kernels.picked(x, torch.tensor([0, 1, 2]), out=out)
        with pytest.raises(quern.Error, match="out of range"):
            kernels.picked(x, torch.tensor([0, 9, 2]), out=out)
        for rows in range(4, 21):
            kernels.picked(x[:1].expand(rows, 4), torch.zeros(rows, dtype=torch.long))
    kernels.picked(x, torch.tensor([3, 2, 1]), out=out)
    assert out.tolist() == [3, 6, 9]
