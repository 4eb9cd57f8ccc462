"""Runs kernels on a GPU against PyTorch, and the library's against its own CPU code.

`./dev gpu-test [-k PART] [-j JOBS] [--device N]`; the last line counts, the status is 0 when
nothing failed.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from device_library import HERE, Library, QuernError
from hardware import LacksError, hardware_cases
from written import CASES, written_cases

TREE = HERE if (HERE / "kernels").exists() else HERE.parent
KERNELS = TREE / "kernels"
SCHEDULES = TREE / "emulator" / "schedules.qn"
STDLIB = next(p for p in (HERE / "stdlib-kernels", TREE.parent / "stdlib-kernels") if p.exists())
Case = tuple[str, Callable[[], None]]
OUTCOMES = ("passed", "failed", "skipped")
#: The last line, which counts.
COUNTS = re.compile(", ".join(rf"(?P<{outcome}>\d+) {outcome}" for outcome in OUTCOMES))


class SkippedError(Exception):
    """A case that the arguments alone do not make."""


def close(actual: torch.Tensor, expected: torch.Tensor, rtol: float = 1e-4) -> None:
    torch.testing.assert_close(
        actual.cpu(), expected.cpu(), rtol=rtol, atol=rtol, check_dtype=False
    )


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    made = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=made).to(dtype).cuda()


def kernel_cases(lib: Library) -> Iterator[Case]:
    def transpose() -> None:
        x = normal(700, 333)
        out = torch.zeros(333, 700, device="cuda")
        lib.load(KERNELS / "transpose.qn")("transpose", x, out)
        close(out, x.T, 0)

    def matmul() -> None:
        a, b, out = normal(300, 200), normal(200, 170), torch.zeros(300, 170, device="cuda")
        lib.load(KERNELS / "matmul.qn")("matmul", a, b, out)
        close(out.double(), a.double() @ b.double())

    def histogram() -> None:
        x = torch.randint(0, 256, (100003,), dtype=torch.int32).cuda()
        counts = torch.zeros(256, dtype=torch.int32, device="cuda")
        lib.load(KERNELS / "histogram.qn")("histogram", x, counts)
        close(counts, torch.bincount(x, minlength=256), 0)

    def scan() -> None:
        x = torch.randint(-9, 9, (2560,), dtype=torch.int32).cuda()
        out, totals = torch.zeros_like(x), torch.zeros(10, dtype=torch.int32, device="cuda")
        lib.load(KERNELS / "scan.qn")("block_scan", x, out, totals)
        close(out, x.view(10, 256).cumsum(1).view(-1), 0)

    def stencil() -> None:
        x = normal(300, 200)
        out = torch.zeros_like(x)
        lib.load(KERNELS / "stencil.qn")("stencil", x, out, 0.25)
        wide = torch.nn.functional.pad(x, (1, 1, 1, 1))
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        close(out, x + 0.25 * around, 1e-5)

    def radix() -> None:
        module = lib.load(KERNELS / "radix.qn")
        keys = torch.randint(0, 2**31, (5000,)).to(torch.int32).cuda()
        wanted, blocks = keys.sort().values, 20
        for shift in range(0, 32, 4):
            counts = torch.zeros(16, blocks, dtype=torch.int32, device="cuda")
            module("radix_count", keys.view(torch.uint32), counts, shift)
            ends = counts.view(-1).cumsum(0)
            starts = (ends - counts.view(-1)).view(16, blocks).to(torch.int32)
            out = torch.zeros_like(keys)
            module("radix_scatter", keys.view(torch.uint32), starts, out.view(torch.uint32), shift)
            keys = out
        close(keys, wanted, 0)

    for case in (transpose, matmul, histogram, scan, stencil, radix):
        yield f"kernel {case.__name__}", case


def schedule_cases(lib: Library) -> Iterator[Case]:
    module = lib.load(SCHEDULES)
    functional = torch.nn.functional
    short = ((3, 1), (5, 8), (7, 9), (9, 100), (9, 256), (6, 300), (64, 1024))
    long = ((5, 1025), (4, 3000), (9, 5001), (3, 40000), (4, 50257), (2, 131072), (2, 262144))
    for shape in (*short, *long):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            x = normal(*shape).to(dtype)
            tolerance = 1e-4 if dtype == torch.float32 else 1e-2
            yield (
                f"softmax {shape} {dtype}",
                lambda x=x, t=tolerance: close(module("softmax", x), x.float().softmax(1), t),  # type: ignore[misc]
            )
            yield (
                f"columns {shape} {dtype}",
                lambda x=x, t=tolerance: close(  # type: ignore[misc]
                    module("columns", x), x.double().sum(0), 10 * t
                ),
            )
    for count in (0, 1, 3, 65, 1000, 1000003):
        x, g = normal(count), normal(count)
        yield (
            f"gate {count}",
            lambda x=x, g=g: close(module("gate", x, g), x * functional.silu(g), 1e-5),  # type: ignore[misc]
        )
        yield f"total {count}", lambda x=x: close(module("total", x), x.double().sum(), 1e-3)  # type: ignore[misc]
    for m, n, k in ((5, 9, 3), (33, 40, 17), (128, 128, 64), (130, 258, 520), (1000, 1000, 1000)):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            a, b = normal(m, k).to(dtype), normal(k, n).to(dtype)
            wanted = a.double() @ b.double()
            tolerance = 1e-3 if dtype == torch.float32 else 2e-2
            for views in ("nn", "nt", "tn", "tt"):
                left = a if views[0] == "n" else a.T.contiguous().T
                right = b if views[1] == "n" else b.T.contiguous().T
                yield (
                    f"mm {(m, n, k)} {dtype} {views}",
                    lambda a=left, b=right, w=wanted, t=tolerance: close(  # type: ignore[misc]
                        module("mm", a, b).double() / w.abs().max(), w / w.abs().max(), t
                    ),
                )


def declarations() -> list[tuple[Path, str]]:
    pattern = re.compile(r"^(?:elementwise|rowwise) (\w+)", re.MULTILINE)
    return [(p, n) for p in sorted(STDLIB.glob("*.qn")) for n in pattern.findall(p.read_text())]


def program() -> Path:
    places = (HERE / "bin" / "quern", *(TREE.parent / "build").glob("*/bin/quern"))
    return next(place for place in places if place.exists())


def on(device: str, value: Any) -> Any:
    """A copy of what a call is given; `device` is where its tensors go."""
    import numpy as np

    if isinstance(value, list | complex):
        raise SkippedError("the C interface takes neither lists nor complex numbers")
    return torch.from_numpy(value.copy()).to(device) if isinstance(value, np.ndarray) else value


def digits(value: Any) -> Any:
    """Several bools for a compile-time parameter are a text."""
    return "".join(str(int(one)) for one in value) if isinstance(value, tuple) else value


def ways() -> list[tuple[Path, str, int]]:
    """Each declaration, once for every way in which its choices are made."""
    from emulator.calls import variants
    from emulator.declared import declared

    texts = {path: path.read_text() for path, _ in declarations()}
    return [(p, n, v) for p, n in declarations() for v in variants(declared(texts[p], n))]


def library_case(
    lib: Library, path: Path, name: str, variant: int = 0, device: str = "cuda"
) -> None:
    """The same call on the host and on the device: its results, and what it wrote."""
    from emulator.calls import Way, calls, options
    from emulator.declared import declared
    from emulator.headers import read

    declaration = declared(path.read_text(), name)
    words = [str(program()), "build", str(path), name, "--emit=qn", "--target=x86-64-v3"]
    words += options(declaration, variant)
    built = subprocess.run(words, capture_output=True, text=True, check=True)
    module, problem = lib.load(path), "no call that is legal"
    for call in calls(declaration, read(built.stdout), 43, Way(1, variant)):
        named = {key: digits(value) for key, value in call.named.items()}
        given = {place: [on(place, value) for value in call.given] for place in ("cpu", device)}
        try:
            expected = module(name, *given["cpu"], **named)
            break
        except QuernError as error:
            problem = str(error)
    else:
        raise SkippedError(problem)
    actual = module(name, *given[device], **named)
    several = [one if isinstance(one, tuple) else (one,) for one in (actual, expected)]
    written = [[a for a in given[p] if isinstance(a, torch.Tensor)] for p in (device, "cpu")]
    for now, then in (*zip(*several, strict=True), *zip(*written, strict=True)):
        torch.testing.assert_close(now.cpu(), then, rtol=2e-5, atol=1e-5, equal_nan=True)


def library_cases(lib: Library) -> Iterator[Case]:
    for path, name, variant in ways():
        yield (
            f"library {path.stem}.{name}" + f" {variant}" * (variant > 0),
            lambda p=path, n=name, v=variant: library_case(lib, p, n, v),  # type: ignore[misc]
        )


def op_case(lib: Library, call: Any, device: str = "cuda") -> None:
    """An `op` of the library on the host and on the device: its results, and what it wrote."""
    module = lib.load(STDLIB / f"{call.file}.qn")
    given: dict[str, list[Any]] = {}
    for place in ("cpu", device):
        near = [v.numpy() if isinstance(v, torch.Tensor) else v for v in call.arguments]
        given[place] = [on(place, value) for value in near]
    made = [module(call.name, *given[place], **call.named) for place in ("cpu", device)]
    expected, actual = (one if isinstance(one, tuple) else (one,) for one in made)
    written = [[a for a in given[p] if isinstance(a, torch.Tensor)] for p in (device, "cpu")]
    for now, then in (*zip(actual, expected, strict=True), *zip(*written, strict=True)):
        torch.testing.assert_close(now.cpu(), then, rtol=2e-5, atol=2e-5, equal_nan=True)


def op_cases(lib: Library) -> Iterator[Case]:
    sys.path.append(str(CASES))
    import op_cases as cases

    for number, call in enumerate(cases.calls()):
        yield f"op {number} {call}", lambda call=call: op_case(lib, call)  # type: ignore[misc]


def reason(error: Exception) -> str:
    """One line of it."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no text'}"


