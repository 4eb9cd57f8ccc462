"""Writes the argument names of ATen overloads from the torch that is installed.

`./dev schemas` rewrites `frontend/aten/Schemas.txt`; the checker reads it to see that `@aten`
binds every argument.
"""

from __future__ import annotations

import torch
from tree import ROOT

TABLE = ROOT / "frontend" / "aten" / "Schemas.txt"
RELEASE = torch.__version__.split("+")[0]
HEAD = f"""\
# Arguments of ATen's overloads, of torch {RELEASE}; made by `./dev schemas`.
# `:t` a tensor, `:o` one that may be missing, `:l` a list of tensors.
"""


def _mark(kind: str) -> str:
    if "List[" in kind and "Tensor" in kind:
        return ":l"
    if kind == "Optional[Tensor]":
        return ":o"
    return ":t" if kind == "Tensor" else ""


def table() -> str:
    """The whole text: one line for each overload that writes no `out=`."""
    lines = []
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        values = [*schema.arguments, *schema.returns]
        writes_out = any(argument.is_out for argument in schema.arguments)
        if namespace != "aten" or writes_out or not any("Tensor" in str(v.type) for v in values):
            continue
        overload = f"{name}.{schema.overload_name}" if schema.overload_name else name
        arguments = [argument.name + _mark(str(argument.type)) for argument in schema.arguments]
        lines.append(" ".join([overload, *arguments]))
    return HEAD + "".join(line + "\n" for line in sorted(lines))


def main(arguments: list[str]) -> int:
    TABLE.write_text(table())
    print(f"{TABLE.relative_to(ROOT)}: {len(TABLE.read_text().splitlines()) - 2} overloads")
    return 0
