"""Random PyTorch programs give what eager gives: values, strides, aliases, gradients.

>>> # QUERN_TEST_ALL=1 runs 2,000 programs instead of a slice.
"""

from __future__ import annotations

import hashlib
import os

import pytest
from graph_runs import run
from slices import commit

EXAMPLES = 2000 if os.environ.get("QUERN_TEST_ALL") else 25
FIRST = (
    0
    if os.environ.get("QUERN_TEST_ALL")
    else int(hashlib.sha256(commit().encode()).hexdigest()[:6], 16)
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(EXAMPLES))
def test_random_graph(number: int) -> None:
    assert not (why := run(FIRST + number)), why
