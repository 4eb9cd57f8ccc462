"""Arrays between pages that nobody can touch.

>>> import numpy as np
>>> from guard_pages import between_pages
>>> between_pages(np.arange(3), at_end=True).tolist()
[0, 1, 2]
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def between_pages(array: Array, at_end: bool) -> Array:
    """A copy that ends where the page behind it begins, or begins where the one before it ends."""
    page = mmap.PAGESIZE
    size = -(-max(array.nbytes, 1) // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for place in (begin, begin + page + size):
        assert protect(ctypes.c_void_p(place), ctypes.c_size_t(page), 0) == 0
    offset = page + (size - array.nbytes if at_end else 0)
    result = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    result[...] = array
    return result
