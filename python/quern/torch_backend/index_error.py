"""The error of an index that is out of range."""

from __future__ import annotations


class IndexRangeError(IndexError, RuntimeError):
    """An index out of range: ATen's operators report it as either of the two."""
