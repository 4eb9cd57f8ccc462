"""What of a model is compared, and what counts as equal to eager: the rule of the model tests."""

import copy
from collections.abc import Iterator
from typing import Any

import torch

# A network of small batches doubles and halves this with its seed, in eager as here.
FLOOR = 2e-4
# What is zero but for cancellation keeps the rounding of the values it came from.
CANCELLED = 1e-7


def tensors(value: Any, path: str = "output") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in a nest of dictionaries, tuples and lists, with its path."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors(item, f"{path}.{key}")
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from tensors(item, f"{path}[{index}]")


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    if a.numel() == 0:
        return 0.0
    return (a.double() - b.double()).abs().max().item()


def assert_as_good_as_eager(ours: Any, eager: Any, exact: Any) -> None:
    """Each tensor is within four times eager's own distance to the float64 run, or within
    FLOOR of its largest value, or CANCELLED of the largest of all; and it has eager's type, shape
    and strides."""
    largest = max((c.abs().max().item() for _, c in tensors(exact) if c.numel()), default=0.0)
    for (path, a), (_, b), (_, c) in zip(
        tensors(ours), tensors(eager), tensors(exact), strict=True
    ):
        assert a.dtype == b.dtype, path
        assert a.shape == b.shape, path
        assert a.stride() == b.stride(), f"{path}: {a.stride()} is not {b.stride()}"
        scale = c.abs().max().item() if c.numel() else 0.0
        allowed = max(4 * distance(b, c), FLOOR * scale, CANCELLED * largest)
        error = distance(a, c)
        assert error <= allowed, f"{path}: off by {error:.3g}, allowed {allowed:.3g}"


def step_results(module: torch.nn.Module, call: Any, inputs: tuple[torch.Tensor, ...]) -> Any:
    """Results, gradients and buffers of a step through `call`."""
    own = tuple(x.clone().requires_grad_(x.is_floating_point()) for x in inputs)
    results = call(*own)
    loss = sum(each.double().sin().sum() for _, each in tensors(results) if each.requires_grad)
    assert isinstance(loss, torch.Tensor)
    loss.backward()
    gradients = [p.grad for p in (*own, *module.parameters()) if p.grad is not None]
    return [results, gradients, list(module.buffers())]


def steps(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], preferred: str, widens: bool = True
) -> tuple[Any, Any, Any]:
    """A step of ours, strict, eager's, and one in float64 where the module `widens`."""
    twin = copy.deepcopy(module)
    exact = None
    if widens:
        wide = copy.deepcopy(module).double()
        doubled = tuple(x.double() if x.is_floating_point() else x for x in inputs)
        exact = step_results(wide, wide, doubled)
    eager = step_results(module, module, inputs)
    options = {"fallback": "error", "preferred": preferred}
    compiled = torch.compile(twin, backend="quern", options=options)
    return step_results(twin, compiled, inputs), eager, exact
