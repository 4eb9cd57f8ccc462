"""What AOTAutograd takes apart, and how: the one place where Python names operators."""

from .functions import functions_traced
from .sums import join_sums
from .table import decomposition_table

__all__ = ["decomposition_table", "functions_traced", "join_sums"]
