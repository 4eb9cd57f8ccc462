"""Random PyTorch programs of small floats: no NaN or infinity that eager has not, and values that
are as near to those of f64 as eager's own."""

from __future__ import annotations

import random
from typing import Any

import torch
from graph_runs import NotApplicableError, compare, function, outcome, ready
from random_graphs import NAMES, STEPS, Program, add_steps, results_of
from random_inputs import extents, tensors
from random_maker import Maker
from random_small_steps import SMALL_STEPS

TYPES = (torch.float16, torch.bfloat16, torch.float16, torch.bfloat16, torch.float32)
#: Of the largest value of a tensor; eager's own distance to f64 counts where it is more.
BOUNDS = {torch.float16: 8e-3, torch.bfloat16: 6e-2, torch.float32: 2e-4, torch.float64: 1e-9}


def make(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(seed)
    m = Maker(rng)
    for _ in range(rng.randint(1, 2)):
        m.input(tuple(rng.choices(NAMES[: rng.randint(1, 4)], k=rng.choice([1, 2, 2, 3]))))
    add_steps(m, STEPS + SMALL_STEPS * 2, rng.choice([2, 4, 7, 12]))
    return Program(m.inputs, m.lines, results_of(m))


def given(program: Program, sizes: dict[str, int], seed: int, dtype: torch.dtype) -> Any:
    """Operands laid out as the program says, of this type."""
    return [
        _as(t, dtype) if t.is_floating_point() else t
        for t in tensors(program.inputs, sizes, seed)
    ]  # fmt: skip


def _as(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor with the same strides and offset: its whole storage is cast."""
    size = tensor.untyped_storage().nbytes() // tensor.element_size()
    store = torch.as_strided(tensor, (size,), (1,), 0).to(dtype)
    return torch.as_strided(store, tensor.shape, tensor.stride(), tensor.storage_offset())


def differs(name: str, ours: Any, eager: Any, exact: Any) -> str:
    """How ours is worse than eager's, or nothing."""
    if ours is None or eager is None:
        other = ours if eager is None else eager
        return "" if other is None or not other.any() else f"{name}: one is missing"
    if (ours.shape, ours.dtype) != (eager.shape, eager.dtype):
        return f"{name}: {ours.shape} {ours.dtype}, eager has {eager.shape} {eager.dtype}"
    if eager.numel() == 0 or torch.equal(ours, eager):
        return ""
    if not eager.is_floating_point():
        # Comparisons of rounded numbers: what eager itself does not say in f64 is open.
        same = exact is not None and exact.shape == eager.shape and torch.equal(eager, exact)
        return f"{name}: other integers" if same else ""
    if not isinstance(exact, torch.Tensor) or exact.shape != eager.shape:
        return ""
    a, b, c = ours.double(), eager.double(), exact.double()
    certain = b.isfinite() & c.isfinite()
    if bad := int((certain & a.isnan()).sum()):
        return f"{name}: {bad} NaN where eager has a number"
    most = torch.finfo(eager.dtype).max
    if bad := int((certain & a.isinf() & (c.abs() < most * 0.9)).sum()):
        return f"{name}: {bad} infinities where eager has a number"
    a, b, c = a[certain & a.isfinite()], b[certain & a.isfinite()], c[certain & a.isfinite()]
    if not a.numel():
        return ""
    allowed = max(4 * (b - c).abs().max().item(), BOUNDS[eager.dtype] * b.abs().max().item(), 1e-7)
    worst = (a - c).abs().max().item()
    near = torch.minimum((a - b).abs(), (a - c).abs()).max().item()
    return "" if near <= allowed else f"{name}: off by {worst:.3g}, allowed {allowed:.3g}"


def in_double(
    program: Program, sizes: dict[str, int], seed: int, dtype: Any, gradient: bool
) -> Any:
    """The program with every type of floats f64, on operands that were rounded."""
    text = program.text()
    for word in (".to(torch.bfloat16)", ".to(torch.float16)", ".float()", ".half()", ".bfloat16()"):
        text = text.replace(word, "")
    values = [
        t.double() if t.is_floating_point() else t for t in given(program, sizes, seed, dtype)
    ]
    try:
        return outcome(function(text), ready(values, program, gradient), gradient)
    except (RuntimeError, IndexError, ValueError):
        return None


def check(
    program: Program, seed: int, dtype: torch.dtype, *, gradient: bool, dynamic: bool, backend: str
) -> str:
    torch._dynamo.reset()
    compiled = torch.compile(function(program.text()), backend=backend, dynamic=dynamic)
    for round_ in range(3 if dynamic else 1):
        sizes = extents(seed * 8 + round_, zero=round_ == 0)
        try:
            operands = ready(given(program, sizes, seed, dtype), program, gradient)
            wanted = outcome(function(program.text()), operands, gradient)
        except (RuntimeError, IndexError, ValueError, NotImplementedError) as error:
            if round_ == 0:
                raise NotApplicableError(str(error)) from error
            continue
        operands = ready(given(program, sizes, seed, dtype), program, gradient)
        try:
            ours = outcome(compiled, operands, gradient)
        except Exception as error:
            return f"{type(error).__name__}: {error} (sizes {sizes})"
        exact = in_double(program, sizes, seed, dtype, gradient)
        if why := compare(ours, wanted, exact, differs):
            return f"{why} (sizes {sizes})"
    return ""


def run(seed: int) -> str:
    """Checks the program of a number; with the text where something is wrong."""
    program, dtype = make(seed), TYPES[seed % len(TYPES)]
    has_ties = ".sort(" in program.text() or ".topk(" in program.text()
    how: dict[str, Any] = {
        "gradient": seed % 2 == 0 and not has_ties,
        "dynamic": seed % 3 == 0,
    }
    captured = {"capture_dynamic_output_shape_ops": seed % 4 != 0, "capture_scalar_outputs": True}
    with torch._dynamo.config.patch(captured):
        try:
            why = check(program, seed, dtype, backend="quern", **how)
            # Not where the graph that torch traced is to blame.
            if why and check(program, seed, dtype, backend="aot_eager", **how):
                return ""
        except NotApplicableError:
            return ""
    return why and f"seed {seed}, {dtype}, {how}: {why}\n{program.text()}"
