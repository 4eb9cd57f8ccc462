"""Shows Quern at work: kernels from a file, then a transformer under torch.compile."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import quern
import torch
from torch import nn
from torch.nn import functional

KERNELS = Path(__file__).with_name("gate.qn")


class Block(nn.Module):
    """Attention and a gated feed-forward layer, each behind a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.gate = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        """Self-attention over the positions of a batch."""
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mixed = torch.softmax(scores, -1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One layer of the transformer."""
        x = x + self.attend(self.norms[0](x))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Transformer(nn.Module):
    """A small language model: tokens to logits."""

    def __init__(self, layers: int = 4, width: int = 256, words: int = 1000) -> None:
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits of the next word at every position."""
        return self.head(self.norm(self.blocks(self.embed(tokens))))


def milliseconds(work: Callable[[], object], budget: float = 2.0) -> float:
    """Median time of a call over about `budget` seconds."""
    times = []
    end = time.perf_counter() + budget
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def show_kernels() -> None:
    """Checks and runs a file, first by the program, then from Python."""
    print(f"1. kernels from {KERNELS.name}\n")
    print(KERNELS.read_text().split("\n\n", 2)[2])
    print(f"$ quern check {KERNELS.name}", flush=True)
    subprocess.run(["quern", "check", str(KERNELS)], check=True)
    print(f'>>> k = quern.load("{KERNELS.name}"); k.silu(x), k.gate(x, g), k.softmax(x)')
    k = quern.load(KERNELS)
    x, g = torch.randn(2, 512, 1024)
    cases = {
        "silu": (k.silu, functional.silu, (x,)),
        "gate": (k.gate, lambda a, b: a * functional.silu(b), (x, g)),
        "softmax": (k.softmax, lambda a: torch.softmax(a, -1), (x,)),
    }
    print(f"\n{'kernel':10} {'largest error':>14} {'quern ms':>10} {'eager ms':>10}")
    for name, (ours, theirs, operands) in cases.items():
        torch.testing.assert_close(ours(*operands), theirs(*operands))
        error = (ours(*operands) - theirs(*operands)).abs().max().item()
        mine = milliseconds(lambda f=ours, a=operands: f(*a), 0.3)
        eager = milliseconds(lambda f=theirs, a=operands: f(*a), 0.3)
        print(f"{name:10} {error:14.1e} {mine:10.3f} {eager:10.3f}")


def show_model() -> None:
    """Compiles one model by every backend and compares results and times."""
    torch.manual_seed(0)
    model = Transformer().eval()
    tokens = torch.randint(model.words, (4, 128))
    count = sum(p.numel() for p in model.parameters())
    print(f"\n2. a transformer of {count / 1e6:.1f} million parameters, tokens 4 x 128\n")
    print(f"{'backend':10} {'compile s':>10} {'run ms':>10} {'largest error':>14}")
    expected = model(tokens)
    print(f"{'eager':10} {'':>10} {milliseconds(lambda: model(tokens)):10.2f}", flush=True)
    for backend in ("quern", "inductor"):
        torch.compiler.reset()
        compiled = torch.compile(model, backend=backend)
        start = time.perf_counter()
        result = compiled(tokens)
        seconds = time.perf_counter() - start
        torch.testing.assert_close(result, expected, rtol=1e-3, atol=1e-4)
        error = (result - expected).abs().max().item()
        run = milliseconds(lambda f=compiled: f(tokens))
        print(f"{backend:10} {seconds:10.2f} {run:10.2f} {error:14.1e}", flush=True)


def main() -> int:
    """Runs the parts asked for."""
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--part", choices=["kernels", "model"])
    part = parser.parse_args().part
    with torch.no_grad():
        if part != "model":
            show_kernels()
        if part != "kernels":
            show_model()
    return 0


if __name__ == "__main__":
    sys.exit(main())
