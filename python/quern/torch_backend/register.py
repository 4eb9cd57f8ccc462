"""Operators from outside: kernels for ATen's, and operators of one's own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import _quern
import torch

from .._session import session
from .report import IndexRangeError
from .signature import Signature, split_pattern
from .state import state

Declaration = Mapping[str, Any]

# The code of "index 9 is out of range".
_INDEX = "QN2050"


def register_aten(overload: str, source: str) -> None:
    """Adds a kernel for an ATen operator, or puts one in the library's place; graphs
    compiled from now on use it. The source either says `@aten("…")` for the
    operator or holds one declaration that takes its arguments by name or in order.

    >>> import torch, quern
    >>> quern.register_aten("aten::logit", '''
    ... elementwise my_logit[T: Float](x: T) -> T:
    ...     return log(x / (1 - x))
    ... ''')
    >>> torch.compile(torch.logit, backend="quern")(torch.tensor([0.5]))
    tensor([0.])
    """
    name = overload.removeprefix("aten::")
    module = session().compile(source, f"{name}.qn")
    rows: list[tuple[str, str]] = []
    if not re.search(rf'@aten\(\s*"{re.escape(name)}"', source):
        rows = [(f"aten::{name}", _callable(module, overload)["name"])]
    _add(source, rows)


def op(name: str, source: str) -> Any:
    """Makes `ns::name`, an operator of torch, from the declaration of that name: eager
    code calls its kernel, compiled code fuses it like one of the library, and a
    `@backward` of the declaration becomes its derivative.

    >>> import torch, quern
    >>> double = quern.op("docs::double", '''
    ... elementwise double[T: Float](x: T) -> T:
    ...     return x + x
    ... ''')
    >>> double(torch.ones(2)), torch.ops.docs.double(torch.ones(2))
    (tensor([2., 2.]), tensor([2., 2.]))
    """
    namespace, separator, short = name.partition("::")
    if not separator or not namespace.isidentifier() or not short.isidentifier():
        raise ValueError(f"`{name}` must be a namespace and a name: `mylib::{short or name}`")
    module = session().compile(source, f"{short}.qn")
    known = {row["name"]: row for row in _quern.declarations(module)}
    declaration = _callable(module, name, short)
    made = _make(name, module, declaration)
    rows = [(name, declaration["name"])]
    if backward := known.get(declaration["backward"]):
        derivative = f"{namespace}::{backward['name']}"
        rows.append((derivative, backward["name"]))
        _link(made, declaration, backward, _make(derivative, module, backward))
    _add(source, rows)
    return made


def _callable(module: Any, name: str, wanted: str = "") -> Declaration:
    """The declaration of that name, or the only one that can be called."""
    kinds = ("elementwise", "rowwise", "kernel", "op")
    rows = [row for row in _quern.declarations(module) if row["kind"] in kinds]
    found = [row for row in rows if row["name"] == wanted] if wanted else rows
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"`{row['name']}`" for row in rows) or "none"
    wish = f"a declaration `{wanted}`" if wanted else "one declaration"
    raise _quern.Error(f"the source for `{name}` needs {wish} that can be called; it has {names}")


def _add(source: str, rows: Sequence[tuple[str, str]]) -> None:
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    current = state()
    name = f"user_{digest}"
    current.backend.add_module(name, source, list(rows))
    current.sources[name] = source
    current.added.append((digest, tuple(rows)))


def _schema_type(parameter: Mapping[str, Any]) -> str:
    if parameter["tensor"]:
        mark = "?" if parameter["optional"] else ""
        return f"Tensor{mark}" if not parameter["mutable"] else "Tensor(a!)"
    element = split_pattern(parameter["type"].partition("=")[0])[0]
    return {"int": "int", "bool": "bool"}.get(element, "float")


def _schema(declaration: Declaration) -> str:
    """The operator's schema: tensors and numbers as the declaration has them."""
    parts = []
    for parameter in _parameters(declaration):
        if parameter["mutable"]:
            raise _quern.Error(
                f"`{declaration['name']}` writes its parameter `{parameter['name']}`; an operator "
                "gives results and writes nothing"
            )
        parts.append(f"{_schema_type(parameter)} {parameter['name']}")
    results = ", ".join("Tensor" for _ in declaration["results"])
    many = len(declaration["results"]) != 1
    return f"({', '.join(parts)}) -> {f'({results})' if many else results}"


def _parameters(declaration: Declaration) -> list[Mapping[str, Any]]:
    return [p for p in declaration["parameters"] if not p["compile_time"]]


def _make(name: str, module: Any, declaration: Declaration) -> Any:
    """The operator without its derivative."""
    kernel = getattr(module, declaration["name"])
    signature = Signature(declaration)

    def call(*values: Any) -> Any:
        try:
            return kernel(*values)
        except _quern.Error as error:
            if any(part["code"] == _INDEX for part in error.diagnostics):
                raise IndexRangeError(f"{error}\nwhile running `{name}`") from None
            raise

    def fake(*values: Any) -> Any:
        results = signature.results(values)
        return results[0] if len(results) == 1 else tuple(results)

    made = torch.library.custom_op(name, call, mutates_args=(), schema=_schema(declaration))
    made.register_fake(fake)
    return made


def _link(made: Any, declaration: Declaration, backward: Declaration, derivative: Any) -> None:
    """Registers the derivative: gradients come first, the rest binds by name."""
    parameters = _parameters(declaration)
    names = [p["name"] for p in parameters]
    tensors = [i for i, p in enumerate(parameters) if p["tensor"]]
    saves = list(declaration["saves"])
    results = list(declaration["result_names"])

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        known = dict(zip(names, inputs, strict=True)) | dict(zip(results, outputs, strict=True))
        ctx.save_for_backward(*(known[name] for name in saves))
        ctx.numbers = {name: known[name] for i, name in enumerate(names) if i not in tensors}
        ctx.shapes = [inputs[i].shape if inputs[i] is not None else None for i in tensors]

    def differentiate(ctx: Any, *gradients: torch.Tensor) -> Any:
        known = dict(zip(saves, ctx.saved_tensors, strict=True)) | ctx.numbers
        left = iter(gradients)
        values = [
            known[p["name"]] if p["name"] in known else next(left).contiguous()
            for p in _parameters(backward)
        ]
        made = derivative(*values)
        parts = list(made) if isinstance(made, (tuple, list)) else [made]
        given: list[Any] = [None] * len(names)
        for index, shape, part in zip(tensors, ctx.shapes, parts, strict=False):
            if shape is not None and ctx.needs_input_grad[index]:
                given[index] = part.sum_to_size(shape)
        return tuple(given)

    made.register_autograd(differentiate, setup_context=setup)
