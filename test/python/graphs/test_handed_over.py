"""A graph compares what callers and operators hand it with what was traced: kernels trust it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

MAKERS: dict[str, Callable[[torch.Tensor], Any]] = {
    "right": lambda x: x * 2,
    "short": lambda x: x[:2] * 2,
    "long": lambda x: torch.cat([x, x]),
    "one": lambda x: x[:1] * 2,
    "none_left": lambda x: x[:0] * 2,
    "flat": lambda x: x.sum(),
    "deeper": lambda x: x[None] * 2,
    "double": lambda x: x.double(),
    "half": lambda x: x.half(),
    "whole": lambda x: x.long(),
    "meta": lambda x: torch.empty(x.shape, device="meta"),
    "sparse": lambda x: x.to_sparse(),
    "shrunk": lambda x: shrunk(x * 2),
}
RIGHT_SHAPES = ("meta", "sparse", "shrunk", "double", "half", "whole")


def shrunk(x: torch.Tensor) -> torch.Tensor:
    x.untyped_storage().resize_(4)
    return x


@pytest.fixture
def maker() -> Iterator[dict[str, Any]]:
    chosen: dict[str, Any] = {"make": MAKERS["right"]}
    with torch.library._scoped_library("quern_test", "DEF") as library:
        library.define("made(Tensor x) -> Tensor")
        library.define("several(Tensor x) -> (Tensor, Tensor)")
        library.define("listed(Tensor x) -> Tensor[]")
        library.define("counted(Tensor x) -> int")
        library.impl("made", lambda x: chosen["make"](x), "CPU")
        library.impl("several", lambda x: (x.clone(), chosen["make"](x)), "CPU")
        library.impl("listed", lambda x: [x.clone(), chosen["make"](x)], "CPU")
        library.impl("made", torch.empty_like, "Meta")
        library.impl("several", lambda x: (torch.empty_like(x), torch.empty_like(x)), "Meta")
        library.impl("listed", lambda x: [torch.empty_like(x), torch.empty_like(x)], "Meta")
        yield chosen
    torch._dynamo.reset()


FORMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "made": lambda x: torch.ops.quern_test.made(x) + x,
    "several": lambda x: torch.ops.quern_test.several(x)[1].sin(),
    "listed": lambda x: torch.ops.quern_test.listed(x)[1].sum() + x,
    "given_away": lambda x: torch.ops.quern_test.made(x),
    "viewed": lambda x: torch.ops.quern_test.made(x).view(2, 4).t().sin(),
}


@pytest.mark.parametrize("dynamic", [False, True])
def test_fewer_results_than_promised(maker: dict[str, Any], dynamic: bool) -> None:
    torch._dynamo.reset()
    lists = [3, 3]
    with torch.library._scoped_library("quern_test", "FRAGMENT") as library:
        library.define("counts(Tensor x) -> Tensor[]")
        library.impl("counts", lambda x: [x.clone() for _ in range(lists[0])], "CPU")
        library.impl("counts", lambda x: [torch.empty_like(x) for _ in range(lists[1])], "Meta")

        def function(x: torch.Tensor) -> torch.Tensor:
            return torch.ops.quern_test.counts(x)[2] + 1

        run = torch.compile(function, backend="quern", fullgraph=True, dynamic=dynamic)
        x = torch.rand(8)
        torch.testing.assert_close(run(x), x + 1)
        lists[0] = 2
        with pytest.raises(RuntimeError, match="gave 2 results"):
            run(x)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("wrong", [name for name in MAKERS if name != "right"])
@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_fake_kernel_is_named(
    maker: dict[str, Any], form: str, wrong: str, dynamic: bool
) -> None:
    torch._dynamo.reset()
    run = torch.compile(FORMS[form], backend="quern", fullgraph=True, dynamic=dynamic)
    x = torch.arange(8.0)
    torch.testing.assert_close(run(x), FORMS[form](x))
    maker["make"] = MAKERS[wrong]
    with pytest.raises(RuntimeError, match="incorrect fake kernel") as error:
        run(x)
    said = str(error.value)
    assert "quern_test::" in said
    assert "float32[8] on cpu" in said
    assert "test_handed_over.py" in said
    maker["make"] = MAKERS["right"]
    torch.testing.assert_close(run(x), FORMS[form](x))


def test_other_strides_are_no_error(maker: dict[str, Any]) -> None:
    """The values are the same ones."""
    torch._dynamo.reset()
    run = torch.compile(FORMS["made"], backend="quern", fullgraph=True)
    x = torch.rand(4, 6)
    run(x)
    maker["make"] = lambda x: (x.t().contiguous() * 2).t()
    torch.testing.assert_close(run(x), x * 2 + x)


ARGUMENTS: dict[str, Callable[[torch.Tensor], Any]] = {
    **{name: make for name, make in MAKERS.items() if name != "right"},
    "nothing": lambda x: None,
    "number": lambda x: 3,
    "text": lambda x: "x",
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("wrong", ARGUMENTS)
def test_a_graph_called_by_itself(wrong: str, place: int, dynamic: bool) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).sin() + y.sum()

    graph = graph_of(function, torch.ones(8), torch.ones(8), dynamic=dynamic)
    x, y = torch.rand(8), torch.rand(8)

    def given(x: Any, y: Any) -> list[Any]:
        return [*([8] if dynamic else []), x, y]

    torch.testing.assert_close(graph(given(x, y))[0], function(x, y))
    pair: list[Any] = [x, y]
    pair[place] = ARGUMENTS[wrong](pair[place])
    with pytest.raises((RuntimeError, IndexError, TypeError)):
        graph(given(*pair))
    torch.testing.assert_close(graph(given(x, y))[0], function(x, y))


def graph_of(function: Callable[..., Any], *inputs: torch.Tensor, dynamic: bool = False) -> Any:
    from quern.torch_backend.state import state

    torch._dynamo.reset()
    watcher: list[Any] = []
    state().watchers.append(watcher)
    try:
        torch.compile(function, backend="quern", dynamic=dynamic)(*inputs)
    finally:
        state().watchers.remove(watcher)
    [record] = watcher
    return record.graph


def test_both_shapes_of_an_argument_are_said() -> None:
    graph = graph_of(lambda x: x.sin(), torch.ones(3, 4))
    with pytest.raises(RuntimeError, match=r"float32\[3\] on cpu.*traced for float32\[3, 4\]"):
        graph([torch.ones(3)])


@pytest.mark.parametrize("wrong", ["short", "long", "double", "shrunk", "meta", "turned"])
def test_an_argument_that_a_kernel_writes(wrong: str) -> None:
    def function(x: torch.Tensor) -> None:
        x.mul_(2)

    graph = graph_of(function, torch.ones(4, 2))
    makers = {**MAKERS, "turned": lambda x: x.view(2, 4).t()}
    with pytest.raises(RuntimeError):
        graph([makers[wrong](torch.ones(4, 2))])


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_window_beyond_the_storage(dynamic: bool) -> None:
    """Through `as_strided` a kernel reads what lies behind its argument."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((6,), (2,), 1).sin() + 1

    whole = torch.rand(40)
    run = torch.compile(function, backend="quern", dynamic=dynamic)
    torch.testing.assert_close(run(whole[:4]), function(whole[:4]))
    with pytest.raises(RuntimeError):
        function(torch.rand(4))
    with pytest.raises(RuntimeError, match="of a storage of 16"):
        run(torch.rand(4))


def test_a_size_that_disagrees_with_its_number() -> None:
    graph = graph_of(lambda x: x.sin(), torch.ones(8), dynamic=True)
    with pytest.raises(RuntimeError):
        graph([1 << 40, torch.ones(8)])
    with pytest.raises(RuntimeError):
        graph([7, torch.ones(8)])
    torch.testing.assert_close(graph([9, torch.ones(9)])[0], torch.ones(9).sin())
