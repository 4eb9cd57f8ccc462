"""What tracing took for granted of sizes is looked at in every call, as eager does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import quern
import torch


@pytest.fixture(autouse=True)
def captured() -> Iterator[None]:
    torch._dynamo.reset()
    with torch._dynamo.config.patch(
        capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True
    ):
        yield


X = torch.arange(6.0)
FOUR, THREE, NONE = X > 1, X > 2, X > 9


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="quern", fullgraph=True, **options)


def counted(x: torch.Tensor, count: int) -> torch.Tensor:
    """Distinct numbers of which `count` are there."""
    return torch.tensor([float(i % count) for i in range(len(x))])


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "mask": (lambda x, m, y: x[m] + y, (X, FOUR, torch.ones(4)), (X, THREE, torch.ones(4))),
    "mask_later": (
        lambda x, m, y: (x[m] * 2).sin() + y,
        (X, FOUR, torch.ones(4)),
        (X, NONE, torch.ones(4)),
    ),
    "rows": (
        lambda x, m, y: x[m] + y,
        (torch.ones(6, 3), FOUR, torch.ones(4, 3)),
        (torch.ones(6, 3), THREE, torch.ones(4, 3)),
    ),
    "two_masks": (lambda x, m, n: x[m] + x[n], (X, FOUR, FOUR.clone()), (X, FOUR, THREE)),
    "masked_select": (
        lambda x, m, y: torch.masked_select(x, m) * y,
        (X, FOUR, torch.ones(4)),
        (X, THREE, torch.ones(4)),
    ),
    "unique": (
        lambda x, y: torch.unique(x) + y,
        (counted(X, 3), torch.ones(3)),
        (counted(X, 2), torch.ones(3)),
    ),
    "bincount": (
        lambda x, y: torch.bincount(x) + y,
        (torch.tensor([0, 1, 3]), torch.ones(4)),
        (torch.tensor([0, 1, 4]), torch.ones(4)),
    ),
    "nonzero": (
        lambda x, y: torch.nonzero(x).squeeze(1) + y,
        (FOUR, torch.ones(4)),
        (THREE, torch.ones(4)),
    ),
    "item": (
        lambda n, y: torch.zeros(n.sum().item()) + y,
        (torch.tensor([2, 2]), torch.ones(4)),
        (torch.tensor([2, 3]), torch.ones(4)),
    ),
    "view": (lambda x, m: x[m].view(2, -1) * 2, (X, FOUR), (X, THREE)),
    "product": (
        lambda x, m, y: x[m] @ y,
        (X, FOUR, torch.ones(4, 2)),
        (X, THREE, torch.ones(4, 2)),
    ),
    "cat": (
        lambda x, m, y: torch.cat([x[m], x]) + y,
        (X, FOUR, torch.ones(10)),
        (X, THREE, torch.ones(10)),
    ),
    "only_its_size": (
        lambda x, m, y: y.new_zeros(x[m].shape[0]) + y,
        (X, FOUR, torch.ones(4)),
        (X, THREE, torch.ones(4)),
    ),
    "split": (
        lambda n, y: torch.split(y, n.tolist())[0] * 2,
        (torch.tensor([2, 2]), torch.ones(4)),
        (torch.tensor([2, 3]), torch.ones(4)),
    ),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_sizes_known_only_when_running(name: str, dynamic: bool) -> None:
    function, good, bad = CASES[name]
    run = compiled(function, dynamic=dynamic)
    torch.testing.assert_close(run(*good), function(*good))
    with pytest.raises(RuntimeError):
        function(*bad)
    with pytest.raises(RuntimeError):
        run(*bad)
    torch.testing.assert_close(run(*good), function(*good))


@pytest.mark.parametrize("name", ["mask", "rows", "masked_select"])
def test_sizes_known_only_when_running_in_training(name: str) -> None:
    function, good, bad = CASES[name]
    run = compiled(function)

    def step(x: torch.Tensor, *rest: Any) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        [gradient] = torch.autograd.grad(run(leaf, *rest).sum(), [leaf])
        return gradient

    leaf = good[0].clone().requires_grad_()
    [wanted] = torch.autograd.grad(function(leaf, *good[1:]).sum(), [leaf])
    torch.testing.assert_close(step(*good), wanted)
    with pytest.raises(RuntimeError):
        step(*bad)


def test_the_table_has_what_torch_tags() -> None:
    from quern.torch_backend.decompositions.data_sizes import DATA_SIZES

    tags = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
    missing = []
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        packet, _, overload = name.removeprefix("aten::").partition(".")
        found = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if isinstance(found, torch._ops.OpOverload) and tags & set(found.tags):
            missing += [name] if found not in DATA_SIZES and not overload.endswith("out") else []
    # Those give a bool that Dynamo does not capture, or sizes that no kernel of theirs tells.
    known = {"allclose", "equal", "linalg_lstsq", "_ctc_loss", "_ctc_loss.Tensor"}
    assert {name.removeprefix("aten::") for name in missing} == known


def test_the_error_says_sizes_and_line() -> None:
    def function(x: torch.Tensor, m: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x[m] + y * 31

    run = compiled(function)
    run(X, FOUR, torch.ones(4))
    with pytest.raises(RuntimeError) as error:
        run(X, THREE, torch.ones(4))
    said = str(error.value)
    line = function.__code__.co_firstlineno + 1
    for part in ("aten::index.Tensor", "[3]", "[4]", f"test_checked_sizes.py:{line}"):
        assert part in said


def check_equal(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    z = x[m]
    torch._check(z.size(0) == 4)
    return z


def check_small(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    z = x[m]
    torch._check(z.size(0) < 5, lambda: "too many of them")
    return z * 2


def check_even(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    z = x[m]
    torch._check(z.size(0) % 2 == 0, lambda: "not even")
    return z * 2


def check_number(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    n = m.sum().item()
    torch._check(n == 4)
    return x * n


def check_two(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    n, k = m.sum().item(), (~m).sum().item()
    torch._check(n - k == 2, lambda: "no difference of 2")
    return x * n + k


@pytest.mark.parametrize(
    ("function", "bad", "message"),
    [
        (check_equal, THREE, ""),
        (check_small, X >= 0, "too many of them"),
        (check_even, THREE, "not even"),
        (check_number, THREE, ""),
        (check_two, THREE, "no difference of 2"),
    ],
)
def test_checks_of_the_user(function: Callable[..., Any], bad: Any, message: str) -> None:
    run = compiled(function)
    torch.testing.assert_close(run(X, FOUR), function(X, FOUR))
    with pytest.raises(RuntimeError, match=message):
        function(X, bad)
    with pytest.raises(RuntimeError, match=message):
        run(X, bad)


def test_both_numbers_are_said() -> None:
    run = compiled(check_small)
    run(X, FOUR)
    with pytest.raises(RuntimeError, match="< 5, not 6 and 5"):
        run(X, X >= 0)


def test_what_was_assumed_is_listed() -> None:
    [record] = quern.explain(check_even, X, FOUR).graphs
    even = record.assumptions
    [record] = quern.explain(lambda x, m, y: x[m] + y, X, FOUR, torch.ones(4)).graphs
    added = record.assumptions
    assert "== 0" in even
    assert "aten::index.Tensor" in added
    assert "f32[4]" in added


SIZES: dict[str, Callable[[int], Any]] = {
    "abs": lambda n: abs(n - 9),
    "round": lambda n: int(round(n * 1.37, 1) * 10),
    "round_down": lambda n: int(round(n * 12.5, -1)),
    "and": lambda n: n & 6,
    "or": lambda n: n | 8,
    "xor": lambda n: n ^ 5,
    "left": lambda n: n << 1,
    "right": lambda n: n >> 1,
    "sqrt": lambda n: int(math.sqrt(n) * 4),
    "sin": lambda n: int(math.sin(n) * 4) + 9,
    "cos": lambda n: int(math.cos(n) * 4) + 9,
    "tan": lambda n: int(abs(math.tan(n)) * 4) + 1,
    "sinh": lambda n: int(math.sinh(n / 4) * 4) + 1,
    "cosh": lambda n: int(math.cosh(n / 4) * 4),
    "tanh": lambda n: int(math.tanh(n / 4) * 9) + 1,
    "asin": lambda n: int(math.asin(1 / n) * 9) + 1,
    "acos": lambda n: int(math.acos(1 / n) * 9) + 1,
    "atan": lambda n: int(math.atan(n) * 9),
    "asinh": lambda n: int(math.asinh(n) * 9),
    "exp": lambda n: int(math.exp(n / 4)),
    "log": lambda n: int(math.log(n) * 9) + 1,
    "log2": lambda n: int(math.log2(n) * 9) + 1,
    "floor": lambda n: math.floor(n / 1.5),
    "ceil": lambda n: math.ceil(n / 1.5),
    "trunc": lambda n: math.trunc(n / 1.5),
    "power": lambda n: n**2 + 1,
    "mod": lambda n: n % 3 + 1,
    "max": lambda n: max(n, 6) - min(n, 4),
    "choice": lambda n: n * 2 if n > 5 else n + 1,
}


@pytest.mark.parametrize("name", SIZES)
def test_every_size_is_computed(name: str) -> None:
    """Of 5 and of 7, by one graph where torch makes one."""
    size = SIZES[name]

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x.new_ones(size(x.shape[0])) + x.sum()) * size(x.shape[0])

    run = compiled(function, dynamic=True)
    for n in (5, 7, 6, 12):
        x = torch.arange(float(n))
        torch.testing.assert_close(run(x), function(x))


PARTS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "select": lambda x, n: x.select(0, n),
    "row": lambda x, n: x[n],
    "narrow": lambda x, n: x.narrow(0, n, 2),
    "rows": lambda x, n: x[n : n + 2],
    "column": lambda x, n: x.t().select(0, n),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_whose_place_depends_on_data(name: str) -> None:
    part = PARTS[name]

    def function(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        number = n.item()
        torch._check(number >= 0)
        torch._check(number < 3)
        return part(x * 2, number).sin() + 1, part(x, number) * 3

    run = compiled(function)
    x = torch.arange(20.0).view(5, 4)
    for n in (0, 2, 1):
        torch.testing.assert_close(run(x, torch.tensor(n)), function(x, torch.tensor(n)))


MANY = {
    "sum": lambda n, k: n + k,
    "between": lambda n, k: abs(n - k) + 1,
    "decimal": lambda n, k: int(round(n / k, 1) * 10) + 1,
    "bits": lambda n, k: (n & k) | 1,
}


@pytest.mark.parametrize("name", MANY)
def test_sizes_of_data_are_computed(name: str) -> None:
    size = MANY[name]

    def function(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        n, k = m.sum().item(), x.shape[0]
        torch._check(n >= 1)
        torch._check(n <= 100)
        return x * size(n, k)

    run = compiled(function, dynamic=True)
    for mask in (FOUR, THREE):
        torch.testing.assert_close(run(X, mask), function(X, mask))
