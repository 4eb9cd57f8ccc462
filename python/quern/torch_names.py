"""Internal names of torch that the package uses, and the versions of torch that have them.

No other module of the package names anything internal to torch: a test in `test/repo` reads them
all. A name that torch moves gets a second row, with the versions that have it in the new place.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from ._platform import TORCH, numbers

if TYPE_CHECKING:  # A base class; the types of the others are not needed.
    from torch._inductor.output_code import OutputCode as OutputCode

Version = tuple[int, int]


class Row(NamedTuple):
    """Names of one module of torch, with the members of them that are used.

    `a.b` is the member `b` of `a`, and `c=a` is `a`, which the package calls `c`."""

    module: str
    names: str
    first: Version = (2, 13)
    last: Version | None = None
    """The last version that is known to have them; none: no version without them is known."""


# What each part of the package needs. `kernels`: `extern` calls and `quern.op`. `graphs`:
# torch.compile. `recording`: CUDA graphs; its modules are loaded only when a call is recorded.
_ROWS: dict[str, tuple[Row, ...]] = {
    "kernels": (
        Row("torch._C", "_dispatch_get_all_op_names _jit_get_schemas_for_operator"),
        Row("torch._ops", "OpOverload._schema OpOverload.namespace OpOverload.tags"),
        Row("torch._ops", "OpOverloadPacket"),
        Row("torch.utils._python_dispatch", "_disable_current_modes"),
        Row("torch.utils._pytree", "tree_leaves tree_map tree_map_only"),
    ),
    "graphs": (
        Row("torch._decomp", "_core_aten_decompositions_post_autograd get_decompositions"),
        Row("torch._dispatch.python", "no_python_dispatcher"),
        Row("torch._dynamo", "reset_dynamo=reset"),
        Row("torch._dynamo.backends.common", "aot_autograd"),
        Row("torch._dynamo.eval_frame", "innermost_fn"),
        Row("torch._dynamo.utils", "GmWrapper get_debug_dir"),
        Row(
            "torch._functorch._aot_autograd.autograd_cache",
            "AOTAutogradCache.iterate_over_candidates AOTAutogradCache._write_to_local_cache"
            " BypassAOTAutogradCache",
        ),
        Row(
            "torch._functorch._aot_autograd.runtime_wrappers",
            "SerializableCompiledFunction.compiled_fn",
        ),
        Row("torch._functorch._aot_autograd.schemas", "SerializableAOTDispatchCompiler"),
        Row(
            "torch._functorch.config",
            "bundled_autograd_cache cse enable_remote_autograd_cache"
            " force_non_lazy_backward_lowering patch_functorch=patch",
        ),
        Row("torch._functorch.partitioners", "min_cut_rematerialization_partition"),
        Row(
            "torch._functorch._aot_autograd.schemas",
            "ViewAndMutationMeta.bw_donated_idxs ViewAndMutationMeta.static_input_indices",
        ),
        Row("torch._guards", "TracingContext.fw_metadata TracingContext.try_get detect_fake_mode"),
        # The package has the operator under the module's name, so the functions are named.
        Row("torch._higher_order_ops.flex_attention", "_permute_strides math_attention"),
        Row("torch._inductor", "codecache.init_backend_registration"),
        Row(
            "torch._inductor.output_code",
            "OutputCode.post_compile OutputCode.prepare_for_serialization"
            " OutputCode.set_triton_bundle",
        ),
        Row(
            "torch._prims_common",
            "compute_elementwise_output_logical_to_physical_perm"
            " is_channels_last_contiguous_or_false is_contiguous_or_false",
        ),
        Row(
            "torch.fx.experimental.symbolic_shapes",
            "ShapeEnv.backed_var_to_val ShapeEnv.deferred_runtime_asserts ShapeEnv.guards"
            " ShapeEnv.replace ShapeEnv.var_to_range"
            " free_unbacked_symbols optimization_hint statically_known_true",
        ),
        Row("torch.fx.experimental.sym_node", "SymNode.expr SymNode.hint SymNode.shape_env"),
        Row("torch", "UntypedStorage._cdata _assert_async"),
        Row("torch.fx.node", "_side_effectful_functions"),
        Row("torch.utils._pytree", "TreeSpec tree_flatten tree_unflatten"),
        Row("torch.utils._sympy.interp", "sympy_interp"),
        Row("torch.utils._sympy.numbers", "int_oo"),
        Row("torch.utils._sympy.reference", "PythonReferenceAnalysis"),
        Row("torch.utils._sympy.symbol", "SymT.FLOAT SymT.UNBACKED_FLOAT SymT.UNBACKED_INT"),
        Row("torch.utils._sympy.symbol", "symbol_is_type"),
    ),
    "recording": (
        Row(
            "torch._dynamo.backends",
            "cudagraphs.check_for_skip cudagraphs.find_input_mutations"
            " cudagraphs.get_device_index cudagraphs.get_stack_traces",
        ),
        Row(
            "torch._inductor",
            "cudagraph_trees.CUDAGraphTreeManager.set_to_running_backward"
            " cudagraph_trees.cudagraphify_impl cudagraph_trees.get_manager"
            " cudagraph_utils.get_placeholder_info"
            " cudagraph_utils.log_cudagraph_skip_and_bump_counter",
        ),
        Row("torch._inductor.utils", "count_tangents"),
    ),
}


def _version() -> str:
    return str(importlib.import_module("torch").__version__)


def _rows(part: str) -> Iterator[Row]:
    """The rows of a part that hold for the torch that is installed; of one that is older than all
    that are known, those of the oldest."""
    version = max(numbers(_version()), TORCH[0])
    for row in _ROWS[part]:
        if row.first <= version and (row.last is None or version <= row.last):
            yield row


def _entries(row: Row) -> Iterator[tuple[str, list[str]]]:
    """What the package calls each name of a row, and the path to it in the module."""
    for entry in row.names.split():
        name, _, path = entry.rpartition("=")
        steps = path.split(".")
        yield name or steps[0], steps


def _step(found: Any, name: str) -> Any:
    """A member; of a package, also a module that was not loaded yet."""
    if not hasattr(found, name) and hasattr(found, "__path__"):
        return importlib.import_module(f"{found.__name__}.{name}")
    return getattr(found, name)


def _sets(kind: Any, name: str) -> bool:
    """Whether objects of a class have a member that the class itself lacks. Making an object to
    look at would cost seconds: torch's symbolic sizes load sympy."""
    if name in getattr(kind, "__dataclass_fields__", {}):
        return True
    methods = (inspect.unwrap(each) for each in vars(kind).values() if callable(each))
    return any(name in code.co_names for each in methods if (code := _code(each)))


