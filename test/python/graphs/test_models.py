"""The twelve models in tiny size: inference and two training steps equal eager's."""

import copy
from typing import Any

import pytest
import torch
from comparison import assert_as_good_as_eager
from models import NAMES, Task, build

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def as_double(value: Any) -> Any:
    """The same inputs in float64, integers left as they are."""
    floating = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if floating else value


def infer(task: Task, module: Any, inputs: dict[str, Any]) -> Any:
    with torch.no_grad():
        output = module(**inputs)
    return output if isinstance(output, torch.Tensor) else dict(output)


def train(task: Task, module: torch.nn.Module, call: Any, inputs: dict[str, Any]) -> Any:
    """Two steps with an update between: losses, gradients and buffers."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    steps = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = task.loss(call(**inputs))
        loss.backward()
        gradients = {
            name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None
        }
        steps.append({"loss": loss.detach(), "gradients": gradients})
        optimizer.step()
    buffers = {name: b.clone() for name, b in module.named_buffers() if b.is_floating_point()}
    return {"steps": steps, "buffers": buffers}


@pytest.mark.parametrize("name", NAMES)
def test_inference(name: str) -> None:
    task = build(name, tiny=True)
    task.module.eval()
    exact_module = copy.deepcopy(task.module).double()
    exact = infer(task, exact_module, {k: as_double(v) for k, v in task.inputs.items()})
    eager = infer(task, task.module, task.inputs)
    compiled = torch.compile(task.module, backend="quern")
    assert_as_good_as_eager(infer(task, compiled, task.inputs), eager, exact)


@pytest.mark.parametrize("name", NAMES)
def test_two_training_steps(name: str) -> None:
    task = build(name, tiny=True)
    task.module.train()
    copies = [copy.deepcopy(task.module) for _ in range(2)]
    doubled = {k: as_double(v) for k, v in task.inputs.items()}
    exact_module = copies[0].double()
    exact = train(task, exact_module, exact_module, doubled)
    eager = train(task, copies[1], copies[1], task.inputs)
    compiled = torch.compile(task.module, backend="quern")
    ours = train(task, task.module, compiled, task.inputs)
    assert_as_good_as_eager(ours, eager, exact)
