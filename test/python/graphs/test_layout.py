"""Convolution networks inside a graph: channels-last, with the promised strides outside."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import quern
import torch
from quern.torch_backend.layout import relaid
from torch import nn
from torch.func import functional_call
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


class Block(nn.Module):
    """An image and a vector from images."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.end = nn.Linear(8 * 6 * 6, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.norm(self.first(x)))
        y = self.second(y) + y
        return y, self.end(y.flatten(1))


def traced(network: nn.Module, x: torch.Tensor) -> tuple[GraphModule, list[torch.Tensor]]:
    """The network's graph over its parameters and an image, and these."""
    state = dict(network.state_dict())
    inputs = [*state.values(), x]

    def function(*values: torch.Tensor) -> Any:
        return functional_call(network, dict(zip(state, values, strict=False)), values[-1])

    return make_fx(function, tracing_mode="fake")(*inputs), inputs


def convolved(module: GraphModule) -> list[torch.Tensor]:
    nodes = module.graph.find_nodes(op="call_function", target=aten.convolution.default)
    return [node.args[0].meta["val"] for node in nodes]


def test_images_are_relaid_once_and_outputs_are_not() -> None:
    block = Block().eval()
    module, inputs = traced(block, torch.randn(2, 3, 6, 6))
    other = relaid(module)
    images = convolved(other)
    assert all(image.is_contiguous(memory_format=torch.channels_last) for image in images)
    clones = other.graph.find_nodes(op="call_function", target=aten.clone.default)
    # The image, the output, and the value before `flatten`.
    assert len(clones) == 3
    for ours, eager in zip(other(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()


def test_images_of_heavy_weights_are_turned_instead() -> None:
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.Conv2d(8, 8, 3, padding=1),
        nn.Conv2d(8, 64, 3),
        nn.Conv2d(64, 64, 3),
    )
    module, inputs = traced(network.eval(), torch.randn(2, 3, 6, 6))
    other = relaid(module)
    lies = [image.is_contiguous(memory_format=torch.channels_last) for image in convolved(other)]
    assert lies == [True, True, False, False]
    for ours, eager in zip(other(*inputs), module(*inputs), strict=True):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()


def test_the_module_given_stays_as_it_is() -> None:
    module, _ = traced(Block().eval(), torch.randn(2, 3, 6, 6))
    before = str(module.graph)
    assert relaid(module) is not module
    assert str(module.graph) == before


@pytest.mark.parametrize(
    "network",
    [
        nn.Conv2d(3, 4, 3),
        nn.Sequential(nn.Linear(6, 6), nn.ReLU()),
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 1)).to(memory_format=torch.channels_last),
    ],
    ids=["one", "none", "already"],
)
def test_others_are_left_alone(network: nn.Module) -> None:
    x = torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last)
    module, _ = traced(network.eval(), x if isinstance(network, nn.Sequential) else x.contiguous())
    assert relaid(module) is module


def test_compiled_inference_keeps_values_and_strides() -> None:
    block = Block().eval()
    compiled = torch.compile(block, backend="quern", fullgraph=True)
    for x in (
        torch.randn(2, 3, 6, 6),
        torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last),
    ):
        with torch.no_grad():
            for ours, eager in zip(compiled(x), block(x), strict=True):
                torch.testing.assert_close(ours, eager)
                assert ours.stride() == eager.stride()


def test_norm_joins_what_follows_its_convolution() -> None:
    quern.reset_counters()
    block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3))
    compiled = torch.compile(block.eval(), backend="quern", fullgraph=True)
    with torch.no_grad():
        compiled(torch.randn(2, 3, 40, 40))
    counters = quern.counters()
    assert counters["launches"] == 1
    assert not counters["fallbacks"]


