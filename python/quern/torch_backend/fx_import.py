"""From AOTAutograd's FX graph to a plain description of it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx.node import Node

from ..torch_names import OpOverload, TreeSpec, tree_flatten, tree_leaves, tree_unflatten
from . import native
from .assumptions import Assumptions, computed, shape_env_of
from .overloads import draws, full_name
from .recomputed import is_recomputed
from .sizes import Sizes, UnknownSizeError
from .source_lines import source_line
from .strides import eager_strides

_PLAIN = (int, float, bool, complex, str, torch.dtype, torch.device)
_ENUMERATIONS = (torch.layout, torch.memory_format)
# Operators that call graphs as they are given: a branch, or the body of a loop.
_CALLING = ("cond", "invoke_subgraph", "map_impl", "scan", "while_loop", "while_loop_stack_output")
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
# A call of an operator that has an effect, and a token that says when.
_EFFECT = torch.ops.higher_order.with_effects


Compile = Callable[[str, torch.fx.GraphModule], Callable[..., Any]]


class _NotPlainError(Exception):
    """An argument that only Python can pass on."""


class Importer:
    """Describes one graph to a native builder, node by node."""

    def __init__(
        self,
        module: torch.fx.GraphModule,
        builder: Any,
        seeds: bool = False,
        compiles: Compile | None = None,
        as_eager: bool = False,
    ) -> None:
        self._module = module
        self._compiles = compiles
        self._as_eager = as_eager
        self._inner: dict[str, Any] = {}
        self._computed = 0
        self._builder = builder
        self._seeds = seeds
        self._sizes = Sizes(builder, self._compute)
        self._assumptions = Assumptions(builder, self._sizes, shape_env_of(module))
        self._values: dict[Node, list[int]] = {}
        self._storages: dict[int, int] = {}

    def run(self) -> None:
        """Describes every node, then the outputs."""
        for node in self._module.graph.nodes:
            match node.op:
                case "placeholder":
                    facts = self._facts(node.meta.get("val"))
                    self._values[node] = self._builder.input(node.name, facts)
                case "get_attr":
                    self._constant(node)
                case "call_function":
                    known = self._assumptions.before(node)
                    self._call(node)
                    self._assumptions.after(node, known)
                case "output":
                    self._output(node)
                case other:
                    raise NotImplementedError(f"an FX node of kind `{other}`")
        self._assumptions.finish()

    def _compute(self, expr: Any, symbols: list[Any]) -> int:
        """A size that has no expression of its own: Python computes it in every call."""
        self._computed += 1
        name = f"size{self._computed}"
        call, kind, hint = computed(expr, symbols, [self._sizes.hint(each) for each in symbols])
        arguments = [
            (f"a{index}", ("size", self._sizes.of_expression(each)))
            for index, each in enumerate(symbols)
        ]
        made = self._builder.symbol(name, hint)
        self._builder.host(name, str(expr), arguments, [("number", kind, made)], call, "")
        return int(made)

    def _facts(self, value: object, is_result: bool = False) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor_facts(value)
        if _is_number(value):
            kind = "int"
            if isinstance(value, (torch.SymFloat, float)):
                kind = "float"
            elif isinstance(value, (torch.SymBool, bool)):
                kind = "bool"
            of = self._sizes.result_of if is_result else self._sizes.of
            return ("number", kind, of(value))
        return None

    def _tensor_facts(self, value: torch.Tensor) -> Any:
        strided = value.layout == torch.strided and not value.is_quantized
        sizes = self._sizes.of_all(value.shape)
        strides = self._sizes.of_all(value.stride()) if strided else []
        offset = self._sizes.of(value.storage_offset() if strided else 0)
        storage = len(self._storages)
        if strided:
            key = value.untyped_storage()._cdata
            storage = self._storages.setdefault(key, storage)
        device = str(value.device)
        return (
            "tensor", value.dtype, sizes, strides, offset, device, storage, strided,
        )  # fmt: skip

    def _constant(self, node: Node) -> None:
        value: Any = self._module
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if isinstance(value, torch.Tensor):
            facts = self._facts(node.meta.get("val", value))
            self._values[node] = self._builder.constant_node(node.name, facts, value)

    def _call(self, node: Node) -> None:
        value = node.meta.get("val")
        if node.target is operator.getitem and node.args[0] in self._values:
            source, index = node.args
            assert isinstance(source, Node)
            assert isinstance(index, int)
            # A higher-order operator's results may be tuples of tuples.
            widths = [len(tree_leaves(each)) for each in _traced(source)]
            first = sum(widths[:index])
            self._values[node] = self._values[source][first : first + widths[index]]
        elif not isinstance(node.target, OpOverload) and _is_number(value):
            self._values[node] = self._builder.scalar(node.name, self._facts(value))
        elif isinstance(node.target, OpOverload):
            self._operator(node, node.target, value)
        elif node.target is _EFFECT and isinstance(node.args[1], OpOverload):
            self._effect(node, node.args[1])
        else:
            self._host(node)

    def _operator(self, node: Node, target: OpOverload, value: object) -> None:
        schema = target._schema
        overload = full_name(target)
        if native().is_assertion(overload):
            condition, message = node.args[:2]
            value = condition.meta["val"] if isinstance(condition, Node) else condition
            self._assumptions.add(value, str(message), source_line(node))
            self._values[node] = []
            return
        if native().is_symbolic(overload):
            self._values[node] = self._builder.scalar(node.name, self._facts(value))
            return
        try:
            arguments = self._arguments(schema, node.args, node.kwargs)
            if _is_nested(value):
                raise _NotPlainError
        except _NotPlainError:
            self._host(node)
            return
        is_random = draws(target, {name: value for name, value, _, _ in arguments})
        if self._seeds and is_random and _is_on_host(value):
            arguments.append(self._seed(node))
        returns_list = len(schema.returns) == 1 and isinstance(value, (list, tuple))
        flags = {
            "mutates": schema.is_mutable,
            "random": is_random,
            "list": returns_list,
            "recomputed": is_recomputed(node),
        }
        results = [] if not schema.returns else self._results(value)
        if self._as_eager and (strides := eager_strides(node)) is not None:
            name, dtype, sizes, _, *rest = results[0]
            results = [(name, dtype, sizes, self._sizes.of_all(strides), *rest)]
        self._values[node] = self._builder.call(
            node.name, overload, arguments, results, flags, source_line(node)
        )

    def _effect(self, node: Node, target: OpOverload) -> None:
        """A call whose place among others is kept by a token that each gives the next:
        the same call, which keeps its place as one that writes does."""
        token, _, *given = node.args
        schema = target._schema
        traced = _traced(node) or ()
        value = [*traced[1:], *[None] * len(schema.returns)][: len(schema.returns)]
        try:
            if not isinstance(token, Node) or _is_nested(value):
                raise _NotPlainError
            tokens = self._values[token]
            arguments = self._arguments(schema, given, node.kwargs)
        except _NotPlainError:
            self._host(node)
            return
        flags = dict.fromkeys(("random", "list", "recomputed"), False)
        flags |= {"mutates": True, "effect": True}
        results = self._results(value)
        made = self._builder.call(
            node.name, full_name(target), arguments, results, flags, source_line(node)
        )
        self._values[node] = [*tokens, *made]

    def _seed(self, node: Node) -> tuple[str, Any, bool, bool]:
        """A number of the node's own for kernels to count from; ATen has no use
        for it."""
        storage = len(self._storages)
        self._storages[-1 - storage] = storage
        facts: tuple[Any, ...] = (
            "tensor",
            torch.int64,
            [],
            [],
            self._sizes.of(0),
            "cpu",
            storage,
            True,
        )
        seed = self._builder.seed(f"{node.name}_seed", facts)
        return ("generator.seed", ("value", seed[0]), False, True)

    def _arguments(
        self, schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> list[tuple[str, Any, bool, bool]]:
        """Every argument of the schema, in its order; those not given as well."""
        arguments = []
        for index, parameter in enumerate(schema.arguments):
            is_given = True
            if index < len(args):
                value = args[index]
            elif parameter.name in kwargs:
                value = kwargs[parameter.name]
            else:
                is_given = False
                value = parameter.default_value
            is_tensor = str(parameter.type) in ("Tensor", "Optional[Tensor]")
            argument = self._argument(value)
            arguments.append((parameter.name, argument, is_tensor, not is_given))
        return arguments

    def _results(self, value: object) -> list[Any]:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        return [self._facts(each, is_result=True) for each in values]

    def _argument(self, value: object) -> Any:
        if isinstance(value, Node):
            return self._reference(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(each) for each in value]
        if isinstance(value, _SYMBOLIC):
            return _size(value, self._sizes)
        if value is None or isinstance(value, (*_PLAIN, *_ENUMERATIONS)):
            return value
        raise _NotPlainError

    def _reference(self, node: Node) -> Any:
        ids = self._values.get(node)
        if ids is None:
            raise _NotPlainError
        value = node.meta.get("val")
        if isinstance(value, _SYMBOLIC) and _is_number(value):
            return _size(value, self._sizes)
        if isinstance(value, (list, tuple)):
            return [("value", each) for each in ids]
        return ("value", ids[0])

    def _host(self, node: Node) -> None:
        """A call that only Python can make: its tensors and numbers become
        arguments, all else is kept in a closure."""
        leaves, spec = tree_flatten((node.args, node.kwargs))
        dynamic: list[int] = []
        arguments: list[tuple[str, Any]] = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, (*_SYMBOLIC, Node)) and leaf_is_known(leaf, self._values):
                dynamic.append(index)
                arguments.append((f"a{index}", self._argument(leaf)))
            elif isinstance(leaf, Node):
                leaves[index] = self._named(str(leaf.target), str(node.target) in _CALLING)
        target = node.target
        assert callable(target)
        closure = host_call(target, leaves, spec, dynamic)
        value = _traced(node)
        flat = tree_leaves(value) if isinstance(value, (list, tuple)) else [value]
        results = [self._facts(each, is_result=True) for each in flat]
        self._values[node] = self._builder.host(
            node.name, str(target), arguments, results, closure, source_line(node)
        )

    def _named(self, name: str, is_called: bool) -> Any:
        """What the module has under a name; a graph that is only called is compiled."""
        value = getattr(self._module, name)
        if not (is_called and self._compiles and isinstance(value, torch.fx.GraphModule)):
            return value
        if name not in self._inner:
            self._inner[name] = self._compiles(name, value)
        return self._inner[name]

    def _output(self, node: Node) -> None:
        outputs = node.args[0]
        if not isinstance(outputs, (list, tuple)):
            outputs = (outputs,)
        self._builder.output([self._argument(each) for each in outputs])


def _is_nested(value: object) -> bool:
    """Whether what an operator gives has lists in it."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(each, (list, tuple)) for each in value
    )


