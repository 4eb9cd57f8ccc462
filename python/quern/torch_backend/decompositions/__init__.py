"""What AOTAutograd takes apart, and how: the one place where Python names operators."""

from .attention import attention_apart
from .table import decomposition_table
from .whole import operators_whole

__all__ = ["attention_apart", "decomposition_table", "operators_whole"]
