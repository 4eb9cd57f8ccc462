"""torch's custom operators from declarations, with the derivatives that these name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _quern
import torch

from .index_error import IndexRangeError
from .signature import Signature, call_kernel, run_time

Declaration = Mapping[str, Any]

# The code of "index 9 is out of range".
_INDEX = "QN2050"
_NUMBERS = {"int": "SymInt", "i64": "SymInt", "bool": "bool"}


def define(name: str, module: Any, declaration: Declaration) -> dict[str, Any]:
    """The operator `ns::name` and those of its derivatives, by their declarations."""
    known = {row["name"]: row for row in _quern.declarations(module)}
    chain = [declaration]
    while (following := known.get(chain[-1]["backward"])) and following not in chain:
        chain.append(following)
    if chain[-1]["backward"] and not following:
        raise _quern.Error(
            f"the derivative `{chain[-1]['backward']}` must stand in the source of `{name}`"
        )
    namespace = name.partition("::")[0]
    made = {row["name"]: _make(f"{namespace}::{row['name']}", module, row) for row in chain}
    for row in chain:
        if row["backward"] in made:
            backward = known[row["backward"]]
            made[row["name"]].register_autograd(
                _Derivative(row, backward, made[backward["name"]]),
                setup_context=_Saver(row),
            )
    return made


def _make(name: str, module: Any, declaration: Declaration) -> Any:
    """The operator without its derivative."""
    kernel = getattr(module, declaration["name"])
    parameters = run_time(declaration)
    signature = Signature(declaration, kernel)

    def call(*values: Any) -> Any:
        try:
            return call_kernel(kernel, parameters, _filled(values, len(parameters)))
        except _quern.Error as error:
            if any(part["code"] == _INDEX for part in error.diagnostics):
                raise IndexRangeError(f"{error}\nwhile running `{name}`") from None
            raise

    def fake(*values: Any) -> Any:
        results = signature.results(_filled(values, len(parameters)))
        return results[0] if len(results) == 1 else tuple(results)

    made = torch.library.custom_op(name, call, mutates_args=(), schema=_schema(declaration))
    made.register_fake(fake)
    return made


def _schema(declaration: Declaration) -> str:
    """The operator's schema: tensors and numbers as the declaration has them."""
    parts: list[str] = []
    may_miss = True
    # A default stands only where all that follow have one.
    for parameter in reversed(run_time(declaration)):
        may_miss = may_miss and parameter["optional"]
        if parameter["mutable"]:
            raise _quern.Error(
                f"`{declaration['name']}` writes its parameter `{parameter['name']}`; an operator "
                "gives results and writes nothing"
            )
        default = "=None" if may_miss else ""
        parts.insert(0, f"{_schema_type(parameter)} {parameter['name']}{default}")
    results = ["Tensor[]" if is_list else "Tensor" for is_list in declaration["result_lists"]]
    listed = ", ".join(results)
    return f"({', '.join(parts)}) -> {listed if len(results) == 1 else f'({listed})'}"


def _schema_type(parameter: Mapping[str, Any]) -> str:
    mark = "?" if parameter["optional"] else ""
    if parameter["tensor"]:
        return f"Tensor{'[]' if parameter['list'] else ''}{mark}"
    element, bracket, _ = parameter["type"].partition("[")
    number = _NUMBERS.get(element.strip(" ?"), "float")
    return f"{number}{'[]' if bracket else ''}{mark}"


def _filled(values: Sequence[Any], count: int) -> list[Any]:
    """Values for all parameters: torch leaves out those at the end that keep their default."""
    return [*values, *[None] * (count - len(values))]


def _tensors(values: Sequence[Any]) -> list[Any]:
    """Tensors, and those of lists one by one."""
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, (list, tuple)) else [value]
    return flat


class _Saver:
    """Keeps for the derivative what the declaration says, and what shapes there were."""

    def __init__(self, declaration: Declaration) -> None:
        self._names = [parameter["name"] for parameter in run_time(declaration)]
        self._results = list(declaration["result_names"])
        self._saves = list(declaration["saves"])
        self._numbers = [p["name"] for p in run_time(declaration) if not p["tensor"]]

    def __call__(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        inputs = tuple(_filled(inputs, len(self._names)))
        known = dict(zip(self._names, inputs, strict=True))
        known |= dict(zip(self._results, outputs, strict=True))
        saved = [name for name in self._saves if name not in self._numbers]
        ctx.save_for_backward(*_tensors([known[name] for name in saved]))
        ctx.counts = {
            name: len(known[name]) if isinstance(known[name], (list, tuple)) else None
            for name in saved
        }
        ctx.numbers = {name: known[name] for name in self._numbers}
        ctx.inputs = [_forms(value) for value in inputs]
        ctx.outputs = [_forms(value) for value in outputs]


def _forms(value: Any) -> Any:
    """Shape, type and place of a tensor, or of each of a list; nothing for a number."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return [_forms(each) for each in value]
    if isinstance(value, torch.Tensor):
        return value.shape, value.dtype, value.device
    return None


class _Derivative:
    """Calls the derivative's operator: gradients come first, the rest binds by name."""

    def __init__(self, declaration: Declaration, backward: Declaration, operator: Any) -> None:
        self._tensors = [i for i, p in enumerate(run_time(declaration)) if p["tensor"]]
        self._parameters = [parameter["name"] for parameter in run_time(backward)]
        self._operator = operator

    def __call__(self, ctx: Any, *gradients: Any) -> Any:
        known = dict(ctx.numbers)
        saved = iter(ctx.saved_tensors)
        for name, count in ctx.counts.items():
            several = [next(saved) for _ in range(1 if count is None else count)]
            known[name] = several[0] if count is None else several
        left = iter(zip(gradients, ctx.outputs, strict=True))
        values = [
            known[name] if name in known else _gradient(*next(left)) for name in self._parameters
        ]
        made = self._operator(*values)
        parts = list(made) if isinstance(made, tuple) else [made]
        given: list[Any] = [None] * len(ctx.inputs)
        for index, part in zip(self._places(ctx, len(parts)), parts, strict=False):
            given[index] = _reduced(part, ctx.inputs[index])
        return tuple(given)

    def _places(self, ctx: Any, count: int) -> list[int]:
        """Whose derivatives these are: of every tensor, or of those that have one."""
        if count >= len(self._tensors):
            return self._tensors
        return [i for i in self._tensors if _has_derivative(ctx.inputs[i])]


def _has_derivative(form: Any) -> bool:
    forms = form if isinstance(form, list) else [form]
    return any(f is None or f[1].is_floating_point or f[1].is_complex for f in forms)


def _gradient(gradient: Any, form: Any) -> Any:
    """A gradient as kernels take it; nothing came back where nobody read the result."""
    if isinstance(form, list):
        parts = gradient if gradient is not None else [None] * len(form)
        return [_gradient(*each) for each in zip(parts, form, strict=True)]
    if gradient is None:
        shape, dtype, device = form
        return torch.zeros(shape, dtype=dtype, device=device)
    return gradient.contiguous()


def _reduced(part: Any, form: Any) -> Any:
    """What was repeated along an axis has the sum of the gradients there."""
    if isinstance(form, list):
        return [_reduced(*each) for each in zip(part, form, strict=True)]
    return None if part is None or form is None else part.sum_to_size(form[0])