@pytest.mark.parametrize("channels", [8, 16])
def test_compiled_training_keeps_gradients_and_strides(channels: int) -> None:
    # Of 8 channels oneDNN cannot derive a 1x1 convolution with steps channels-last.
    def network() -> nn.Module:
        first = [nn.Conv2d(3, channels, 3), nn.BatchNorm2d(channels), nn.ReLU()]
        return nn.Sequential(*first, nn.Conv2d(channels, 8, 1, 2), nn.Conv2d(8, 8, 3))

    torch.manual_seed(0)
    ours = network()
    eager = copy.deepcopy(ours)
    compiled = torch.compile(ours, backend="quern", fullgraph=True)
    for _ in range(2):
        x = torch.randn(2, 3, 24, 24, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        a, b = compiled(x), eager(y)
        a.square().sum().backward()
        b.square().sum().backward()
        assert a.stride() == b.stride()
        assert x.grad is not None
        assert y.grad is not None
        assert x.grad.stride() == y.grad.stride()
        torch.testing.assert_close(x.grad, y.grad, atol=1e-4, rtol=1e-4)
    for p, q in zip(ours.parameters(), eager.parameters(), strict=True):
        assert p.grad is not None
        assert q.grad is not None
        assert p.grad.stride() == q.grad.stride()
        torch.testing.assert_close(p.grad, q.grad, atol=2e-3, rtol=1e-3)


def heads(x: torch.Tensor) -> torch.Tensor:
    return x.view(2, 9, 3, 4).transpose(1, 2)


def attended(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Attention over operands that are laid out anew, and so is its result."""
    q, k, v = heads(-x).contiguous(), heads(-y).contiguous(), heads(x + y).contiguous()
    z = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return z.transpose(1, 2).contiguous().view(2, 9, 12) + 1


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Element by element of one tensor that is laid out anew."""
    z = (x + 1).transpose(1, 2).contiguous() * y[0, 0, 0]
    return y + torch.tanh(z).transpose(1, 2)


def turned_back(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What is promised is not contiguous."""
    return scaled(x, y.mT.contiguous().mT) + 1


def joined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).contiguous() + y.view(2, 12, 9)


def repeated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x[:, :1].expand(2, 9, 12).contiguous() * 2


def promised(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.exp(x.transpose(1, 2).contiguous())


def turned_attended(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Attention wants the elements of a row side by side."""
    q = (heads(x) + 1).mT.contiguous()
    k, v = heads(y).mT.contiguous(), (heads(y) * 2).mT.contiguous()
    return torch.nn.functional.scaled_dot_product_attention(q, k, v) + 1


def from_outside(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What the caller gave may be changed before the derivative is made."""
    return (x.transpose(1, 2).contiguous() * y[0, 0, 0]).transpose(1, 2) + 1


@pytest.mark.parametrize(
    ("function", "copies"),
    [
        (attended, 0),
        (turned_attended, 3),
        (scaled, 0),
        (turned_back, 1),
        (joined, 1),
        (repeated, 1),
        (promised, 1),
        (from_outside, 1),
    ],
)
def test_copies_that_readers_need_not_are_left_out(function: Any, copies: int) -> None:
    inputs = [torch.randn(2, 9, 12), torch.randn(2, 9, 12)]
    graph = make_fx(function, tracing_mode="fake")(*inputs)
    other = relaid(graph)
    assert len(other.graph.find_nodes(op="call_function", target=aten.clone.default)) == copies
    eager = function(*inputs)
    with torch.no_grad():
        compiled = torch.compile(function, backend="quern", fullgraph=True)(*inputs)
    for ours in (other(*inputs), compiled):
        torch.testing.assert_close(ours, eager)
        assert ours.stride() == eager.stride()


@pytest.mark.parametrize(
    "function", [attended, turned_attended, scaled, turned_back, joined, repeated, promised]
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_derivatives_without_copies(function: Any, dynamic: bool) -> None:
    torch._dynamo.reset()
    ours = [torch.randn(2, 9, 12, requires_grad=True) for _ in range(2)]
    eager = [x.detach().clone().requires_grad_() for x in ours]
    exact = [x.detach().double().requires_grad_() for x in ours]
    torch.compile(function, backend="quern", dynamic=dynamic)(*ours).square().sum().backward()
    for inputs in (eager, exact):
        function(*inputs).square().sum().backward()
    for x, y, z in zip(ours, eager, exact, strict=True):
        assert (x.grad is None) == (y.grad is None)
        if x.grad is not None and y.grad is not None and z.grad is not None:
            # Terms up to the largest derivative have been added up to each.
            room = 2e-6 * max(1.0, float(z.grad.abs().max()))
            torch.testing.assert_close(x.grad.double(), z.grad, rtol=1.3e-6, atol=room)
            assert x.grad.stride() == y.grad.stride()


def shown(x: torch.Tensor) -> torch.Tensor:
    return x.clone().view(-1)


def shown_of_made(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x + 1
    return y, y.clone().view(-1)


def kept_before_a_change(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    x.add_(1)
    return y.view(-1)


@pytest.mark.parametrize("function", [shown, shown_of_made, kept_before_a_change])
def test_a_copy_that_a_view_shows_is_a_copy(function: Any) -> None:
    """Neither an operand nor another result has the memory of a result."""
    torch._dynamo.reset()
    x = torch.randn(4, 6)
    wanted = function(x.clone())
    got = torch.compile(function, backend="quern", fullgraph=True)(x)
    torch.testing.assert_close(got, wanted)
    parts = [x, *(got if isinstance(got, tuple) else (got,))]
    assert len({part.untyped_storage().data_ptr() for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("shape", "launches"), [((2, 32, 20, 20), 1), ((2, 3, 40, 40), 0), ((64, 32, 3, 3), 0)]
)
def test_a_copy_that_turns_images_round_is_a_kernel(shape: tuple[int, ...], launches: int) -> None:
    def turned(x: torch.Tensor) -> torch.Tensor:
        return x.contiguous(memory_format=torch.channels_last)

    torch._dynamo.reset()  # the sizes of the other cases would make these symbols
    quern.reset_counters()
    x = torch.randn(shape)
    compiled = torch.compile(turned, backend="quern", fullgraph=True)(x)
    assert quern.counters()["launches"] == launches
    assert compiled.stride() == turned(x).stride()
    assert torch.equal(compiled, x)


def sampled(x: torch.Tensor) -> torch.Tensor:
    grid = torch.linspace(-1.2, 1.2, 2 * 5 * 7 * 2).reshape(2, 5, 7, 2).to(x.dtype)
    return nn.functional.grid_sample(x, grid, align_corners=False)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["max", "adaptive", "grid"])
def test_gradients_lie_like_their_images(kind: str, dtype: torch.dtype, last: bool) -> None:
    """What is added to zeros place by place is added where the result lies."""
    torch.manual_seed(0)
    function = {
        "max": lambda x: nn.functional.max_pool2d(x, 3, 2, 1),
        "adaptive": lambda x: nn.functional.adaptive_max_pool2d(x, (4, 3)),
        "grid": sampled,
    }[kind]
    form = torch.channels_last if last else torch.contiguous_format
    x = torch.randn(2, 6, 9, 11).to(dtype).contiguous(memory_format=form).requires_grad_()
    exact = x.detach().double().requires_grad_()
    y, reference = torch.compile(function, backend=quern.backend)(x), function(exact)
    gradient = torch.randn_like(y)
    (mine,) = torch.autograd.grad(y, x, gradient)
    (theirs,) = torch.autograd.grad(reference, exact, gradient.double())
    tolerance = 1e-5 if dtype is torch.float32 else 4e-2
    torch.testing.assert_close(mine.double(), theirs, atol=tolerance, rtol=tolerance)
    (eager,) = torch.autograd.grad(function(x), x, gradient)
    assert mine.stride() == eager.stride()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((3, 3, 4, 7), (3, 0, 1, 2)), ((3, 5, 7), (2, 0, 1)), ((2, 3, 4, 5), (0, 3, 1, 2))],
)
def test_batch_norm_lies_as_eagers(
    shape: tuple[int, ...], order: tuple[int, ...], training: bool
) -> None:
    """Contiguous, unless its input has a memory format; the formulas keep the input's order."""
    x = torch.randn(shape).permute(order)
    norm = {3: nn.BatchNorm1d, 4: nn.BatchNorm2d}[x.dim()](x.shape[1]).train(training)
    compiled = torch.compile(copy.deepcopy(norm), backend="quern")
    given, ours = x.clone().requires_grad_(), x.clone().requires_grad_()
    wanted, result = norm(given), compiled(ours)
    torch.testing.assert_close(result, wanted)
    assert result.stride() == wanted.stride()
    (wanted_gradient,) = torch.autograd.grad(wanted.square().sum(), given)
    (gradient,) = torch.autograd.grad(result.square().sum(), ours)
    torch.testing.assert_close(gradient, wanted_gradient, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("channels", "groups"), [(6, 3), (40, 8), (5, 5), (7, 1)])
def test_group_norm_of_channels_that_lie_side_by_side(
    channels: int, groups: int, dtype: torch.dtype
) -> None:
    norm = nn.GroupNorm(groups, channels, dtype=dtype)
    nn.init.normal_(norm.weight)
    images = (torch.randn(2, channels, 5, 6) + 20).to(dtype).to(memory_format=torch.channels_last)
    back = torch.randn_like(images)

    def step(module: Any, kind: torch.dtype) -> list[torch.Tensor]:
        x = images.detach().to(kind).requires_grad_()
        module.zero_grad()
        y = module(x)
        y.backward(back.to(kind))
        assert x.grad is not None
        return [y.detach(), x.grad, *(each.grad.clone() for each in module.parameters())]

    eager = step(norm, dtype)
    exact = step(copy.deepcopy(norm).double(), torch.float64)
    quern.reset_counters()
    ours = step(torch.compile(norm, backend="quern", options={"fallback": "error"}), dtype)
    for one, other, right in zip(ours, eager, exact, strict=True):
        assert one.stride() == other.stride()
        bound = max(2 * (other - right).abs().max().item(), 1e-4 * right.abs().max().item())
        assert (one - right).abs().max().item() <= bound
    assert "group_norm_channels" in str(quern.explain(norm, images))
