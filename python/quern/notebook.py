"""The notebook magic `%%quern`: a cell of kernels becomes functions of the notebook."""

from __future__ import annotations

from keyword import iskeyword
from typing import Any

import _quern

from ._session import compile


def run_cell(line: str, cell: str, namespace: dict[str, Any]) -> str:
    """Compiles a cell. Its declarations become names of `namespace`, or attributes of
    one name if the magic's line gives it (`%%quern k`). Tells what it made.

    >>> names = {}
    >>> run_cell("", "elementwise twice[T: Number](x: T) -> T:\\n    return x + x\\n", names)
    'elementwise twice'
    >>> names["twice"].__name__
    'twice'
    """
    name = line.strip()
    if name and (not name.isidentifier() or iskeyword(name)):
        raise ValueError(f"`%%quern {name}`: `{name}` must be one name")
    module = compile(cell, "<cell>")
    rows = [row for row in _quern.declarations(module) if row["kind"] not in ("fn", "reduction")]
    if name:
        namespace[name] = module
    else:
        namespace.update({row["name"]: getattr(module, row["name"]) for row in rows})
    return "\n".join(f"{row['kind']} {row['name']}" for row in rows)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext quern` calls."""

    def magic(line: str, cell: str) -> None:
        try:
            print(run_cell(line, cell, shell.user_ns))
        except _quern.Error as error:
            # The message has its own places and carets; a traceback adds nothing.
            lines = str(error).splitlines()
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
            raise

    shell.register_magic_function(magic, magic_kind="cell", magic_name="quern")
