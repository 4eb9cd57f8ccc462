"""Graphs of tensors on a GPU: values, streams, recording. Without one nothing of it runs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import quern
import torch
from torch._dynamo.utils import counters
from torch.nn import functional

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
TYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    quern.reset_counters()


def compiled(function: Any, **given: Any) -> Any:
    return torch.compile(function, backend="quern", **given)


def close(actual: Any, expected: Any, dtype: torch.dtype = torch.float32) -> None:
    """Within what the type keeps of sums in another order."""
    tolerance = 2e-2 if dtype == torch.bfloat16 else 2e-4
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


class Block(torch.nn.Module):
    """A transformer's layer, with everything between its products."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.first(x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.second(x))))


def image_net() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1),
        torch.nn.BatchNorm2d(16),
        torch.nn.SiLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.GroupNorm(4, 32),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(32, 10),
    )


MODELS: dict[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]] = {
    "block": (Block, (2, 37, 64)),
    "images": (image_net, (4, 3, 32, 32)),
}


@TYPES
@pytest.mark.parametrize("name", MODELS)
def test_inference(name: str, dtype: torch.dtype) -> None:
    make, shape = MODELS[name]
    model = make().cuda().to(dtype).eval()
    x = torch.randn(shape, device="cuda", dtype=dtype)
    with torch.no_grad():
        close(compiled(model)(x), model(x), dtype)
    found = quern.counters()
    assert found["launches"] > 0
    assert found["fallbacks"] == {}


@pytest.mark.parametrize("name", MODELS)
def test_training_step(name: str) -> None:
    make, shape = MODELS[name]
    ours = make().cuda()
    eager = copy.deepcopy(ours)
    x = torch.randn(shape, device="cuda")
    for model, run in ((ours, compiled(ours)), (eager, eager)):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(2):
            optimizer.zero_grad()
            run(x).square().mean().backward()
            optimizer.step()
    close([p.grad for p in ours.parameters()], [p.grad for p in eager.parameters()])
    close(list(ours.buffers()), list(eager.buffers()))
    assert quern.counters()["fallbacks"] == {}


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (torch.sigmoid(x) * y + 1).softmax(-1)


def test_the_kernels_are_ours() -> None:
    x, y = torch.randn(2, 300, 1000, device="cuda")
    run = compiled(chain, options={"fallback": "error"})
    close(run(x, y), chain(x, y))
    assert quern.counters()["launches"] == 1


def test_strides_are_eagers() -> None:
    x = torch.randn(8, 16, 24, device="cuda").permute(2, 0, 1)
    y = torch.randn(24, 8, 16, device="cuda")
    actual, expected = compiled(chain)(x, y), chain(x, y)
    close(actual, expected)
    assert actual.stride() == expected.stride()


def test_sizes_that_change() -> None:
    run = compiled(chain, dynamic=True)
    for rows, columns in ((3, 5), (40, 1000), (1000, 33), (7, 4096)):
        x, y = torch.randn(2, rows, columns, device="cuda")
        close(run(x, y), chain(x, y))


def test_work_is_in_the_current_streams_order() -> None:
    run = compiled(chain)
    x, y = torch.zeros(2, 1000, 1000, device="cuda")
    run(x, y)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x.copy_(torch.randn(1000, 1000, device="cuda"))
        result = run(x, y)
    stream.synchronize()
    close(result, chain(x, y))


def test_memory_is_not_taken_too_early() -> None:
    """A result that is let go of may be given out again only behind what still reads it."""
    run = compiled(lambda x: (x * 2 + 1).sum(-1, keepdim=True) + x)
    x = torch.randn(2000, 2000, device="cuda")
    expected = (x * 2 + 1).sum(-1, keepdim=True) + x
    results = [run(x) for _ in range(30)]
    for result in results:
        close(result, expected)


def test_a_bad_index_is_told() -> None:
    run = compiled(lambda table, at: table[at] * 2, options={"preferred": "own"})
    table, at = torch.randn(10, 4, device="cuda"), torch.tensor([3, 9, 0], device="cuda")
    close(run(table, at), table[at] * 2)
    with pytest.raises(IndexError, match="77"):
        run(table, torch.tensor([3, 77, 0], device="cuda"))
    close(run(table, at), table[at] * 2)


