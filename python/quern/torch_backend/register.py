"""Operators from outside: kernels for ATen's, and operators of one's own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import _quern

from .._session import session, show_warnings
from . import unmet, warn_of_torch
from .bindable import check_bindable, operator_named
from .custom import Declaration, define


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
    target = operator_named(overload)
    name = overload.removeprefix("aten::")
    module = show_warnings(session().compile(source, f"{name}.qn"), 2)
    rows: list[tuple[str, str]] = []
    said = re.findall(r'^\s*@aten\(\s*"([^"]+)"', source, re.MULTILINE)
    for each in said:
        operator_named(each)
    if name not in said:
        declaration = _callable(module, overload)
        check_bindable(target, declaration)
        rows = [(f"aten::{name}", declaration["name"])]
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
        wish = short if short.isidentifier() else "silu_mul"
        raise ValueError(f"`{name}` must be a namespace and a name: `mylib::{wish}`")
    module = show_warnings(session().compile(source, f"{short}.qn"), 2)
    made = define(name, module, _callable(module, name, short))
    _add(source, [(f"{namespace}::{each}", each) for each in made])
    return made[short]


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
    if unmet():
        warn_of_torch()
        return
    from .state import state

    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    current = state()
    name = f"user_{digest}"
    current.backend.add_module(name, source, list(rows))
    current.sources[name] = source
    current.added.append((digest, tuple(rows)))
