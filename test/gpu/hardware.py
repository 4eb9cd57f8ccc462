"""What only a device shows: addresses, sizes, streams, graphs, other devices, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from device_library import Library, Module, QuernError

#: More than a driver has room for as parameters, with three words each.
MANY = 200
TEXT = f"""
from reductions use sum

elementwise flip(x: u8) -> u8:
    return ~x

elementwise twice(x: f32) -> f32:
    return x + x

elementwise many({", ".join(f"x{n}: f32" for n in range(MANY))}) -> f32:
    return {" + ".join(f"x{n}" for n in range(MANY))}

rowwise totals(x: u8[R, C]) -> i64[R]:
    return sum(i64(x) over C)

rowwise pick(x: f32[N], i: i64[M]) -> f32[M]:
    return x[i]

kernel fill(y: mut f32[N], rows: int):
    launch grid(1, rows) block(32)
    if block.y * 32 + thread.x < N:
        y[block.y * 32 + thread.x] = f32(block.y)

kernel turned(x: f32[N], y: mut f32[N]):
    launch grid(N // 16384) block(256)
    shared all: f32[16384]
    for i in range(64):
        all[thread.x * 64 + i] = x[block.x * 16384 + i * 256 + thread.x]
    barrier()
    for i in range(64):
        y[block.x * 16384 + i * 256 + thread.x] = all[i * 256 + thread.x]
"""
Case = tuple[str, Callable[[], None]]


class LacksError(Exception):
    """The machine has not what the case needs."""


def same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual.cpu(), expected.cpu(), rtol=0, atol=0)


def needs(free: int) -> None:
    there = torch.cuda.mem_get_info()[0]
    if there < free:
        raise LacksError(f"{free >> 20} MiB of the device's memory, {there >> 20} are free")


def offsets(module: Module, device: str) -> None:
    x = torch.randn(100_019, device=device)
    for first in (1, 2, 3, 5):
        same(module("twice", x[first:]), 2 * x[first:])
        same(module("flip", x.view(torch.uint8)[first:]), ~x.view(torch.uint8)[first:])


def more_than_32_bits(module: Module, device: str) -> None:
    count = (1 << 31) + 4099
    needs(4 * count)
    x = torch.randint(0, 256, (count,), device=device, dtype=torch.uint8)
    out = module("flip", x)
    assert torch.equal(out, ~x)
    rows = x[: 3 * (count // 3)].view(3, -1)
    same(module("totals", rows), rows.sum(1, dtype=torch.int64))


def many_operands(module: Module, device: str) -> None:
    """More words than a driver has room for parameters."""
    given = [torch.randint(0, 9, (6, 5, 4, 3), device=device).float() for _ in range(MANY)]
    given[7] = given[7].permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)
    same(module("many", *given), torch.stack(given).sum(0))


def pieces_of_a_grid(module: Module, device: str) -> None:
    y = torch.zeros(70_000 * 32, device=device)
    module("fill", y, 70_000)
    same(y, torch.arange(70_000.0).repeat_interleave(32))


def much_shared_memory(module: Module, device: str) -> None:
    x = torch.randn(1 << 16, device=device)
    y = torch.zeros_like(x)
    module("turned", x, y)
    same(y, x.view(4, 64, 256).transpose(1, 2).reshape(-1))


def streams(module: Module, device: str) -> None:
    """Work of another stream is in its order, with nobody waiting."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    x = torch.zeros(1 << 24, device=device)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for _ in range(20):
            x.add_(1)
        out = module("twice", x)
        x.zero_()
    side.synchronize()
    assert bool((out == 40).all())


def graphs(module: Module, device: str) -> None:
    x, graph = torch.ones(5000, device=device), torch.cuda.CUDAGraph()
    kernel = module.bind("twice", [x])
    outputs = kernel.outputs()
    kernel.prepare(outputs)()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        kernel.prepare(outputs)()
    x.fill_(21)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((outputs[0] == 42).all())


def another_device(module: Module, device: str) -> None:
    if torch.cuda.device_count() < 2:
        raise LacksError("a second device")
    other = (torch.cuda.current_device() + 1) % torch.cuda.device_count()
    before = torch.cuda.current_device()
    x = torch.randn(5000, device=f"cuda:{other}")
    torch.cuda.synchronize(other)
    out = module("twice", x)
    torch.cuda.synchronize(other)
    same(out, 2 * x)
    assert torch.cuda.current_device() == before


def a_bad_index(module: Module, device: str) -> None:
    x, i = torch.randn(10, device=device), torch.tensor([3, 77], device=device)
    told = ""
    try:
        module("pick", x, i)
    except QuernError as error:
        told = str(error)
    assert "77" in told, told or "a bad index went unnoticed"
    same(module("pick", x, torch.tensor([3, 7], device=device)), x[[3, 7]])


#: Those of which a host shows something too.
EVERYWHERE = (offsets, many_operands, pieces_of_a_grid, much_shared_memory, a_bad_index)
CASES = (*EVERYWHERE, more_than_32_bits, streams, graphs, another_device)


def hardware_cases(lib: Library, device: str = "cuda") -> Iterator[Case]:
    module = lib.compile(TEXT, "hardware.qn")
    for case in CASES:
        yield f"hardware {case.__name__}", lambda case=case: case(module, device)  # type: ignore[misc]
