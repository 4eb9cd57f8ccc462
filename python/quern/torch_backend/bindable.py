"""Whether a declaration can ever serve an ATen operator: what is refused at registration
would otherwise never be found by a call, and nobody would say so."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import _quern
import torch

from ..torch_names import _dispatch_get_all_op_names
from .signature import run_time


def operator_named(overload: str) -> Any:
    """The overload `aten::add.Tensor` of torch, or an error that says what there is."""
    namespace, separator, name = overload.rpartition("::")
    if separator and namespace != "aten":
        raise _quern.Error(
            f"`{overload}` is not ATen's; an operator of one's own is made by `quern.op`"
        )
    packet_name, _, own = name.partition(".")
    packet = getattr(torch.ops.aten, packet_name, None) if packet_name.isidentifier() else None
    if packet is None:
        names = {each.split("::")[1].split(".")[0] for each in _names()}
        near = difflib.get_close_matches(packet_name, sorted(names), n=3)
        hint = f"; near it are {_listed(near)}" if near else ""
        raise _quern.Error(f"ATen has no operator `{packet_name}`{hint}")
    overloads = [each for each in packet.overloads() if _gives_tensors(getattr(packet, each))]
    if (own or "default") not in overloads or own == "default":
        spelt = [packet_name + ("" if each == "default" else f".{each}") for each in overloads]
        raise _quern.Error(f"ATen has no overload `{name}`; it has {_listed(spelt)}")
    target = getattr(packet, own or "default")
    if target._schema.is_mutable:
        raise _quern.Error(
            f"`aten::{name}` writes to an argument; graphs hold the operator that gives its "
            "result instead"
        )
    return target


def check_bindable(target: Any, declaration: Mapping[str, Any]) -> None:
    """Refuses a declaration whose parameters no call of the operator can fill, as the
    graph compiler binds them: by name, then tensors in order, then the rest."""
    arguments = {argument.name: argument for argument in target._schema.arguments}
    said = f"`{declaration['name']}` cannot be `{target._schema.name}`"
    if len(declaration["results"]) > len(target._schema.returns):
        raise _quern.Error(
            f"{said}: it gives {len(declaration['results'])} results, the operator "
            f"{len(target._schema.returns)}"
        )
    left = _bound(run_time(declaration), arguments)
    for parameter in left:
        if not parameter["optional"]:
            raise _quern.Error(
                f"{said}: no argument is left for `{parameter['name']}`; the operator has "
                f"{_listed(list(target._schema.arguments), lambda a: a.name)}"
            )
    for name in arguments:
        argument = arguments[name]
        if not argument.has_default_value() and name != "keepdim" and not _may_be_none(argument):
            raise _quern.Error(f"{said}: it has no parameter for the argument `{name}`")


def _bound(
    parameters: Sequence[Mapping[str, Any]], arguments: dict[str, Any]
) -> list[Mapping[str, Any]]:
    """The parameters that nothing is left for; takes away the arguments that are used."""
    left = [each for each in parameters if arguments.pop(each["name"], None) is None]
    for only_tensors in (True, False):
        for parameter in list(left):
            if only_tensors and not parameter["tensor"]:
                continue
            fitting = [n for n, a in arguments.items() if not only_tensors or _is_tensor(a)]
            if fitting:
                del arguments[fitting[0]]
                left.remove(parameter)
    return left


def _gives_tensors(target: Any) -> bool:
    """Not so TorchScript's operators on numbers, which have the same names."""
    return any("Tensor" in str(result.type) for result in target._schema.returns)


def _is_tensor(argument: Any) -> bool:
    return str(argument.type) in ("Tensor", "Optional[Tensor]")


def _may_be_none(argument: Any) -> bool:
    return str(argument.type).startswith("Optional[")


def _names() -> list[str]:
    names: list[str] = _dispatch_get_all_op_names()
    return [name for name in names if name.startswith("aten::")]


def _listed(items: Sequence[Any], name: Any = str) -> str:
    return ", ".join(f"`{name(each)}`" for each in items) or "none"