def _code(function: Any) -> CodeType | None:
    return getattr(function, "__code__", None)


def _is_there(module: str, steps: Sequence[str]) -> bool:
    try:
        found: Any = importlib.import_module(module)
        for name in steps:
            if inspect.isclass(found) and not hasattr(found, name):
                return _sets(found, name)
            found = _step(found, name)
    except (ImportError, AttributeError):
        return False
    return True


def _lacks(names: Sequence[str]) -> str:
    said = ", ".join(f"`{name}`" for name in names)
    return f"torch {_version()} has no {said}, which quern's PyTorch backend uses"


@functools.cache
def missing(part: str) -> str:
    """Why a part of the package cannot work with this torch, by name; empty where it can.

    >>> missing("graphs")
    ''
    """
    rows = [(row.module, steps) for row in _rows(part) for _, steps in _entries(row)]
    names = [".".join([module, *steps]) for module, steps in rows if not _is_there(module, steps)]
    return _lacks(names) if names else ""


@functools.cache
def members() -> frozenset[str]:
    """All that follows a dot: the only internal members that the package may use."""
    rows = [row for part in _ROWS.values() for row in part]
    return frozenset(step for row in rows for _, steps in _entries(row) for step in steps[1:])


def listed() -> list[tuple[str, str]]:
    """Every name as the package calls it, and the last step of its path."""
    rows = [row for part in _ROWS.values() for row in part]
    return [(name, steps[-1]) for row in rows for name, steps in _entries(row)]


def __getattr__(name: str) -> Any:
    for part in _ROWS:
        for row in _rows(part):
            for known, steps in _entries(row):
                if known == name:
                    return _load(name, row.module, steps)
    raise AttributeError(f"module `quern.torch_names` has no attribute `{name}`")


def _load(name: str, module: str, steps: Sequence[str]) -> Any:
    """The object itself: of a class or module with members, that; of a renamed one, the end."""
    path = steps[:1] if steps[0] == name else steps
    if not _is_there(module, path):
        raise ImportError(_lacks([".".join([module, *path])]))
    found: Any = importlib.import_module(module)
    for step in path:
        found = _step(found, step)
    globals()[name] = found
    return found
