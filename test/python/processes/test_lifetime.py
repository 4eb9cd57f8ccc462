"""What nobody holds is given back: kernels, their code and their texts."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
import quern

# A text and a kernel each; only the newest is held.
TEXT = """
import sys
import numpy as np, quern

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def mappings():
    with open("/proc/self/maps") as file:
        return sum(1 for _ in file)

x = np.ones(4, np.float32)
first, count = int(sys.argv[1]), int(sys.argv[2])
for number in range(count):
    if number == first:
        before = memory(), mappings()
    body = f"    return x * {number}.25 + {number}\\n"
    module = quern.compile("elementwise f(x: f32) -> f32:\\n" + body)
    result = module.f(x)
    assert result[0] == np.float32(np.float32(number + 0.25) + np.float32(number))
after = memory(), mappings()
print(after[0] - before[0], after[1] - before[1])
"""


def growth(first: int, count: int, **variables: str) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", TEXT, str(first), str(count)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "QUERN_CACHE_DIR": "-", **variables},
    )
    memory, mappings = done.stdout.split()
    return int(memory), int(mappings)


def test_distinct_kernels_take_no_more_memory() -> None:
    """QUERN_LIFETIME_KERNELS asks for as many as a day makes."""
    count = int(os.environ.get("QUERN_LIFETIME_KERNELS", "1500"))
    memory, mappings = growth(min(500, count // 2), count, QUERN_MOST_KERNELS="100")
    assert memory < 32 << 20
    assert mappings < 64


def test_a_module_goes_with_its_last_holder() -> None:
    """A callable that was taken from it does not hold it."""
    module = quern.compile("elementwise f(x: f32) -> f32:\n    return x + 1\n")
    f, seen = module.f, weakref.ref(module)
    del module
    gc.collect()
    assert seen() is None
    assert f(np.zeros(2, np.float32)).tolist() == [1, 1]


def test_a_kernel_that_is_held_outlives_the_bound() -> None:
    child = """
import numpy as np, quern
x = np.zeros(4, np.float32)
held = [quern.compile(f"elementwise f(x: f32) -> f32:\\n    return x + {i}\\n") for i in range(8)]
for _ in range(3):
    for i, module in enumerate(held):
        assert module.f(x).tolist() == [i] * 4
        assert module.f(x.reshape(2, 2)).tolist() == [[i] * 2] * 2
"""
    subprocess.run(
        [sys.executable, "-c", child],
        check=True,
        env={**os.environ, "QUERN_CACHE_DIR": "-", "QUERN_MOST_KERNELS": "2"},
    )


def test_messages_name_the_lines_of_texts_that_stay() -> None:
    """Texts before and behind one are gone when it is asked where it stands."""
    texts = [
        quern.compile(
            "\n" * number + "rowwise g(x: f32[N], i: i64[M]) -> f32[M]:\n    return x.at(N = i)\n"
        )
        for number in range(20)
    ]
    kept = texts[7]
    del texts
    gc.collect()
    for _ in range(5):
        quern.compile("elementwise f(x: f32) -> f32:\n    return x\n")
    with pytest.raises(quern.Error, match=":9:"):
        kept.g(np.ones(2, np.float32), np.array([5]))