def _traced(node: Node) -> Any:
    """What a node gave while tracing. The partitioner's own calls do not say, but
    those who take their results apart do."""
    taken = [user for user in node.users if user.target is operator.getitem]
    if "val" in node.meta or not taken:
        return node.meta.get("val")
    parts: dict[Any, Any] = {user.args[1]: _traced(user) for user in taken}
    return tuple(parts.get(index) for index in range(max(parts) + 1))


def _is_number(value: object) -> bool:
    """Whether a value is a number to reckon with. What stands for all the lengths of
    a nested tensor's parts is Python's own: it only passes through."""
    if isinstance(value, torch.SymInt) and value.node.is_nested_int():
        return False
    return isinstance(value, (*_SYMBOLIC, int, float, bool))


def _is_on_host(value: object) -> bool:
    """Whether a random operator's numbers go to the host's memory, where its seed is."""
    tensors = [each for each in tree_leaves(value) if isinstance(each, torch.Tensor)]
    return all(each.device.type == "cpu" for each in tensors)


def _size(value: Any, sizes: Sizes) -> tuple[str, int]:
    kind = "truth" if isinstance(value, torch.SymBool) else "size"
    return kind, sizes.of(value)


def leaf_is_known(leaf: object, values: dict[Node, list[int]]) -> bool:
    """Whether a leaf of a call's arguments is a value of the graph."""
    return not isinstance(leaf, Node) or leaf in values


def host_call(
    target: Callable[..., Any],
    leaves: list[Any],
    spec: TreeSpec,
    dynamic: list[int],
) -> Callable[..., list[Any]]:
    """Calls `target` with the values of this run in their places."""

    def call(*values: Any) -> list[Any]:
        filled = list(leaves)
        for index, value in zip(dynamic, values, strict=True):
            filled[index] = value
        args, kwargs = tree_unflatten(filled, spec)
        result = target(*args, **kwargs)
        if isinstance(result, (list, tuple)):
            made: list[Any] = tree_leaves(result, is_leaf=lambda leaf: leaf is None)
            return made
        return [result]

    return call


def describe(
    module: torch.fx.GraphModule,
    builder: Any,
    *,
    seeds: bool = False,
    compiles: Compile | None = None,
    as_eager: bool = False,
) -> Any:
    """Fills `builder` with the description of `module`; with a seed for every node
    that draws random numbers. `compiles` makes callables of branches and loops' bodies.
    `as_eager` lays returned values as eager would where tracing does not."""
    try:
        Importer(module, builder, seeds, compiles, as_eager).run()
    except UnknownSizeError as error:
        raise NotImplementedError(f"this graph cannot be compiled: {error}") from error
    return builder
