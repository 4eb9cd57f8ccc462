"""Internal names of torch come from one module, whose rows say which versions have them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from quern import torch_names

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "python" / "quern"
TABLE = FOLDER / "torch_names.py"


def is_internal(path: str) -> bool:
    """Whether torch calls a name its own; operators' names are the dispatcher's."""
    steps = path.split(".")
    if steps[:2] == ["torch", "ops"]:
        return False
    return any(step == "experimental" or is_private(step) for step in steps)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def chain(node: ast.Attribute) -> list[str]:
    """The names of `a.b.c`; the first is empty where something else than a name begins it."""
    steps: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        steps.insert(0, inner.attr)
        inner = inner.value
    return [inner.id if isinstance(inner, ast.Name) else "", *steps]


def aliases(tree: ast.Module) -> dict[str, str]:
    """What names of a file mean in torch: imported ones, and `_aten = torch.ops.aten`."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.split(".")[0] == "torch":
                    known[each.asname or "torch"] = each.name if each.asname else "torch"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            for each in node.names:
                known[each.asname or each.name] = f"{node.module}.{each.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            root, *steps = chain(node.value)
            if root in known and isinstance(node.targets[0], ast.Name):
                known[node.targets[0].id] = ".".join([known[root], *steps])
    return known


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{each.name}") for each in node.names)
        elif isinstance(node, ast.Constant) and re.fullmatch(r"torch\._\S+", str(node.value)):
            yield node.lineno, str(node.value)  # A module that is imported by its name.


def internal_names(text: str) -> list[tuple[int, str]]:
    """Internal names of torch that a file uses itself, with their lines."""
    tree = ast.parse(text)
    known = aliases(tree)
    found = [
        (line, path)
        for line, path in imported(tree)
        if path.split(".")[0] == "torch" and is_internal(path)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root, *steps = chain(node)
            path = ".".join([known.get(root, ""), *steps])
            if root in known and is_internal(path):
                found.append((node.lineno, path))
    return found


def own_names(trees: list[ast.Module]) -> set[str]:
    """Private attributes that the package itself gives its objects."""
    names: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return names


def members_read(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Private members of objects that may be torch's."""
    known = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            root = chain(node)[0]
            is_operator = known.get(root, "").startswith("torch.ops") or root == "torch"
            if is_private(node.attr) and root not in ("self", "cls") and not is_operator:
                yield node.lineno, node.attr


def sources() -> list[Path]:
    return [path for path in sorted(FOLDER.rglob("*.py")) if path != TABLE]


def test_no_other_module_uses_them() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sources()
        for line, name in internal_names(path.read_text())
    ]
    assert not found, "take these from quern.torch_names:\n" + "\n".join(found)


def test_private_members_are_listed() -> None:
    trees = {path: ast.parse(path.read_text()) for path in sources()}
    known = own_names(list(trees.values())) | torch_names.members()
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in trees.items()
        for line, name in members_read(tree)
        if name not in known
    ]
    assert not found, "list these members in quern.torch_names:\n" + "\n".join(found)


def used_in(tree: ast.Module) -> Iterator[str]:
    """Names that a file mentions in any way a name of the table may be used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.ImportFrom):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def test_every_name_is_used() -> None:
    used = {name for path in sources() for name in used_in(ast.parse(path.read_text()))}
    unused = [name for name, last in torch_names.listed() if not {name, last} & used]
    assert not unused, f"no module uses {unused}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import torch\ntorch._dynamo.reset()\n", ["torch._dynamo.reset", "torch._dynamo"]),
        ("from torch._guards import TracingContext\n", ["torch._guards.TracingContext"]),
        ("from torch.fx.experimental import x\n", ["torch.fx.experimental.x"]),
        ("from torch.fx import node as n\nn._hidden\n", ["torch.fx.node._hidden"]),
        ("m = import_module('torch._x.y')\n", ["torch._x.y"]),
        ("import torch\n_aten = torch.ops.aten\n_aten._conj.default\n", []),
        ("import torch\ntorch.nn.functional.relu\n", []),
    ],
)
def test_finds_them(text: str, names: list[str]) -> None:
    assert {name for _, name in internal_names(text)} == set(names)
