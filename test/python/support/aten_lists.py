"""Overloads on lists of tensors that have a test of their own: optimizer steps and arithmetic."""

from __future__ import annotations

import torch

ARITHMETIC = (
    ("add_lists", "_foreach_add_.List", 2, (0.5,)),
    ("add_number", "_foreach_add_.Scalar", 1, (2.0,)),
    ("subtract_lists", "_foreach_sub_.List", 2, (0.5,)),
    ("multiply_lists", "_foreach_mul_.List", 2, ()),
    ("multiply_number", "_foreach_mul_.Scalar", 1, (3.0,)),
    ("multiply_tensor", "_foreach_mul_.Tensor", 1, (torch.tensor(3.0),)),
    ("divide_lists", "_foreach_div_.List", 2, ()),
    ("divide_number", "_foreach_div_.Scalar", 1, (3.0,)),
    ("add_products", "_foreach_addcmul_.Scalar", 3, (0.25,)),
    ("add_quotients", "_foreach_addcdiv_.Scalar", 3, (0.25,)),
    ("interpolate_lists", "_foreach_lerp_.Scalar", 2, (0.25,)),
)
ON_LISTS = {f"aten::_fused_{name}_" for name in ("adam", "adamw", "sgd")}
ON_LISTS |= {f"aten::{theirs}" for _, theirs, _, _ in ARITHMETIC}
