"""Full garbage collections wait for a graph's compilation, and only for that."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
import quern
import torch
from quern.torch_backend.collecting import without_full_collections

NUMBERS = (701, 11, 12)


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*NUMBERS)
    # A full collection waits until the young are a quarter of the old.
    gc.freeze()
    gc.collect()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_none_while_a_graph_is_compiled() -> None:
    seen: set[int] = set()

    def look(phase: str, info: dict[str, int]) -> None:
        seen.add(info["generation"])

    def backend(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
        gc.callbacks.append(look)
        try:
            return quern.backend(module, inputs)
        finally:
            gc.callbacks.remove(look)

    gc.set_threshold(100, 1, 1)
    torch.compile(lambda x: x.sin().cos(), backend=backend)(torch.randn(5, requires_grad=True))
    assert seen == {0, 1}
    assert gc.get_threshold() == (100, 1, 1)


def test_an_error_puts_the_numbers_back() -> None:
    @torch.compile(backend="quern", options={"fallback": "error"})
    def function(x: torch.Tensor) -> torch.Tensor:
        inverse: torch.Tensor = torch.linalg.inv(x)
        return inverse

    with pytest.raises(Exception, match="linalg_inv"):
        function(torch.eye(3))
    assert gc.get_threshold() == NUMBERS


def test_the_last_of_several_threads_puts_them_back() -> None:
    inside, go = threading.Event(), threading.Event()

    def other() -> None:
        with without_full_collections():
            inside.set()
            go.wait()

    thread = threading.Thread(target=other)
    with without_full_collections():
        thread.start()
        inside.wait()
    assert gc.get_threshold()[2] > NUMBERS[2]
    go.set()
    thread.join()
    assert gc.get_threshold() == NUMBERS


def test_what_the_user_sets_meanwhile_stays() -> None:
    with without_full_collections():
        gc.set_threshold(5, 6, 7)
    assert gc.get_threshold() == (5, 6, 7)
