"""Every text has a budget: what needs more ends with a diagnostic, soon and in little memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import quern

X = np.linspace(-1, 1, 8, dtype=np.float32)

# Each ends in a message, in a process that may not have more than these bytes.
MEMORY = 6 << 30


def chain(count: int) -> str:
    """Functions that call the one before twice, with arguments that differ."""
    text = "fn s0[K: int](x: f32) -> f32:\n    return x * f32(K)\n\n"
    for number in range(1, count + 1):
        text += (
            f"fn s{number}[K: int](x: f32) -> f32:\n"
            f"    return s{number - 1}[2 * K](x) + s{number - 1}[2 * K + 1](x)\n\n"
        )
    return text + f"elementwise top(x: f32) -> f32:\n    return s{count}[1](x)\n"


def changing(count: int) -> str:
    """The same by arguments: no two calls are alike."""
    text = "fn s0(x: f32) -> f32:\n    return sin(x)\n\n"
    for number in range(1, count + 1):
        text += (
            f"fn s{number}(x: f32) -> f32:\n"
            f"    return s{number - 1}(x + 1) * s{number - 1}(x * 3)\n\n"
        )
    return text + f"elementwise top(x: f32) -> f32:\n    return s{count}(x)\n"


# Reads at places that are reads at places, each in a reduction of its own.
PLACES = """
rowwise top(x: i64[N], w: f32[N]) -> f32[N]:
    let a = sum(x.at(N = x + j) * j over j: 0 .. 9)
    let b = sum(a.at(N = a + j) * a.at(N = x * j) over j: 0 .. 9)
    let c = sum(b.at(N = b + j) * b.at(N = a * j) over j: 0 .. 9)
    let d = sum(c.at(N = c + j) * c.at(N = b * j) over j: 0 .. 9)
    let e = sum(d.at(N = d + j) * d.at(N = c * j) over j: 0 .. 9)
    return w.at(N = e)
"""

# Loops within loops, written out.
LOOPS = """
elementwise top(x: f32) -> f32:
    var y = x
    for a in range(32):
        for b in range(32):
            for c in range(32):
                for d in range(32):
                    y = sin(y) + f32(a * b) * y + f32(c * d)
    return y
"""

CHILD = """
import resource, sys, time
import numpy as np, quern
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
kernels = quern.compile(sys.stdin.read())
x = np.linspace(-1, 1, 8, dtype=np.float32)
places = np.arange(8)
try:
    kernels.top(*((places, x) if sys.argv[2] == "places" else (x,)))
    print("done")
except quern.Error as error:
    print(error)
good = quern.compile("elementwise good(x: f32) -> f32:\\n    return x + 1\\n")
assert (good.good(x) == x + 1).all()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "MiB")
"""


def message(text: str, kind: str = "", **variables: str) -> str:
    """What a process prints that compiles the text and another one."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(MEMORY), kind],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "QUERN_CACHE_DIR": "-", **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("count", [20, 30, 100])
@pytest.mark.parametrize("make", [chain, changing])
def test_functions_that_double(make: Callable[[int], str], count: int) -> None:
    """2 ** count calls are refused where the text has them."""
    text = message(make(count))
    assert "QN2061" in text
    assert "operations so far, the limit is 262144" in text
    assert "QUERN_MOST_OPERATIONS" in text
    assert f"return s{count}" in text  # the call in the kernel's own text


@pytest.mark.parametrize("count", [5000, 50_000])
def test_a_read_elsewhere_of_a_long_chain(count: int) -> None:
    names = "".join(f"    let y{i} = y{i - 1} + 1\n" for i in range(1, count))
    head = "rowwise top(x: f32[C]) -> f32[C]:\n    let y0 = x\n"
    text = message(f"{head}{names}    return y{count - 1}.at(C = 7 - index(C))\n")
    assert "depends on a chain of more than 3072 names" in text


def test_reads_at_places_of_reads() -> None:
    """Few lines, and each of them reads what all above make: it compiles within the limit.

    At places 0 everything is a sum of zeros, so that each place is in range.
    """
    places, x = np.zeros(8, np.int64), np.arange(8, dtype=np.float32) + 3
    for first in ("", "@portable\n"):
        text = PLACES.replace("= x + j", "= x * j").replace(" + j)", " * j)")
        np.testing.assert_array_equal(
            quern.compile(first + text.lstrip()).top(places, x), np.full(8, x[0])
        )


def test_loops_that_are_written_out() -> None:
    text = message(LOOPS)
    assert "QN2061" in text or "done" in text


def test_the_limit_is_an_option() -> None:
    assert "the limit is 5000" in message(chain(12), QUERN_MOST_OPERATIONS="5000")
    assert "QN2061" not in message(chain(10))


def test_a_limit_that_is_no_number() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import quern; quern.compile('')"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "QUERN_MOST_KERNELS": "many"},
    )
    assert "`QUERN_MOST_KERNELS` is `many`, must be a number" in done.stderr


def test_constants_share_their_steps() -> None:
    """Each alone would be within the limit."""
    loop = (
        "fn slow(n: int) -> int:\n    var y = 0\n"
        "    for i in range(n):\n        y = y + i\n    return y\n\n"
    )
    one = loop + "const A: int = slow(100000)\n"
    assert quern.compile(one)
    many = loop + "".join(f"const A{i}: int = slow(100000 + {i})\n" for i in range(200))
    with pytest.raises(quern.Error, match="QUERN_MOST_STEPS"):
        quern.compile(many)


def test_tuples_that_double() -> None:
    """Each line holds the tuple of the line above twice."""
    lines = "".join(f"    let t{i} = (t{i - 1}, t{i - 1})\n" for i in range(1, 61))
    text = "elementwise top(x: f32) -> f32:\n    let t0 = (x, x)\n" + lines + "    return x\n"
    with pytest.raises(quern.Error, match=r"QN1329.*more than 1024 values of a tuple"):
        quern.compile(text)


def test_calls_that_double() -> None:
    """Of constants: each function calls the one before twice."""
    text = "fn t0(x: int) -> int:\n    return x\n\n"
    for number in range(1, 61):
        text += (
            f"fn t{number}(x: int) -> int:\n    return t{number - 1}(x) + t{number - 1}(x + 1)\n\n"
        )
    with pytest.raises(quern.Error, match="QUERN_MOST_STEPS"):
        quern.compile(text + "const A: int = t60(1)\n")


def test_a_text_of_too_many_tokens() -> None:
    line = "    y = y + 1 # one more\n"
    text = "elementwise long(x: f32) -> f32:\n    var y = x\n" + line * 200_000 + "    return y\n"
    with pytest.raises(quern.Error, match=r"QN0019.*more than 1000000 tokens"):
        quern.compile(text)
    with pytest.raises(quern.Error, match="QN0019"):
        quern.compile("#\n" * 1_200_000)


def test_a_counter_made_of_sums_of_itself() -> None:
    """A bound that is folded takes each of its parts once."""
    lines = "".join(f"    let n{i} = n{i - 1} + n{i - 1}\n" for i in range(1, 61))
    text = (
        "elementwise top(x: f32) -> f32:\n    let n0 = 0\n" + lines + "    var y = x\n"
        "    for i in range(n60 + 3):\n        y = y + 1\n    return y\n"
    )
    np.testing.assert_array_equal(quern.compile(text).top(X), X + 1 + 1 + 1)


def test_this_process_stayed_small() -> None:
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 < MEMORY
