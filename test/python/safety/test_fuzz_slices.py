"""The first seeds of what `./dev fuzz` runs for as long as one likes."""

from __future__ import annotations

import damaged_caches
import damaged_recordings
import edited_schedules
import pytest
import random_small_graphs
from slices import everything

SEEDS = range(400 if everything() else 24)


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_caches(seed: int) -> None:
    assert not (why := damaged_caches.run(seed)), why


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_recordings(seed: int) -> None:
    assert not (why := damaged_recordings.run(seed)), why


@pytest.mark.parametrize("seed", SEEDS)
def test_edited_schedules(seed: int) -> None:
    assert not (why := edited_schedules.run(seed)), why


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_small_graphs(seed: int) -> None:
    assert not (why := random_small_graphs.run(seed)), why
