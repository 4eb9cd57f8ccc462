"""What AOTAutograd takes apart, and how: the one place where Python names operators."""

from .resampling import whole_resampling
from .table import decomposition_table

__all__ = ["decomposition_table", "whole_resampling"]
