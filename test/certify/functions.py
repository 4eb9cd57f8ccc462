"""The functions of the prelude that are certified: reference and largest error allowed in f32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Function:
    """One row: `double` serves the types up to f32, `extended` f64. Smaller results than
    `floor` are compared in units of `floor`: where a function has zeros within its range."""

    double: Callable[..., torch.Tensor]
    extended: Callable[..., np.ndarray] | None
    bar: float
    operands: int = 1
    floor: float = 0.0


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _softplus_double(x: torch.Tensor) -> torch.Tensor:
    return x.clamp_min(0) + torch.log1p(torch.exp(-x.abs()))


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _cbrt(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.cbrt(x.numpy()))


def _remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """NumPy's, whose zeros have the divisor's sign as well."""
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.remainder(x.numpy(), y.numpy()))


def _sinc(x: torch.Tensor) -> torch.Tensor:
    """From the distance to the nearest integer, which is exact."""
    whole = x.round()
    sine = torch.sin(torch.pi * (x - whole)) / (torch.pi * x)
    return torch.where(x == 0, 1.0, torch.where(torch.fmod(whole, 2) == 0, sine, -sine))


def _odd(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Zeros keep their sign."""
    return lambda x: torch.copysign(f(x), x)


def _trigamma(x: torch.Tensor) -> torch.Tensor:
    """Poles at zero and the negative integers, where rounded sines leave something finite."""
    pole = (x <= 0) & (x == x.floor()) & x.isfinite()
    return torch.where(pole, torch.inf, torch.polygamma(1, x))


FUNCTIONS = {
    "acos": Function(torch.acos, np.arccos, 2),
    "acosh": Function(torch.acosh, np.arccosh, 2),
    "asin": Function(torch.asin, np.arcsin, 2),
    "asinh": Function(torch.asinh, np.arcsinh, 2),
    "atan": Function(torch.atan, np.arctan, 2),
    "atan2": Function(torch.atan2, np.arctan2, 2, operands=2),
    "atanh": Function(torch.atanh, np.arctanh, 2),
    "bessel_i0": Function(torch.special.i0, None, 2),
    "bessel_i0e": Function(torch.special.i0e, None, 2),
    "bessel_i1": Function(_odd(torch.special.i1), None, 2),
    "bessel_i1e": Function(_odd(torch.special.i1e), None, 2),
    "cbrt": Function(_cbrt, np.cbrt, 2),
    "cos": Function(torch.cos, np.cos, 1),
    "cosh": Function(torch.cosh, np.cosh, 2),
    "digamma": Function(torch.digamma, None, 2, floor=0.25),
    "erf": Function(torch.erf, None, 2),
    "erfc": Function(torch.special.erfc, None, 2),
    "erfinv": Function(torch.erfinv, None, 2),
    "exp": Function(torch.exp, np.exp, 1),
    "exp2": Function(torch.exp2, np.exp2, 1),
    "expm1": Function(torch.expm1, np.expm1, 2),
    "fmod": Function(torch.fmod, np.fmod, 2, operands=2),
    "hypot": Function(torch.hypot, np.hypot, 2, operands=2),
    "lgamma": Function(torch.lgamma, None, 2, floor=0.25),
    "log": Function(torch.log, np.log, 1),
    "log10": Function(torch.log10, np.log10, 2),
    "log1p": Function(torch.log1p, np.log1p, 2),
    "log2": Function(torch.log2, np.log2, 1),
    "normal_quantile": Function(torch.special.ndtri, None, 4),
    "pow": Function(torch.pow, np.power, 2, operands=2),
    "remainder": Function(_remainder, np.remainder, 2, operands=2),
    "rsqrt": Function(torch.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "sigmoid": Function(torch.sigmoid, _sigmoid, 2),
    "sin": Function(torch.sin, np.sin, 1),
    "sinc": Function(_sinc, None, 2),
    "sinh": Function(torch.sinh, np.sinh, 2),
    "softplus": Function(_softplus_double, _softplus, 2),
    "sqrt": Function(torch.sqrt, np.sqrt, 1),
    "tan": Function(torch.tan, np.tan, 2),
    "tanh": Function(torch.tanh, np.tanh, 1),
    "trigamma": Function(_trigamma, None, 2),
}


def source(name: str) -> str:
    """A text with one declaration, `measured`, that calls the function."""
    names = ["x", "y"][: FUNCTIONS[name].operands]
    parameters = ", ".join(f"{n}: T" for n in names)
    call = f"{name}({', '.join(names)})"
    return f"elementwise measured[T: Float]({parameters}) -> T:\n    return {call}\n"
