"""Calls a library declaration with the arguments of the ATen overload that its
`@aten` row names: what each part of the attribute means, in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import quern
import torch
from aten_indices import Indices
from aten_types import (
    CONSTRAINTS,
    DTYPES,
    FLOATS,
    Row,
    UnfitError,
    accumulator,
    admits,
    axes_of,
    element_of,
    expanded,
    flat,
    literal,
    module,
    number_of,
    ordered,
    overload,
    promotion,
    refuse_empty,
    unnamed,
)

SEED = 0x123456789ABCDEF  # of rows that draw
SHAPE_FAULTS = {2008, *range(2020, 2030)}  # diagnostics of a call that does not fit


class Call:
    """One call being bound. `run` gives the results as ATen would shape them."""

    def __init__(self, row: Row, op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.row = row
        self.values = self.given(op, args, kwargs)
        self.returns = len(op._schema.returns)
        self.sources: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self.dims: dict[str, list[int]] = {}
        self.types: dict[str, torch.dtype] = {}
        self.used: set[str] = set()
        self.promotes, self.promoted = promotion("")
        self.origins: dict[str, str] = {}
        self.indices: Indices | None = None
        self.fix()
        self.bind()

    @staticmethod
    def given(op: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        values = {}
        for place, argument in enumerate(op._schema.arguments):
            if place < len(args):
                values[argument.name] = args[place]
            elif argument.name in kwargs:
                values[argument.name] = kwargs[argument.name]
            else:
                values[argument.name] = argument.default_value
        return values

    def value(self, text: str) -> Any:
        """`stride or kernel_size`: the first that is given."""
        names = text.split(" or ")
        self.used.update(names)
        for name in names[:-1]:
            if self.values[name] not in (None, [], ()):
                return self.values[name]
        return self.values[names[-1]]

    def fix(self) -> None:
        """Reads the attribute's parts."""
        own = {name for name, _, _ in self.row["parameters"]}
        for left, right in self.row["bindings"]:
            names = [name.strip() for name in left.strip("()").split(",")]
            if left.startswith("promotes"):
                self.promotes, self.promoted = promotion(right)
            elif left == "nonempty":
                refuse_empty(self.values.values(), self.dims.get(right))
            elif right == "generator":
                self.used.add(right)
                self.sources[names[0]] = torch.tensor(SEED)
            elif right == "_":
                self.used.add(left)
            elif right.split(" or ")[0] in self.values and names[0] in own:
                self.spread(names, self.value(right), right not in ("dim", "dims", "shifts"))
            elif left in self.values and right in own:
                self.used.add(left)
                self.constants[right] = self.values[left]
            elif left in self.values and literal(right) is not NotImplemented:
                self.used.add(left)
                self.expect(left, literal(right))
            elif left in self.values:
                self.used.add(left)
                self.select(right, self.values[left], left)
            else:
                raise AssertionError(f"{self.row['overload']}: `{left} = {right}`")

    def expect(self, name: str, wanted: Any) -> None:
        found = self.values[name]
        if wanted is None and name in ("memory_format", "layout", "device", "pin_memory"):
            return
        if (
            isinstance(found, torch.Tensor)
            or found != wanted
            or (wanted is None) != (found is None)
        ):
            raise UnfitError(f"{name} is {found}, the row is for {wanted}")

    def spread(self, names: list[str], value: Any, repeats: bool) -> None:
        """A list goes to several parameters; one number stands for all, unless it is an axis
        or belongs to one."""
        if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
            return self.index(names, value)
        if len(names) == 1:
            kind = next(kind for name, kind, _ in self.row["parameters"] if name == names[0])
            if isinstance(value, (list, tuple)) and "[" not in kind:
                if len(value) != 1:
                    raise UnfitError(f"{names[0]} takes one of {value}")
                value = value[0]
            self.sources[names[0]] = value
            return
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        values = values * len(names) if repeats and len(values) == 1 else values
        if len(values) != len(names):
            raise UnfitError(f"{names} takes {len(names)} numbers, not {len(values)}")
        self.sources.update(zip(names, values, strict=True))

    def index(self, names: list[str], given: Sequence[Any]) -> None:
        """A list of index tensors: the axes that they index stand first."""
        (main, x), *rest = ((n, v) for n, v in self.values.items() if isinstance(v, torch.Tensor))
        self.indices = Indices(x, given)
        if len(self.indices.tensors) != len(names):
            raise UnfitError(f"{names} takes {len(names)} indices")
        self.sources.update(zip(names, self.indices.tensors, strict=True))
        kinds = {name: kind for name, kind, _ in self.row["parameters"]}
        for name, value in rest:
            if name == "mask" and self.indices.axes != list(range(x.dim()))[-len(names) :]:
                raise UnfitError("the mask has the axes of the last ones")
            if name in kinds and axes_of(kinds[name]) == axes_of(kinds[names[0]]):
                self.values[name] = expanded(value, self.indices.tensors[0].shape)
            else:
                self.values[name] = self.indices.written(x, value)
        self.values[main] = x.permute(self.indices.order)

    def select(self, axis: str, value: Any, name: str) -> None:
        """`dim = C`: which dimensions of the first tensor the axis stands for."""
        main = next(v for v in flat(self.values.values()) if isinstance(v, torch.Tensor))
        rank = main.dim()
        if name.endswith("_shape"):
            picked = list(range(rank - len(value), rank))
        else:
            # No `dim` means all, no `dims` none.
            every = [] if name == "dims" else range(rank)
            picked = [value] if isinstance(value, int) else list(value or every)
        picked = ordered(self.row, axis, [d + rank if d < 0 else d for d in picked])
        if rank == 0:  # as if it had one axis, or none for a pack
            picked = [] if axis.startswith("*") else [0]
        if not axis.startswith("*") and len(picked) != 1:
            raise UnfitError(f"{axis} is one axis, the call names {len(picked)}")
        self.dims[axis] = picked

    def bind(self) -> None:
        """Own parameters by name, then tensors, then the rest, in order."""
        waiting = []
        for name, kind, is_compile_time in self.row["parameters"]:
            if name in self.sources:
                continue
            if name in self.values and name not in self.used:
                self.used.add(name)
                target = self.constants if is_compile_time else self.sources
                target[name] = self.values[name]
            elif not is_compile_time:
                waiting.append((name, kind))
        arguments = overload(self.row["overload"])._schema.arguments
        tensors = [a.name for a in arguments if "Tensor" in str(a.type)]
        others = [a.name for a in arguments if a.name not in tensors]
        for name, kind in waiting:
            is_tensor = "[" in kind or element_of(kind) in [*self.types_declared(), "bool"]
            pool = tensors + others if is_tensor else others
            free = next((n for n in pool if n not in self.used), None)
            if free is not None:
                self.used.add(free)
                self.sources[name] = self.values[free]
                self.origins[name] = free
        for name, value in self.values.items():
            if name not in self.used and name != "keepdim" and not self.is_default(name, value):
                raise UnfitError(f"no parameter for {name} = {value}")

    def types_declared(self) -> list[str]:
        return [n for n, k, c in self.row["parameters"] if c and k in CONSTRAINTS]

    def is_default(self, name: str, value: Any) -> bool:
        arguments = overload(self.row["overload"])._schema.arguments
        argument = next(a for a in arguments if a.name == name)
        return value is None or (argument.has_default_value() and value == argument.default_value)

    def result_of(self, variable: str, expected: Sequence[Any]) -> torch.dtype:
        """The type of the first result with such elements."""
        pairs = zip(self.row["results"], expected, strict=False)
        found = [e for k, e in pairs if element_of(unnamed(k)) == variable] + list(expected)
        return next(e.dtype for e in found if isinstance(e, torch.Tensor))

    def solve_types(self, expected: Sequence[Any]) -> None:
        """Each type parameter from its operands, else from a dtype or the result."""
        variables = [(n, k) for n, k, c in self.row["parameters"] if c and k in CONSTRAINTS]
        for variable, constraint in variables:
            own = self.promoting(variable)
            weak = [v for n, v in self.operands() if element_of(self.kind(n)) == f"acc({variable})"]
            is_named = variable in self.constants  # by a dtype argument
            given = self.constants.pop(variable, None)
            if own and (not is_named or any(isinstance(v, torch.Tensor) for v in own)):
                dtype = self.common(own)
            elif any(isinstance(v, torch.Tensor) for v in weak):
                dtype = self.common(weak)
            else:
                result = self.result_of(variable, expected)
                dtype = given if isinstance(given, torch.dtype) else result
                self.constants[variable] = dtype
            if not admits(constraint, dtype):
                raise UnfitError(f"{variable} is {constraint}, not {dtype}")
            self.types[variable] = dtype

    def kind(self, name: str) -> str:
        return next(kind for other, kind, _ in self.row["parameters"] if other == name)

    def operands(self) -> list[tuple[str, Any]]:
        return [(n, v) for n, v in self.sources.items() if v is not None]

    def promoting(self, variable: str) -> list[Any]:
        named = [(n, v) for n, v in self.operands() if self.origins.get(n, n) in self.promoted]
        kinds = [variable, f"acc({variable})"][: 1 + bool(named)]
        return [v for n, v in named or self.operands() if element_of(self.kind(n)) in kinds]

    def common(self, values: list[Any]) -> torch.dtype:
        # Tensors with axes say the type before those without, and these before numbers.
        values = flat(values)
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        numbers = [v for v in values if isinstance(v, (int, float, bool))]
        if tensors and not self.promotes:
            numbers = []  # they take the tensors' type
        strong = [t for t in tensors if t.dim()] or tensors
        if strong:
            dtype = functools.reduce(torch.promote_types, [t.dtype for t in strong])
        else:
            dtype = torch.result_type(numbers[0], numbers[0])
        for one in [*tensors, *numbers]:
            dtype = torch.result_type(torch.empty(1, dtype=dtype), one)
        if self.promotes == "int_to_float" and not (dtype in FLOATS or dtype.is_complex):
            return torch.float32
        return dtype

    def dtype_of(self, element: str) -> torch.dtype:
        if element.startswith("acc("):
            return accumulator(self.types[element[4:-1]])
        return self.types.get(element) or DTYPES[element]

    def layout(self, kind: str, rank: int) -> list[int] | None:
        """ATen's dimensions in the order of the type's axes."""
        axes = axes_of(kind)
        chosen = {a: d for a, d in self.dims.items() if a in axes}
        if not chosen:
            partner = next(iter(self.dims), None)
            single = [a for a in axes if not a.startswith("*")]
            if partner and not partner.startswith("*") and len(single) == 1 and rank:
                chosen = {single[0]: self.dims[partner]}
            else:
                return None
        axis, dims = next(iter(chosen.items()))
        place = axes.index(axis)
        if len(axes) > 2 or any(d >= rank for d in dims):
            return None
        rest = [d for d in range(rank) if d not in dims]
        return [*dims, *rest] if place == 0 and len(axes) == 2 else [*rest, *dims]

    def operand(self, name: str, value: Any) -> Any:
        kind = self.kind(name).removeprefix("list[")
        if kind != self.kind(name):
            return [self.operand_of(name, kind, each) for each in value]
        return self.operand_of(name, kind, value)

    def operand_of(self, name: str, kind: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            if "[" in kind or element_of(kind) == "int":
                return value
            return self.number(value, kind)
        if self.row["kind"] == "elementwise" and kind.startswith("acc("):
            return self.number(number_of(name, value), kind)
        value = value.detach().resolve_conj().to(self.dtype_of(element_of(kind)))
        if not value.dim() and any(not axis.startswith("*") for axis in self.dims):
            value = value.reshape(1) if axes_of(kind) else value
        if self.row["kind"] == "elementwise":
            return value
        for dims in self.dims.values():
            packs = axes_of(kind)
            bound = [a for a in packs if a in self.dims]
            # Statistics that keep the reduced dimensions as ones.
            if not bound and packs and all(a.startswith("*") for a in packs):
                reduced = [d for d in dims if d < value.dim() and value.shape[d] == 1]
                if len(reduced) == len(dims) and name not in ("source",):
                    kept = [n for d, n in enumerate(value.shape) if d not in reduced]
                    value = value.reshape(kept)
        order = self.layout(kind, value.dim())
        return value if order is None else value.permute(order)

    def number(self, value: Any, kind: str) -> Any:
        element = element_of(kind)
        if element in ("bool", "int"):
            return value
        dtype = self.dtype_of(element)
        if isinstance(value, complex):
            raise UnfitError("the host passes no complex numbers")
        return float(value) if dtype in FLOATS or dtype.is_complex else int(value)

    def broadcast(self, ours: dict[str, Any]) -> None:
        """Tensors with fewer or shorter axes than others of the same name grow."""
        extents: dict[str, int] = {}
        packs: dict[str, list[int]] = {}
        tensors = {n: v for n, v in ours.items() if isinstance(v, torch.Tensor)}
        for name, value in tensors.items():
            axes = axes_of(self.kind(name))
            if len(axes) == value.dim() and not any(a.startswith(("*", "(")) for a in axes):
                for axis, size in zip(axes, value.shape, strict=True):
                    extents[axis] = size if extents.get(axis, 1) == 1 else extents[axis]
            elif len(axes) == 1 and axes[0].startswith("*"):
                known = packs.get(axes[0], [])
                packs[axes[0]] = list(torch.broadcast_shapes(tuple(known), value.shape))
        for name, value in tensors.items():
            axes = axes_of(self.kind(name))
            if len(axes) == 1 and axes[0] in packs:
                ours[name] = expanded(value, packs[axes[0]])
            elif axes and all(a in extents for a in axes) and value.dim() <= len(axes):
                ours[name] = expanded(value, [extents[a] for a in axes])

    def prepared(
        self, expected: Sequence[Any]
    ) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
        """The function of the module, and what to call it with."""
        self.solve_types(expected)
        ours = {name: self.operand(name, value) for name, value in self.operands()}
        if self.row["kind"] == "rowwise":
            self.broadcast(ours)
        for name, value in self.constants.items():
            is_mask = isinstance(value, list) and all(isinstance(v, bool) for v in value)
            if is_mask:
                value = "".join("01"[v] for v in value)
            ours[name] = value
        for axis, dims in self.dims.items():
            if axis.startswith("*"):
                ours[axis[1:]] = len(dims)
        function: Callable[..., Any] = getattr(module(self.row["file"]), self.row["declaration"])
        positional = []
        for name, _, is_compile_time in self.row["parameters"]:
            if is_compile_time:
                continue
            if name not in ours:
                positional.append(None)
            else:
                positional.append(ours.pop(name))
        if not any(isinstance(v, torch.Tensor) for v in flat(positional)):  # NumPy lacks types
            outs = [torch.empty_like(e) for e in expected]
            ours["out"] = outs[0] if len(outs) == 1 else outs
        return function, positional, ours

    def run(self, expected: Sequence[Any]) -> list[Any]:
        function, positional, ours = self.prepared(expected)
        try:
            results = function(*positional, **ours)
        except quern.Error as error:
            code = error.diagnostics[0]["code"] if error.diagnostics else ""
            if code[2:].isdigit() and int(code[2:]) in SHAPE_FAULTS:
                raise UnfitError(f"shapes: {error.diagnostics[0]['message']}") from None
            raise
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        return [
            self.restored(r, kind, e) if isinstance(r, torch.Tensor) else r
            for r, kind, e in zip(results, self.row["results"], expected, strict=False)
        ]

    def restored(self, result: torch.Tensor, kind: str, expected: Any) -> torch.Tensor:
        kind = unnamed(kind)
        if self.indices:
            order = self.indices.read_order(result.dim())
            if "*" not in axes_of(kind)[0]:
                places = self.indices.order
                order = [places.index(d) for d in range(result.dim())]
            return result.permute(order)
        order = self.layout(kind, result.dim())
        if order is not None:
            result = result.permute([order.index(d) for d in range(result.dim())])
        if isinstance(expected, torch.Tensor) and result.dim() != expected.dim():
            return result.reshape(expected.shape)  # keepdim
        return result