def test_other_devices_tensors_in_one_graph() -> None:
    def both(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        far = x.sigmoid() * 2
        return far + y.cuda().exp(), far.cpu() + y * 3

    x, y = torch.randn(50, 60, device="cuda"), torch.randn(50, 60)
    close(compiled(both)(x, y), both(x, y))


def test_what_many_threads_do_better_is_atens() -> None:
    def sorts(x: torch.Tensor, at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x + 1).sort(-1).values * 2, torch.zeros_like(x).index_add(0, at, x)

    x, at = torch.randn(100, 300, device="cuda"), torch.randint(0, 100, (100,), device="cuda")
    close(compiled(sorts)(x, at), sorts(x, at))
    assert "aten::sort" in quern.counters()["preferred"]


def test_own_operators_without_atens() -> None:
    def mixed(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x @ x.T, x.cumsum(-1), x.sort(-1).values, functional.max_pool1d(x, 3)

    x = torch.randn(64, 96, device="cuda")
    close(compiled(mixed, options={"preferred": "own"})(x), mixed(x))


def test_random_numbers_follow_the_seed() -> None:
    run = compiled(lambda x: functional.dropout(x * 2, 0.5))
    x = torch.ones(1000, device="cuda")
    torch.manual_seed(3)
    first = run(x)
    torch.manual_seed(3)
    torch.testing.assert_close(run(x), first, rtol=0, atol=0)
    torch.manual_seed(3)
    torch.testing.assert_close(functional.dropout(x * 2, 0.5), first, rtol=0, atol=0)


def test_a_custom_operator() -> None:
    source = "elementwise gated(x: f32, y: f32) -> f32:\n    return x * y + 1\n"
    gated = quern.op("gpu_test::gated", source)
    x, y = torch.randn(2, 70, 50, device="cuda")
    close(gated(x, y), x * y + 1)
    close(compiled(lambda x, y: gated(x, y).exp())(x, y), (x * y + 1).exp())


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_recorded_calls(mode: str) -> None:
    counters.clear()
    model = Block().cuda().eval()
    run = compiled(model, mode=mode)
    with torch.no_grad():
        for _ in range(5):
            torch.compiler.cudagraph_mark_step_begin()
            x = torch.randn(2, 37, 64, device="cuda")
            close(run(x).clone(), model(x))
    assert counters["inductor"]["cudagraph_skips"] == 0


def test_recorded_training() -> None:
    counters.clear()
    ours = Block().cuda()
    eager = copy.deepcopy(ours)
    run = compiled(ours, mode="reduce-overhead")
    for _ in range(4):
        x = torch.randn(2, 37, 64, device="cuda")
        for model, call in ((ours, run), (eager, eager)):
            torch.compiler.cudagraph_mark_step_begin()
            model.zero_grad()
            call(x).square().mean().backward()
        close([p.grad for p in ours.parameters()], [p.grad for p in eager.parameters()])
    assert counters["inductor"]["cudagraph_skips"] == 0


def test_what_cannot_be_recorded_runs() -> None:
    run = compiled(lambda x, y: (x * 2).cpu() + y, mode="reduce-overhead")
    x, y = torch.randn(10, device="cuda"), torch.randn(10)
    for _ in range(3):
        close(run(x, y), (x * 2).cpu() + y)


def test_explained() -> None:
    model = Block().cuda().eval()
    told = str(quern.explain(model, torch.randn(2, 37, 64, device="cuda")))
    assert "ATen is preferred for a matrix product" in told


@pytest.mark.parametrize("name", ["QUERN_CHECK", "QUERN_PROFILE", "QUERN_DEBUG", "QUERN_TRACE"])
def test_looked_at(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever looks sees values and times, not what has only been begun."""
    monkeypatch.setenv(name, str(tmp_path) if name == "QUERN_DEBUG" else "1")
    x, y = torch.randn(2, 3000, 4000, device="cuda")
    run = compiled(chain)
    for _ in range(2):
        close(run(x, y), chain(x, y))
    if name == "QUERN_DEBUG":
        assert list(tmp_path.rglob("*.qn")), "the program"
    elif name != "QUERN_CHECK":
        assert capfd.readouterr().out


def test_data_parallel_with_nccl(tmp_path: Path) -> None:
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_nccl_available()):
        pytest.skip("needs NCCL")
    distributed.init_process_group(
        "nccl", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1
    )
    try:
        ours = Block().cuda()
        eager = copy.deepcopy(ours)
        x = torch.randn(2, 37, 64, device="cuda")
        wrapped = torch.nn.parallel.DistributedDataParallel(ours, device_ids=[0])
        compiled(wrapped)(x).square().mean().backward()
        eager(x).square().mean().backward()
        close([p.grad for p in ours.parameters()], [p.grad for p in eager.parameters()])
        total = compiled(
            lambda x: distributed._functional_collectives.all_reduce(x * 2, "sum", [0]) + 1
        )
        close(total(x), x * 2 + 1)
    finally:
        distributed.destroy_process_group()
