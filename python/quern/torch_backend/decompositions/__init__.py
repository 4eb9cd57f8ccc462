"""What AOTAutograd takes apart, and how: the one place where Python names operators."""

from .attention import attention_apart
from .resampling import whole_resampling
from .table import decomposition_table

__all__ = ["attention_apart", "decomposition_table", "whole_resampling"]
