"""The elementwise functions `./dev bench cpu` times, in every contestant's own words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Function:
    """`text` is Quern, and also NumPy-like text for the peers where they agree."""

    name: str
    operands: int
    text: str
    eager: Callable[..., torch.Tensor]
    scalar: str = ""  # for Numba: with `math.` functions; empty: as `text`
    array: str = ""  # for JAX: with `jnp.` functions; empty: as `text`


def _chain8(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return (((x + y) * z - x) * y + z) * 0.5 + (x + y) * z


FUNCTIONS = (
    Function("mul_add", 3, "x * y + z", lambda x, y, z: torch.addcmul(z, x, y)),
    Function("chain8", 3, "(((x + y) * z - x) * y + z) * 0.5 + (x + y) * z", _chain8),
    Function("divide", 2, "x / y", torch.div),
    Function("relu", 1, "max(x, 0)", torch.relu, "max(x, np.float32(0))", "jnp.maximum(x, 0)"),
    Function("sqrt", 1, "sqrt(abs(x))", lambda x: x.abs().sqrt(), "math.sqrt(abs(x))",
             "jnp.sqrt(abs(x))"),
    Function("exp", 1, "exp(x)", torch.exp, "math.exp(x)", "jnp.exp(x)"),
    Function("log", 1, "log(abs(x))", lambda x: x.abs().log(), "math.log(abs(x))",
             "jnp.log(abs(x))"),
    Function("expm1", 1, "expm1(x)", torch.expm1, "math.expm1(x)", "jnp.expm1(x)"),
    Function("log1p", 1, "log1p(abs(x))", lambda x: x.abs().log1p(), "math.log1p(abs(x))",
             "jnp.log1p(abs(x))"),
    Function("sin", 1, "sin(x)", torch.sin, "math.sin(x)", "jnp.sin(x)"),
    Function("cos", 1, "cos(x)", torch.cos, "math.cos(x)", "jnp.cos(x)"),
    Function("tanh", 1, "tanh(x)", torch.tanh, "math.tanh(x)", "jnp.tanh(x)"),
    Function("erf", 1, "erf(x)", torch.erf, "math.erf(x)", "jax.scipy.special.erf(x)"),
    Function("sigmoid", 1, "1 / (1 + exp(-x))", torch.sigmoid,
             "np.float32(1) / (np.float32(1) + math.exp(-x))", "1 / (1 + jnp.exp(-x))"),
    Function("silu", 1, "x / (1 + exp(-x))", torch.nn.functional.silu,
             "x / (np.float32(1) + math.exp(-x))", "x / (1 + jnp.exp(-x))"),
    Function("gelu_erf", 1, "0.5 * x * (1 + erf(x * 0.7071067811865476))",
             torch.nn.functional.gelu,
             "np.float32(0.5) * x * (np.float32(1) + math.erf(x * np.float32(0.70710678)))",
             "0.5 * x * (1 + jax.scipy.special.erf(x * 0.7071067811865476))"),
    Function("gelu_tanh", 1,
             "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))",
             lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
             "np.float32(0.5) * x * (np.float32(1) + math.tanh(np.float32(0.7978845608) *"
             " (x + np.float32(0.044715) * x * x * x)))",
             "0.5 * x * (1 + jnp.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"),
    Function("pow25", 1, "pow(abs(x), 2.5)", lambda x: x.abs().pow(2.5),
             "abs(x) ** np.float32(2.5)", "abs(x) ** 2.5"),
    Function("atan", 1, "atan(x)", torch.atan, "math.atan(x)", "jnp.arctan(x)"),
    Function("rsqrt", 1, "rsqrt(abs(x))", lambda x: x.abs().rsqrt(),
             "np.float32(1) / math.sqrt(abs(x))", "jax.lax.rsqrt(abs(x))"),
)  # fmt: skip

NAMES = ("x", "y", "z")


def written_out(call: Callable[..., Any], operands: list[Any], out: Any, last: str = "") -> Any:
    """The call as a user writes it: an unpacked list costs as much as a small kernel."""
    names = NAMES[: len(operands)]
    scope = dict(zip(names, operands, strict=True), call=call, out=out)
    return eval(f"lambda: call({', '.join(names)}, {last}out)", scope)


def quern_source() -> str:
    """Every function as one Quern module, with the licence that the peers' code has."""
    parts = []
    for function in FUNCTIONS:
        parameters = ", ".join(f"{name}: T" for name in NAMES[: function.operands])
        parts.append(
            f"@fastmath\nelementwise bench_{function.name}[T: Float]({parameters}) -> T:\n"
            f"    return {function.text}\n"
        )
    return "\n".join(parts)


def numba_call(
    function: Function, arrays: list[Any], out: Any, parallel: bool
) -> Callable[[], Any]:
    import math

    import numba
    import numpy

    text = function.scalar or function.text.replace("0.5", "np.float32(0.5)")
    source = [f"def kernel({', '.join('_' + n for n in NAMES[: function.operands])}, out):"]
    source.append("    for i in prange(out.shape[0]):")
    source += [f"        {name} = _{name}[i]" for name in NAMES[: function.operands]]
    source.append(f"        out[i] = {text}")
    scope: dict[str, Any] = {"math": math, "np": numpy, "prange": numba.prange}
    exec("\n".join(source), scope)  # the text is this file's own
    kernel = numba.njit(fastmath=True, parallel=parallel)(scope["kernel"])
    return written_out(kernel, arrays, out)


def jax_call(function: Function, arrays: list[Any]) -> Callable[[], Any]:
    import jax
    import jax.numpy

    scope = {"jax": jax, "jnp": jax.numpy}
    parameters = ", ".join(NAMES[: function.operands])
    compiled = jax.jit(eval(f"lambda {parameters}: {function.array or function.text}", scope))
    operands = [jax.numpy.asarray(array) for array in arrays]
    return lambda: compiled(*operands).block_until_ready()
