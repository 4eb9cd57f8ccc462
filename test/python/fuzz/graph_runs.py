"""Runs random PyTorch programs of f32, and compares them with eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from random_graphs import Program, make
from random_inputs import extents, tensors

TOLERANCE = 1e-4


class NotApplicableError(Exception):
    """Eager itself cannot run the program."""


def function(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"torch": torch}
    exec(compile(text, "<random graph>", "exec"), names)
    made: Callable[..., Any] = names["f"]
    return made


def outcome(call: Any, inputs: list[torch.Tensor], with_gradient: bool) -> dict[str, Any]:
    """Outputs, what became of the inputs, and gradients."""
    outputs = call(*inputs)
    result: dict[str, Any] = {
        "outputs": list(outputs),
        "inputs": [i.detach() for i in inputs],
        "aliases": [_owner(o, inputs) for o in outputs],
    }
    wanted = [o for o in outputs if o.requires_grad]
    leaves = [i for i in inputs if i.requires_grad]
    if with_gradient and wanted and leaves:
        generator = torch.Generator().manual_seed(1)
        seeds = [torch.randn(o.shape, generator=generator).to(o.dtype) for o in wanted]
        result["gradients"] = torch.autograd.grad(wanted, leaves, seeds, allow_unused=True)
    return result


def _owner(output: torch.Tensor, inputs: list[torch.Tensor]) -> int:
    """The input that an output is a view of, or -1."""
    for number, tensor in enumerate(inputs):
        if output.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
            return number if output.numel() else -1
    return -1


def strides(tensor: torch.Tensor) -> list[int]:
    """Those that are stepped along."""
    if tensor.numel() == 0:
        return []
    return [s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n != 1]


def ready(values: list[torch.Tensor], program: Program, gradient: bool) -> list[torch.Tensor]:
    written = {name for name, _ in program.lines}
    for given, value in zip(program.inputs, values, strict=True):
        value.requires_grad_(gradient and given.kind == "f" and given.name not in written)
    return values


def same(name: str, a: Any, b: Any, exact: Any) -> str:
    """How ours differs from eager's, or nothing."""
    if a is None or b is None:
        # A gradient of zeros may be left out.
        other = a if b is None else b
        return "" if other is None or not other.any() else f"{name}: one is missing"
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return f"{name}: {a.shape} {a.dtype}, eager has {b.shape} {b.dtype}"
    if b.numel() == 0 or torch.equal(a, b):
        return ""
    scale = max(1.0, b.double().abs().nan_to_num(0, 0, 0).max().item())
    close = torch.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True)
    if close.all():
        return ""
    if exact is not None and exact.shape == b.shape:
        # Eager is no better.
        own = (b.double() - exact.double()).abs()
        ours = (a.double() - exact.double()).abs()
        if (ours <= 4 * own.max()).all():
            return ""
    worst = (a.double() - b.double()).abs().max().item()
    return f"{name}: {int((~close).sum())} of {b.numel()} differ, by up to {worst:.3g}"


def compare(
    ours: dict[str, Any],
    eager: dict[str, Any],
    exact: dict[str, Any] | None,
    differs: Callable[[str, Any, Any, Any], str] = same,
) -> str:
    """What is wrong with aliases, values by `differs`, and strides; or nothing."""
    if ours["aliases"] != eager["aliases"]:
        return f"views of inputs {ours['aliases']}, eager's of {eager['aliases']}"
    for kind in ("outputs", "inputs", "gradients"):
        for number, b in enumerate(eager.get(kind, [])):
            a = ours[kind][number]
            c = exact[kind][number] if exact and kind in exact else None
            if why := differs(f"{kind}[{number}]", a, b, c):
                return why
            if kind == "outputs" and strides(a) != strides(b):
                return f"{kind}[{number}]: strides {a.stride()}, eager's {b.stride()}"
    return ""


def in_double(program: Program, sizes: dict[str, int], seed: int, gradient: bool) -> Any:
    text = program.text().replace(".double().float()", "")
    given = [
        t.double() if t.is_floating_point() else t for t in tensors(program.inputs, sizes, seed)
    ]
    try:
        return outcome(function(text), ready(given, program, gradient), gradient)
    except RuntimeError:
        return None


def check(
    program: Program, seed: int, *, gradient: bool, dynamic: bool, backend: str = "quern"
) -> str:
    """What is wrong with the program's results, or nothing."""
    torch._dynamo.reset()
    eager = function(program.text())
    compiled = torch.compile(function(program.text()), backend=backend, dynamic=dynamic)
    for round_ in range(3 if dynamic else 1):
        sizes = extents(seed * 8 + round_, zero=round_ == 0)
        try:
            given = tensors(program.inputs, sizes, seed)
            wanted = outcome(eager, ready(given, program, gradient), gradient)
        except (RuntimeError, IndexError, ValueError) as error:
            if round_ == 0:
                raise NotApplicableError(str(error)) from error
            continue
        given = ready(tensors(program.inputs, sizes, seed), program, gradient)
        try:
            ours = outcome(compiled, given, gradient)
        except Exception as error:
            return f"{type(error).__name__}: {error} (sizes {sizes})"
        if why := compare(ours, wanted, None):
            exact = in_double(program, sizes, seed, gradient)
            if why := compare(ours, wanted, exact):
                return f"{why} (sizes {sizes})"
    return ""


def wrong(program: Program, seed: int, *, gradient: bool, dynamic: bool) -> str:
    """Likewise, unless the graph that torch traced is to blame."""
    why = check(program, seed, gradient=gradient, dynamic=dynamic)
    if why and check(program, seed, gradient=gradient, dynamic=dynamic, backend="aot_eager"):
        raise NotApplicableError(why)
    return why


def run(seed: int) -> str:
    """Checks the program of a number; with the text where something is wrong."""
    program = make(seed)
    # Eager does not say in which order `sort` and `topk` take equal elements, which decides whose
    # gradient is whose.
    text = program.text()
    has_ties = any(row.how == "expanded" for row in program.inputs) and (
        ".sort(" in text or ".topk(" in text
    )
    gradient, dynamic = seed % 2 == 0 and not has_ties, seed % 5 == 0
    try:
        why = wrong(program, seed, gradient=gradient, dynamic=dynamic)
    except NotApplicableError:
        return ""
    return why and f"seed {seed}, dynamic {dynamic}: {why}\n{program.text()}"
