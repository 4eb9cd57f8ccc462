"""Calls of operators with a number that the tensors' type may not hold: a row for each argument
of an overload that is a number, or that takes one for a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

aten = torch.ops.aten
Call = Callable[..., Any]

# What the types of 16 bits cannot hold: too large, too small, between two of their values.
NUMBERS = (70000, -1e9, 0.3, 1e-8, 1e38, 2049, 65519.0, -0.7, 3, float("inf"), float("nan"))
# What f32 cannot hold.
LARGE_NUMBERS = (1e39, 1 / 3, 16777217, 1e-46, -2.0)


def tensors(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Three tensors of 48 elements, with the type's largest values and no numbers among them."""
    generator = torch.Generator().manual_seed(7)
    edges = torch.tensor(
        [0.0, -0.0, 0.25, 1.0, -1.0, 3.0, 1e4, -6e4, 65504.0, torch.inf, -torch.inf, torch.nan]
    )
    made = []
    for _ in range(3):
        plain = torch.randn(36, generator=generator) * torch.tensor([1.0, 100.0, 1e-3]).repeat(12)
        order = torch.randperm(48, generator=generator)
        made.append(torch.cat([plain, edges])[order].to(dtype))
    return tuple(made)


def square(x: torch.Tensor) -> torch.Tensor:
    """Plain numbers of 48."""
    return x.nan_to_num(0.5, 2.0, -2.0).clamp(-100, 100)[:16].view(4, 4)


def size(n: float) -> float:
    """Where an operator refuses negative numbers."""
    return abs(n)


def unit(x: torch.Tensor) -> torch.Tensor:
    return x.abs() % 1


