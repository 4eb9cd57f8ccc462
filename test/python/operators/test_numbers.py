"""Numbers beside tensors are taken in the type in which eager takes them: its own bits where the
operator is arithmetic, its value class everywhere. Eager says which type that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import quern
import torch
from aten_types import Row, admits, element_of, flat, overload
from number_cases import EXACT, LARGE_NUMBERS, NEAR, NUMBERS, OTHER_FORMS, ZERO_RANK, tensors
from quern._platform import numbers
from slices import matrix

Call = Callable[..., Any]
SMALL = (torch.float16, torch.bfloat16)
BOUNDS = {torch.float16: 4e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5}
TABLES: dict[str, dict[Any, Call]] = {
    "exact": EXACT,
    "rank 0": ZERO_RANK,
    "form": OTHER_FORMS,
    "near": NEAR,
}
CASES = {
    f"{table}-{'.'.join(key) if isinstance(key, tuple) else key}": call
    for table, calls in TABLES.items()
    for key, call in calls.items()
}


def cases(dtypes: Iterable[torch.dtype], quick: float) -> list[str]:
    names = [f"{name}-{str(dtype)[6:]}" for name in CASES for dtype in dtypes]
    return matrix("numbers", names, group=lambda case: case.rpartition("-")[0], quick=quick)


def results(value: Any) -> list[torch.Tensor]:
    return flat([value])


def eager(call: Call, number: float, args: tuple[torch.Tensor, ...]) -> list[torch.Tensor] | None:
    """Nothing where eager refuses the number."""
    try:
        return results(call(number, *args))
    except (IndexError, RuntimeError, ZeroDivisionError):
        return None


def singly(call: Call, number: float, args: tuple[torch.Tensor, ...]) -> list[torch.Tensor] | None:
    """Eager's results element by element: its loops over vectors treat some NaNs otherwise."""
    parts = [eager(call, number, tuple(each[i : i + 1] for each in args)) for i in range(48)]
    if any(part is None or any(one.numel() != 1 for one in part) for part in parts):
        return None
    return [torch.cat(list(each)) for each in zip(*[part or [] for part in parts], strict=True)]


def judge(name: str, ours: torch.Tensor, theirs: torch.Tensor, other: torch.Tensor) -> None:
    """Arithmetic has the bits of one of both; no function gives NaN or an infinity where eager has
    a number. Eager rounds between its own steps, and has more infinities."""
    if not theirs.is_floating_point():
        return torch.testing.assert_close(ours, theirs)
    if not name.startswith("near"):
        is_other = (ours == other) | (ours.isnan() & other.isnan())
        reference = torch.where(is_other, other, theirs)
        return torch.testing.assert_close(ours, reference, rtol=0, atol=0, equal_nan=True)
    bound = BOUNDS[theirs.dtype]
    both = theirs.isfinite() & other.isfinite()
    assert ours[both].isfinite().all()
    is_other = (ours - other).abs() < (ours - theirs).abs()
    nearer = torch.where(is_other, other, theirs)
    torch.testing.assert_close(ours[both], nearer[both], rtol=bound, atol=bound)
    is_infinite = theirs.isinf() & other.isinf()
    assert not ours[is_infinite].isnan().any()
    return None


def compare(name: str, dtype: torch.dtype, numbers: Iterable[float]) -> None:
    call, args = CASES[name], tensors(dtype)
    taken = [n for n in numbers if eager(call, n, args) is not None]

    def function(*args: torch.Tensor) -> list[Any]:
        return [call(n, *args) for n in taken]

    torch._dynamo.reset()
    found = torch.compile(function, backend="quern", fullgraph=True)(*args)
    for number, one in zip(taken, found, strict=True):
        theirs = results(call(number, *args))
        others = singly(call, number, args) or theirs
        for each in zip(results(one), theirs, others, strict=True):
            try:
                judge(name, *each)
            except AssertionError as error:
                raise AssertionError(f"{name} with {number}: {error}") from None


