"""Arrays of any layout between pages that cannot be touched.

>>> import numpy as np
>>> from guarded import Guarded
>>> x = Guarded((2, 3), np.float32, strides=(4, 1))
>>> x.array[...] = 1
>>> x.is_untouched()
True
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Strides = tuple[int, ...]

#: What the bytes between the elements hold.
FILL = 0xA5


class Guarded:
    """Memory that holds one array and nothing else, behind and in front of guard pages.

    `strides` count elements and may be negative. With `at_end` the last byte of the array is the
    last one before a guard page, else its first byte is the first one behind a guard page.
    `offset` moves the array that many bytes away from there.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        strides: Strides | None = None,
        *,
        at_end: bool = True,
        offset: int = 0,
    ) -> None:
        item, page = np.dtype(dtype).itemsize, mmap.PAGESIZE
        steps = row_major(shape) if strides is None else strides
        ends = [step * (size - 1) for step, size in zip(steps, shape, strict=True)]
        is_empty = 0 in shape
        before = 0 if is_empty else -sum(end for end in ends if end < 0)
        behind = 0 if is_empty else sum(end for end in ends if end > 0) + 1
        reach = (before + behind) * item + offset
        size = max(-(-reach // page), 1) * page
        self._memory = mmap.mmap(-1, size + 2 * page)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for place in (begin, begin + page + size):
            if protect(ctypes.c_void_p(place), ctypes.c_size_t(page), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self._bytes: Array = np.frombuffer(self._memory, np.uint8, size, page)
        self._bytes[:] = FILL
        first = (size - reach if at_end else offset) + before * item
        self._place = (tuple(shape), tuple(step * item for step in steps), first)
        self._item = item
        self.array: Array = np.ndarray(
            self._place[0], dtype, self._memory, page + first, self._place[1]
        )

    def is_untouched(self) -> bool:
        """Whether the bytes that belong to no element are what they were."""
        shape, steps, first = self._place
        own = np.zeros(self._bytes.size, bool)
        np.ndarray((*shape, self._item), bool, own.data, first, (*steps, 1))[...] = True
        return bool((self._bytes[~own] == FILL).all())


def row_major(shape: Sequence[int]) -> Strides:
    steps = [1]
    for size in reversed(shape[1:]):
        steps.append(steps[-1] * size)
    return tuple(reversed(steps[: len(shape)]))


def ordered(shape: Sequence[int], order: Sequence[int], step: int = 1, pad: int = 0) -> Strides:
    """Axes of this order, the innermost last, `step` apart, with a gap behind each of them."""
    steps = [0] * len(shape)
    for axis in reversed(order):
        steps[axis] = step
        step = step * max(shape[axis], 1) + pad
    return tuple(steps)


def layouts(shape: Sequence[int]) -> Iterator[tuple[str, Strides]]:
    """Every order of the axes: dense, with gaps between lines, with gaps between elements (as
    the real parts of complex numbers lie), and backwards along each axis."""
    for order in permutations(range(len(shape))):
        name = "".join(map(str, order))
        dense = ordered(shape, order)
        yield name, dense
        yield f"{name}-padded", ordered(shape, order, pad=3)
        for step in (2, 3, 4):
            yield f"{name}-step{step}", ordered(shape, order, step)
        for axis in range(len(shape)):
            turned = list(dense)
            turned[axis] *= -1
            yield f"{name}-back{axis}", tuple(turned)


def random_strides(rng: np.random.Generator, shape: Sequence[int], backwards: bool) -> Strides:
    """Axes in any order, any step between neighbours, gaps behind lines."""
    steps = [0] * len(shape)
    step = int(rng.choice([1, 1, 1, 2, 3, 4]))
    for axis in rng.permutation(len(shape)):
        steps[axis] = step * (-1 if backwards and rng.random() < 0.2 else 1)
        step = step * max(shape[axis], 1) + int(rng.choice([0, 0, 0, 1, 3]))
    return tuple(steps)
