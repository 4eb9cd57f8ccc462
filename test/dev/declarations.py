"""`./dev new kernel aten::NAME`: a declaration's text from an overload's schema."""

from __future__ import annotations

from typing import Any

KINDS = {
    "int": "int",
    "SymInt": "int",
    "float": "f64",
    "Scalar": "acc(T)",
    "number": "acc(T)",
    "bool": "bool",
}
FREE = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "generator")


def overload_named(name: str) -> Any:
    """The overload of the installed torch; nothing where it has none of that name."""
    import torch

    namespace, _, rest = name.partition("::")
    base, _, variant = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, variant or "default", None)


def parameter(name: str, kind: str) -> str:
    """One argument as a parameter: tensors share a type and a pack of axes."""
    optional = "?" if kind.startswith("Optional[") else ""
    inner = kind.removeprefix("Optional[").removesuffix("]") if optional else kind
    if inner == "Tensor":
        return f"{name}: T[*S]{optional}"
    if inner.startswith("List[Tensor"):
        return f"{name}: list[T[*S]]"
    if inner.startswith("List["):
        return f"{name}: {KINDS.get(inner[5:-1], 'int')}[*S]"
    return f"{name}: {KINDS.get(inner, 'int')}"


def declaration(name: str) -> str | None:
    """The attribute with everything bound, and a body that copies its first operand."""
    op = overload_named(name)
    if op is None:
        return None
    bound, parameters, generics = [], [], ["T: Any"]
    for argument in op._schema.arguments:
        if argument.name in FREE:
            bound.append(f"{argument.name} = _")
        elif argument.name == "dtype":
            bound.append("dtype = U")
            generics.append("U: Any")
        elif str(argument.type) == "str":
            bound.append(f'{argument.name} = "{argument.default_value or ""}"')
        else:
            own = "x" if argument.name == "self" else argument.name
            parameters.append(parameter(own, str(argument.type)))
    results = ["U[*S]" if "U: Any" in generics else "T[*S]" for _ in op._schema.returns]
    short = op._schema.name.partition("::")[2].strip("_")
    attribute = ", ".join([f'@aten("{name.removeprefix("aten::")}"', *bound]) + ")"
    result = results[0] if len(results) == 1 else f"({', '.join(results)})"
    first = parameters[0].partition(":")[0]
    value = f"U({first})" if "U: Any" in generics else first
    body = ", ".join([value] * len(results))
    head = f"rowwise {short}[{', '.join(generics)}]({', '.join(parameters)}) -> {result}:"
    return f"{attribute}\n{head}\n    return {body}\n"