@pytest.mark.parametrize("case", cases(SMALL, quick=0.2))
def test_of_small_floats(case: str) -> None:
    name, _, kind = case.rpartition("-")
    compare(name, getattr(torch, kind), NUMBERS)


@pytest.mark.parametrize("case", cases([torch.float32], quick=0.1))
def test_beyond_f32(case: str) -> None:
    compare(case.rpartition("-")[0], torch.float32, LARGE_NUMBERS)


@pytest.mark.parametrize("case", cases(SMALL, quick=0.1))
def test_refused_as_eager_does(case: str) -> None:
    """A bound, a factor or a filling that the type cannot hold."""
    name, _, kind = case.rpartition("-")
    call, args = CASES[name], tensors(getattr(torch, kind))
    refused = [n for n in (*NUMBERS, *LARGE_NUMBERS) if eager(call, n, args) is None]
    for number in refused[:2]:
        with pytest.raises((RuntimeError, ZeroDivisionError)) as theirs:
            call(number, *args)
        torch._dynamo.reset()
        function = torch.compile(lambda *args, n=number: call(n, *args), backend="quern")
        with pytest.raises((RuntimeError, ZeroDivisionError)) as ours:
            function(*args)
        assert isinstance(ours.value, type(theirs.value))


DYNAMIC: dict[str, Call] = {
    "mul": lambda x, y, s: x * s,
    "div": lambda x, y, s: x / s,
    "add": lambda x, y, s: x + s,
    "mask": lambda x, y, s: (1 - (y > 0).to(x.dtype)) * s,
    "addcmul": lambda x, y, s: torch.addcmul(x, x, y, value=s),
    "lerp": lambda x, y, s: torch.lerp(x, y, s),
    "compare": lambda x, y, s: torch.where(x > s, x, y),
    "of a size": lambda x, y, s: x * (x.shape[0] * 0.1) / (x.shape[0] / 7),
}


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", DYNAMIC)
def test_numbers_of_the_call(name: str, dtype: torch.dtype) -> None:
    """Python floats that change from call to call, and numbers that sizes give."""
    torch._dynamo.reset()
    function = torch.compile(DYNAMIC[name], backend="quern", fullgraph=True, dynamic=True)
    for length, number in ((48, 0.3), (40, -1e9), (30, 70000.5), (20, 1e-8)):
        x, y, _ = (each[:length] for each in tensors(dtype))
        ours, theirs = function(x, y, number), DYNAMIC[name](x, y, number)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)


GRADIENTS: dict[str, Call] = {
    "mul": lambda x, y: x * 0.3 + y * -7e4,
    "div": lambda x, y: x / 70000 - y / 0.3,
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.3),
    "leaky": lambda x, y: torch.nn.functional.leaky_relu(x, 0.3) * y,
}


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, dtype: torch.dtype) -> None:
    """Classes are eager's, and values near it: its own steps are rounded."""

    def derived(function: Call) -> tuple[torch.Tensor, ...]:
        x, y = (t[t.isfinite() & (t.abs() < 200)][:24].requires_grad_() for t in tensors(dtype)[:2])
        return torch.autograd.grad(function(x, y), (x, y), torch.full_like(x, 0.7))

    torch._dynamo.reset()
    ours = derived(torch.compile(GRADIENTS[name], backend="quern", fullgraph=True))
    for one, other in zip(ours, derived(GRADIENTS[name]), strict=True):
        assert one.isfinite().equal(other.isfinite())
        bound = BOUNDS[dtype]
        torch.testing.assert_close(one, other, rtol=2 * bound, atol=bound, equal_nan=True)


ROWS: dict[str, list[Row]] = {}
for row in quern.operators():
    ROWS.setdefault(row["overload"].removeprefix("aten::"), []).append(row)