def answers() -> bool:
    """Whether the device still works: some errors end everything on it."""
    try:
        torch.zeros(1, device="cuda").add_(1).item()
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def run(name: str, case: Callable[[], None], failures: list[str]) -> str:
    """One case; gives what became of it."""
    try:
        case()
        torch.cuda.synchronize()
    except SkippedError:
        return "skipped"
    except LacksError as error:
        print(f"skipped {name}: needs {error}")
        return "skipped"
    except Exception as error:
        failures.append(f"{name}: {reason(error)}")
        print(f"FAILED {name}\n{traceback.format_exc(limit=2)}", flush=True)
        return "failed"
    return "passed"


def run_part(part: str, places: tuple[int, int]) -> tuple[Counter[str], list[str]]:
    """Every case with `part` in its name, or where several share the work every so many-th."""
    lib = Library()
    counts, failures = Counter[str](), list[str]()
    every = (hardware_cases, kernel_cases, written_cases, schedule_cases, library_cases, op_cases)
    pairs = (pair for cases in every for pair in cases(lib) if part in pair[0])
    first, step = places
    for name, case in itertools.islice(pairs, first, None, step):
        outcome = run(name, case, failures)
        counts[outcome] += 1
        if outcome == "failed" and not answers():
            print(f"stopped: since `{name}` the device gives errors to everybody")
            break
    return counts, failures


