"""What AOTAutograd takes apart, and how: the one place where Python names operators."""

from .functions import functions_traced
from .sums import join_sums
from .table import decomposition_table
from .written_inputs import copy_written_inputs, drop_copies

__all__ = [
    "copy_written_inputs",
    "decomposition_table",
    "drop_copies",
    "functions_traced",
    "join_sums",
]