def parameter(row: Row, argument: str) -> str | None:
    """The element type of the parameter that takes an argument of the overload."""
    kinds = {name: kind for name, kind, is_compile_time in row["parameters"] if not is_compile_time}
    bound = dict(row["bindings"])
    sources = {left: right for left, right in row["bindings"] if left in kinds}
    for name, source in sources.items():
        if source == argument:
            return element_of(kinds[name])
    name = bound.get(argument, argument)
    if name not in kinds:  # the tensors stand in order
        schema = [each.name for each in overload(row["overload"])._schema.arguments]
        free = [each for each in kinds if each not in schema and each not in sources]
        left = [each for each in schema if each not in kinds and each not in bound]
        name = dict(zip(left, free, strict=False)).get(argument, "")
    return element_of(kinds[name]) if name in kinds else None


def takes(row: Row) -> bool:
    constraints = [kind for _, kind, is_compile_time in row["parameters"] if is_compile_time]
    return any(re.match(r"[A-Z]", c) and admits(c, torch.float16) for c in constraints[:1])


def rounds(call: Call) -> bool | None:
    """Whether eager rounds the number to 16 bits first; nothing where that makes no difference
    or its steps are others."""
    is_rounded = is_wide = True
    for dtype in SMALL:
        args = tensors(dtype)
        wide = tuple(each.float() for each in args)
        for number in NUMBERS:
            theirs = eager(call, number, args)
            if theirs is None:
                continue
            rounded = torch.tensor(float(number)).to(dtype).item()
            for given in (rounded, number):
                models = eager(call, given, wide)
                same = models is not None and all(
                    torch.equal(one.to(other.dtype).nan_to_num(0.1), other.nan_to_num(0.1))
                    for one, other in zip(models, theirs, strict=True)
                )
                if given is rounded:
                    is_rounded = is_rounded and same
                else:
                    is_wide = is_wide and same
    return is_rounded if is_rounded != is_wide else None


# Where eager rounds otherwise from a later release on; the library follows the pinned one.
CHANGED = {("softshrink", "lambd"): (2, 14)}


@pytest.mark.parametrize("key", [*EXACT, *NEAR], ids=lambda key: ".".join(key))
def test_declared_as_eager_takes_it(key: tuple[str, str], request: pytest.FixtureRequest) -> None:
    """`T` where eager rounds the number to the tensors' type, a wider type where it does not."""
    if key in CHANGED and numbers(torch.__version__) >= CHANGED[key]:
        request.applymarker(pytest.mark.xfail(strict=True, reason="a later eager rounds it"))
    name, argument = key
    declared = next((parameter(row, argument) for row in ROWS.get(name, []) if takes(row)), None)
    is_rounded = rounds({**EXACT, **NEAR}[key])
    if declared is not None and is_rounded is not None:
        assert (declared == "T") == is_rounded, f"{name}: `{argument}` is declared `{declared}`"


# Arguments that are numbers and have no row above, with the reason.
OTHERS = {
    "integers only": r"bitwise_|__[lr]shift__",
    "it draws": r"bernoulli|cauchy|exponential|geometric|log_normal|native_dropout$|normal|uniform",
    "no tensor stands beside it": r"arange|linspace|\w+_window",
    "of sizes, not of elements": r"_?upsample_",
    "a factor of products in f32": r"\w*scaled_dot_product_",
    "statistics have f32": r"\w*batch_norm",
    "not for 16 bits": r"special_zeta|_[cp]dist_|histc|_?segment_reduce|fake_quantize",
    "lists in place": r"_foreach_|_fused_(adam|sgd)",
    "a number among a tensor's": r"bucketize|searchsorted",
}


def test_no_number_is_left_out() -> None:
    kinds = ("number", "float", "Optional[number]", "Optional[float]")
    found = {
        (name, argument.name)
        for name, rows in ROWS.items()
        for argument in overload(rows[0]["overload"])._schema.arguments
        if str(argument.type) in kinds
    }
    others = re.compile("|".join(f"(?:prims::)?(?:{each})" for each in OTHERS.values()))
    left = {key for key in found - EXACT.keys() - NEAR.keys() if not others.match(key[0])}
    assert not left