def zero_rank(n: float, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.tensor(float(n), dtype=dtype)


# Arithmetic: eager's bits. Every call takes the number and three tensors.
EXACT: dict[tuple[str, str], Call] = {
    ("add.Tensor", "other"): lambda n, x, y, z: x + n,
    ("add.Scalar", "other"): lambda n, x, y, z: aten.add.Scalar(x, n),
    ("sub.Tensor", "other"): lambda n, x, y, z: x - n,
    ("sub.Scalar", "other"): lambda n, x, y, z: aten.sub.Scalar(x, n),
    ("rsub.Scalar", "other"): lambda n, x, y, z: n - x,
    ("mul.Tensor", "other"): lambda n, x, y, z: x * n,
    ("mul.Scalar", "other"): lambda n, x, y, z: aten.mul.Scalar(x, n),
    ("div.Tensor", "other"): lambda n, x, y, z: x / n,
    ("div.Scalar", "other"): lambda n, x, y, z: aten.div.Scalar(x, n),
    ("true_divide.Scalar", "other"): lambda n, x, y, z: aten.true_divide.Scalar(x, n),
    ("div.Tensor_mode", "other"): lambda n, x, y, z: (
        torch.div(x, n, rounding_mode="floor"),
        torch.div(x, n, rounding_mode="trunc"),
    ),
    ("div.Scalar_mode", "other"): lambda n, x, y, z: (
        aten.div.Scalar_mode(x, n, rounding_mode="floor"),
        aten.div.Scalar_mode(x, n, rounding_mode="trunc"),
        aten.div.Scalar_mode(x, n, rounding_mode=None),
    ),
    ("floor_divide.Scalar", "other"): lambda n, x, y, z: aten.floor_divide.Scalar(x, n),
    ("remainder.Scalar", "other"): lambda n, x, y, z: x % n,
    ("fmod.Scalar", "other"): lambda n, x, y, z: torch.fmod(x, n),
    ("copysign.Scalar", "other"): lambda n, x, y, z: torch.copysign(x, n),
    ("lerp.Scalar", "weight"): lambda n, x, y, z: torch.lerp(x, y, n),
    ("addcmul", "value"): lambda n, x, y, z: aten.addcmul(x, y, z, value=n),
    ("addcdiv", "value"): lambda n, x, y, z: aten.addcdiv(x, y, z, value=n),
    ("eq.Scalar", "other"): lambda n, x, y, z: x == n,
    ("ne.Scalar", "other"): lambda n, x, y, z: x != n,
    ("lt.Scalar", "other"): lambda n, x, y, z: x < n,
    ("le.Scalar", "other"): lambda n, x, y, z: x <= n,
    ("gt.Scalar", "other"): lambda n, x, y, z: x > n,
    ("ge.Scalar", "other"): lambda n, x, y, z: x >= n,
    ("where.self", "other"): lambda n, x, y, z: (
        torch.where(y > 0, x, n),
        torch.where(y > 0, n, x),
    ),
    ("masked_fill.Scalar", "value"): lambda n, x, y, z: x.masked_fill(y > 0, n),
    ("fill.Scalar", "value"): lambda n, x, y, z: aten.fill.Scalar(x, n),
    ("new_full", "fill_value"): lambda n, x, y, z: (x.new_full((3,), n), torch.full_like(x, n)),
    ("clamp", "min"): lambda n, x, y, z: torch.clamp(x, min=n),
    ("clamp", "max"): lambda n, x, y, z: (torch.clamp(x, max=n), torch.clamp(x, -1, n)),
    ("clamp_min", "min"): lambda n, x, y, z: torch.clamp_min(x, n),
    ("clamp_max", "max"): lambda n, x, y, z: torch.clamp_max(x, n),
    ("threshold", "threshold"): lambda n, x, y, z: aten.threshold(x, n, 0.5),
    ("threshold", "value"): lambda n, x, y, z: aten.threshold(x, 0, n),
    ("threshold_backward", "threshold"): lambda n, x, y, z: aten.threshold_backward(y, x, n),
    ("hardtanh", "min_val"): lambda n, x, y, z: aten.hardtanh(x, n, 1e4),
    ("hardtanh", "max_val"): lambda n, x, y, z: aten.hardtanh(x, -1e4, n),
    ("hardtanh_backward", "min_val"): lambda n, x, y, z: aten.hardtanh_backward(y, x, n, 9e9),
    ("hardtanh_backward", "max_val"): lambda n, x, y, z: aten.hardtanh_backward(y, x, -1, n),
    ("leaky_relu", "negative_slope"): lambda n, x, y, z: aten.leaky_relu(x, n),
    ("leaky_relu_backward", "negative_slope"): lambda n, x, y, z: aten.leaky_relu_backward(
        y, x, n, False
    ),
    ("softshrink_backward", "lambd"): lambda n, x, y, z: aten.softshrink_backward(y, x, n),
    ("hardshrink_backward", "lambd"): lambda n, x, y, z: aten.hardshrink_backward(y, x, n),
    ("nan_to_num", "nan"): lambda n, x, y, z: aten.nan_to_num(x, n),
    ("nan_to_num", "posinf"): lambda n, x, y, z: aten.nan_to_num(x, 0.0, n),
    ("nan_to_num", "neginf"): lambda n, x, y, z: aten.nan_to_num(x, 0.0, 1.0, n),
    ("native_dropout_backward", "scale"): lambda n, x, y, z: aten.native_dropout_backward(
        x, y > 0, n
    ),
    ("constant_pad_nd", "value"): lambda n, x, y, z: aten.constant_pad_nd(x, [1, 2], n),
    ("index_fill.int_Scalar", "value"): lambda n, x, y, z: x.index_fill(
        0, torch.tensor([0, 5, 3]), n
    ),
    ("scatter.value", "value"): lambda n, x, y, z: x.scatter(0, torch.tensor([4, 2]), n),
    ("_unsafe_masked_index", "fill"): lambda n, x, y, z: aten._unsafe_masked_index(
        x, y > 0, [torch.arange(48)], n
    ),
}

# The number as a tensor without axes, of a wider type than the others.
ZERO_RANK: dict[str, Call] = {
    "mul": lambda n, x, y, z: x * zero_rank(n),
    "mul of f32": lambda n, x, y, z: x * zero_rank(n, torch.float32),
    "mul from the left": lambda n, x, y, z: zero_rank(n) * x,
    "div": lambda n, x, y, z: x / zero_rank(n),
    "div from the left": lambda n, x, y, z: zero_rank(n) / x,
    "div floor": lambda n, x, y, z: torch.div(x, zero_rank(n), rounding_mode="floor"),
    "div trunc": lambda n, x, y, z: torch.div(x, zero_rank(n), rounding_mode="trunc"),
    "floor_divide": lambda n, x, y, z: torch.floor_divide(x, zero_rank(n)),
    "add": lambda n, x, y, z: x + zero_rank(n),
    "sub from the left": lambda n, x, y, z: zero_rank(n) - x,
    "remainder": lambda n, x, y, z: x % zero_rank(n),
    "fmod": lambda n, x, y, z: torch.fmod(x, zero_rank(n)),
    "eq": lambda n, x, y, z: x == zero_rank(n),
    "where": lambda n, x, y, z: torch.where(y > 0, x, zero_rank(n)),
    "clamp": lambda n, x, y, z: torch.clamp(x, min=zero_rank(n)),
    "maximum": lambda n, x, y, z: torch.maximum(x, zero_rank(n)),
    "fmax": lambda n, x, y, z: torch.fmax(x, zero_rank(n, torch.float32)),
    "addcmul": lambda n, x, y, z: torch.addcmul(x, y, zero_rank(n)),
    "addcdiv": lambda n, x, y, z: torch.addcdiv(x, y, zero_rank(n)),
    "lerp": lambda n, x, y, z: torch.lerp(x, y, zero_rank(n, x.dtype)),
    "copysign": lambda n, x, y, z: torch.copysign(x, zero_rank(n)),
    "heaviside": lambda n, x, y, z: torch.heaviside(x, zero_rank(n, x.dtype)),
    "nextafter": lambda n, x, y, z: torch.nextafter(x, zero_rank(n, x.dtype)),
    "foreach_mul": lambda n, x, y, z: torch._foreach_mul([x, y], zero_rank(n)),
}

# In place, and on lists.
OTHER_FORMS: dict[str, Call] = {
    "mul_": lambda n, x, y, z: x.clone().mul_(n),
    "div_": lambda n, x, y, z: x.clone().div_(n),
    "add_": lambda n, x, y, z: x.clone().add_(n),
    "addcmul_": lambda n, x, y, z: aten.addcmul_(x.clone(), y, z, value=n),
    "addcdiv_": lambda n, x, y, z: aten.addcdiv_(x.clone(), y, z, value=n),
    "foreach_add": lambda n, x, y, z: torch._foreach_add([x, y], n),
    "foreach_mul": lambda n, x, y, z: torch._foreach_mul([x, y], n),
    "foreach_mul of several": lambda n, x, y, z: torch._foreach_mul([x, y], [n, 0.1]),
    "foreach_div": lambda n, x, y, z: torch._foreach_div([x, y], n),
    "foreach_addcmul": lambda n, x, y, z: torch._foreach_addcmul([x], [y], [z], n),
    "foreach_addcdiv": lambda n, x, y, z: torch._foreach_addcdiv([x], [y], [z], n),
    "foreach_lerp": lambda n, x, y, z: torch._foreach_lerp([x], [y], n),
    "foreach_clamp_min": lambda n, x, y, z: torch._foreach_clamp_min([x], n),
    "mask": lambda n, x, y, z: (1 - (y > 0).to(x.dtype)) * n,
}

# Sums and functions: eager's value class, and its values within the operator's bound.
NEAR: dict[tuple[str, str], Call] = {
    ("add.Tensor", "alpha"): lambda n, x, y, z: torch.add(x, y, alpha=n),
    ("add.Scalar", "alpha"): lambda n, x, y, z: aten.add.Scalar(x, 3, n),
    ("sub.Tensor", "alpha"): lambda n, x, y, z: torch.sub(x, y, alpha=n),
    ("sub.Scalar", "alpha"): lambda n, x, y, z: aten.sub.Scalar(x, 3, n),
    ("rsub.Tensor", "alpha"): lambda n, x, y, z: aten.rsub.Tensor(x, y, alpha=n),
    ("rsub.Scalar", "alpha"): lambda n, x, y, z: aten.rsub.Scalar(x, 3, n),
    # Eager's vectors and single numbers differ for 0 to a power that f32 rounds to 0.
    ("pow.Tensor_Scalar", "exponent"): lambda n, x, y, z: x.abs() ** (0.0 if abs(n) < 1e-45 else n),
    ("pow.Scalar", "self"): lambda n, x, y, z: size(n) ** x,
    ("xlogy.Scalar_Other", "other"): lambda n, x, y, z: torch.xlogy(x, n),
    ("xlogy.Scalar_Self", "self"): lambda n, x, y, z: torch.xlogy(n, x),
    ("special_xlog1py.other_scalar", "other"): lambda n, x, y, z: torch.special.xlog1py(x, n),
    ("special_xlog1py.self_scalar", "self"): lambda n, x, y, z: torch.special.xlog1py(n, x),
    ("elu", "alpha"): lambda n, x, y, z: aten.elu(x, n),
    ("elu", "scale"): lambda n, x, y, z: aten.elu(x, 1.0, n),
    ("elu", "input_scale"): lambda n, x, y, z: aten.elu(x, 1.0, 1.0, n),
    ("elu_backward", "alpha"): lambda n, x, y, z: aten.elu_backward(y, n, 1.3, 0.7, False, x),
    ("elu_backward", "scale"): lambda n, x, y, z: aten.elu_backward(y, 0.7, n, 0.7, False, x),
    ("elu_backward", "input_scale"): lambda n, x, y, z: aten.elu_backward(y, 0.7, 1.3, n, False, x),
    # Traced as its parts, whose comparison rounds: up to a number that all types hold.
    ("hardshrink", "lambd"): lambda n, x, y, z: aten.hardshrink(x, min(size(n), 64)),
    ("softshrink", "lambd"): lambda n, x, y, z: aten.softshrink(x, min(size(n), 64)),
    ("celu", "alpha"): lambda n, x, y, z: aten.celu(x, n),
    ("softplus", "beta"): lambda n, x, y, z: aten.softplus(x, n),
    ("softplus", "threshold"): lambda n, x, y, z: aten.softplus(x, 1, n),
    ("softplus_backward", "beta"): lambda n, x, y, z: aten.softplus_backward(y, x, n, 20),
    ("softplus_backward", "threshold"): lambda n, x, y, z: aten.softplus_backward(y, x, 1, n),
    ("rrelu_with_noise_backward", "lower"): lambda n, x, y, z: aten.rrelu_with_noise_backward(
        y, x, z, n, 0.4, False, False
    ),
    ("rrelu_with_noise_backward", "upper"): lambda n, x, y, z: aten.rrelu_with_noise_backward(
        y, x, z, 0.1, n, False, False
    ),
    ("logit", "eps"): lambda n, x, y, z: aten.logit(unit(x), size(n)),
    ("logit_backward", "eps"): lambda n, x, y, z: aten.logit_backward(y, unit(x), size(n)),
    ("huber_loss", "delta"): lambda n, x, y, z: aten.huber_loss(x, y, 0, size(n)),
    ("huber_loss_backward", "delta"): lambda n, x, y, z: aten.huber_loss_backward(
        z, x, y, 0, size(n)
    ),
    ("smooth_l1_loss", "beta"): lambda n, x, y, z: aten.smooth_l1_loss(x, y, 0, size(n)),
    ("smooth_l1_loss_backward", "beta"): lambda n, x, y, z: aten.smooth_l1_loss_backward(
        z, x, y, 0, size(n)
    ),
    ("addmm", "beta"): lambda n, x, y, z: torch.addmm(square(x), square(y), square(z), beta=n),
    ("addmm", "alpha"): lambda n, x, y, z: torch.addmm(square(x), square(y), square(z), alpha=n),
    ("addbmm", "beta"): lambda n, x, y, z: torch.addbmm(
        square(x), square(y)[None], square(z)[None], beta=n
    ),
    ("addbmm", "alpha"): lambda n, x, y, z: torch.addbmm(
        square(x), square(y)[None], square(z)[None], alpha=n
    ),
    ("baddbmm", "beta"): lambda n, x, y, z: torch.baddbmm(
        square(x)[None], square(y)[None], square(z)[None], beta=n
    ),
    ("baddbmm", "alpha"): lambda n, x, y, z: torch.baddbmm(
        square(x)[None], square(y)[None], square(z)[None], alpha=n
    ),
    ("addmv", "beta"): lambda n, x, y, z: torch.addmv(
        square(x)[0], square(y), square(z)[0], beta=n
    ),
    ("addmv", "alpha"): lambda n, x, y, z: torch.addmv(
        square(x)[0], square(y), square(z)[0], alpha=n
    ),
    ("addr", "beta"): lambda n, x, y, z: torch.addr(square(x), square(y)[0], square(z)[0], beta=n),
    ("addr", "alpha"): lambda n, x, y, z: torch.addr(
        square(x), square(y)[0], square(z)[0], alpha=n
    ),
    ("index_add", "alpha"): lambda n, x, y, z: x.index_add(
        0, torch.tensor([0, 5, 3]), y[:3], alpha=n
    ),
    ("scatter.value_reduce", "value"): lambda n, x, y, z: (
        x.scatter(0, torch.tensor([4, 2]), n, reduce="multiply"),
        x.scatter(0, torch.tensor([4, 2]), n, reduce="add"),
    ),
    ("isclose", "rtol"): lambda n, x, y, z: torch.isclose(square(x), square(y), rtol=size(n)),
    ("isclose", "atol"): lambda n, x, y, z: torch.isclose(square(x), square(y), atol=size(n)),
    ("native_layer_norm", "eps"): lambda n, x, y, z: aten.native_layer_norm(
        square(x), [4], None, None, size(n)
    )[0],
    ("native_group_norm", "eps"): lambda n, x, y, z: aten.native_group_norm(
        square(x)[None], None, None, 1, 4, 4, 2, size(n)
    )[0],
    ("_fused_rms_norm", "eps"): lambda n, x, y, z: torch.nn.functional.rms_norm(
        square(x), [4], None, size(n)
    ),
    ("linalg_vector_norm", "ord"): lambda n, x, y, z: aten.linalg_vector_norm(square(x), n, [1]),
    ("var.correction", "correction"): lambda n, x, y, z: torch.var(square(x), 1, correction=n),
    ("std.correction", "correction"): lambda n, x, y, z: torch.std(square(x), 1, correction=n),
    ("var_mean.correction", "correction"): lambda n, x, y, z: torch.var_mean(
        square(x), 1, correction=n
    ),
}