def run_parts(jobs: int) -> tuple[Counter[str], list[str]]:
    """In so many processes; what each prints is passed on when it ends."""

    def follow(number: int) -> tuple[Counter[str], list[str]]:
        words = [sys.executable, __file__, *sys.argv[1:], "--share", f"{number}/{jobs}"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            lines = [line.rstrip("\n") for line in child.stdout or ()]
        found = COUNTS.fullmatch(lines[-1]) if lines else None
        if not found:
            print(*lines, sep="\n")
            return Counter(failed=1), [f"part {number}: ended with status {child.returncode}"]
        end = lines.index("failed:") if "failed:" in lines else len(lines) - 1
        print(*lines[:end], sep="\n", end="\n" * (end > 0), flush=True)
        counts = Counter({name: int(count) for name, count in found.groupdict().items()})
        return counts, [line.strip() for line in lines[end + 1 : -1]]

    counts, failures = Counter[str](), list[str]()
    with ThreadPoolExecutor(jobs) as pool:
        for more, problems in pool.map(follow, range(jobs)):
            counts.update(more)
            failures += problems
    return counts, failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev gpu-test")
    parser.add_argument("-k", default="", help="cases with this in their name")
    parser.add_argument("-j", type=int, default=1, help="processes that share the work")
    parser.add_argument("--device", type=int, default=0, help="which of several GPUs")
    parser.add_argument("--share", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    torch.cuda.set_device(chosen.device)
    sys.path.insert(0, str(TREE))
    if not chosen.share:
        print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    if chosen.share or chosen.j <= 1:
        first, _, step = (chosen.share or "0/1").partition("/")
        counts, failures = run_part(chosen.k, (int(first), int(step)))
    else:
        counts, failures = run_parts(chosen.j)
    if failures:
        print("failed:", *failures, sep="\n  ")
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
