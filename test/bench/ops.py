"""Library rows against eager on the CPU, paired in one run, outputs given to both where eager can.

`./dev bench ops [NAME]… [--size l2,large] [--write]`: names are parts of overloads; `l2` is 256 KiB
a tensor, `large` 64 MiB, `call` 16 elements. `--write` keeps the ratios in `ops.tsv` beside this
file, for docs/operators.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import quern
import torch
from _ops import ROWS
from _timing import geomean, lower_quartile_ratio, median, rounds
from aten_binding import Call
from aten_types import Row, UnfitError, overload, unnamed

SIZES = {"call": 16, "l2": 1 << 16, "large": 1 << 24}
KEPT = Path(__file__).with_name("ops.tsv")
NUMBERS = {"int": 1, "float": 0.5, "number": 2, "Scalar": 2, "bool": False}


def elementwise(op: Any, n: int) -> tuple[Any, ...] | None:
    """Tensors of one shape and a number for every other argument without a default."""
    values: list[Any] = []
    for argument in op._schema.arguments:
        kind = str(argument.type)
        if kind == "Tensor":
            values.append(torch.rand(n) + 0.25)
        elif argument.has_default_value() or argument.kwarg_only:
            break
        elif kind in NUMBERS:
            values.append(NUMBERS[kind])
        else:
            return None
    return tuple(values)


def writing_to(op: Any) -> Any:
    """The overload that takes the same arguments and `out=`; nothing where there is none."""
    wanted = [a.name for a in op._schema.arguments]
    packet = op.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        given = [a.name for a in other._schema.arguments if not a.is_out]
        outs = [a.name for a in other._schema.arguments if a.is_out]
        if outs and given == wanted:
            return other, outs
    return None


def in_layout(call: Call, results: Any, expected: list[Any]) -> Any:
    """Memory for our results whose elements lie as eager's do."""
    several = isinstance(results, (tuple, list))
    made = list(results) if several else [results]
    for place, (one, other) in enumerate(zip(made, expected, strict=False)):
        order = call.layout(unnamed(call.row["results"][place]), one.dim())
        if one.dim() == other.dim():
            made[place] = torch.empty_like(other).permute(order or tuple(range(one.dim())))
    return made if several else made[0]


def alias(one: Any, other: torch.Tensor) -> bool:
    """Whether a tensor lies in the other's memory."""
    return isinstance(one, torch.Tensor) and one.data_ptr() == other.data_ptr()


def contestants(row: Row, op: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """Calls of ours and of eager's, with their results' memory where eager takes it."""
    result = op(*args)
    if any(isinstance(x, torch.Tensor) and alias(result, x) for x in args):
        raise UnfitError("eager gives a view")
    expected = list(result) if isinstance(result, (tuple, list)) else [result]
    call = Call(row, op, args, {})
    function, positional, named = call.prepared(expected)
    mine = in_layout(call, function(*positional, **named), expected)
    calls: dict[str, Any] = {"quern": lambda: function(*positional, **named)}
    calls["eager"] = lambda: op(*args)
    found = writing_to(op)
    if found:
        named["out"] = mine
        other, names = found
        outs = dict(zip(names, [e.clone() for e in expected], strict=True))
        calls["eager"] = lambda: other(*args, **outs)
    return calls


def doubled(value: Any) -> Any:
    is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.double() if is_float else torch.float64 if value is torch.float32 else value


def error(op: Any, args: tuple[Any, ...], ours: Any) -> float:
    """The largest difference to eager on doubles, over the largest value."""
    exact = op(*(doubled(value) for value in args))
    first = exact[0] if isinstance(exact, (tuple, list)) else exact
    mine = ours[0] if isinstance(ours, (tuple, list)) else ours
    if not first.is_floating_point() or not first.numel() or mine.shape != first.shape:
        return 0.0
    top = float(first.abs().nan_to_num(0, 0, 0).max()) or 1.0
    return float((mine.double() - first).abs().nan_to_num(0, 0, 0).max()) / top


def arguments(row: Row, op: Any, n: int) -> tuple[Any, ...] | None:
    name = row["overload"].partition("::")[2]
    if name in ROWS:
        return ROWS[name](n)
    return elementwise(op, n) if row["kind"] == "elementwise" else None


def measure(row: Row, size: str) -> tuple[float, float | None] | None:
    """Our speed over eager's, and the error; nothing where the row is for other arguments."""
    op = overload(row["overload"])
    try:
        args = arguments(row, op, SIZES[size])
        if args is None:
            return None
        calls = contestants(row, op, args)
        wrong = error(op, args, calls["quern"]()) if size == "l2" else None
        times = rounds(calls, 9, 4e-3)
    except (UnfitError, RuntimeError, TypeError, NotImplementedError) as why:
        print(f"{row['overload']:44} {size:6} not measured: {str(why).splitlines()[0][:60]}")
        return None
    ratio = lower_quartile_ratio(times["quern"], times["eager"])
    label = f"{row['overload']:44} {size:6} {median(times['quern']):10.1f} us"
    print(f"{label} {ratio:6.2f}x", flush=True)
    return ratio, wrong


def keep(measured: dict[tuple[str, str], str]) -> None:
    """Adds to what earlier runs measured."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    known = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in lines}
    known |= measured
    KEPT.write_text("".join(f"{o}\t{s}\t{r}\n" for (o, s), r in sorted(known.items())))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench ops")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--size", default="l2,large")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    done: dict[tuple[str, str], float] = {}
    errors: dict[str, float] = {}
    for row in quern.operators():
        name = row["overload"]
        if options.names and not any(part in name for part in options.names):
            continue
        for size in options.size.split(","):
            if (name, size) not in done and (found := measure(row, size)) is not None:
                done[name, size] = found[0]
                if found[1] is not None:
                    errors[name] = found[1]
    for size in options.size.split(","):
        ratios = [r for (_, s), r in done.items() if s == size]
        if ratios:
            share = sum(r >= 0.95 for r in ratios) / len(ratios)
            print(f"{size}: {len(ratios)} rows, geomean {geomean(ratios):.2f}x, "
                  f"{share:.0%} at 0.95 or more, lowest {min(ratios):.2f}x")  # fmt: skip
    if options.write:
        texts = {key: f"{ratio:.2f}" for key, ratio in done.items()}
        keep(texts | {(name, "error"): f"{wrong:.1e}" for name, wrong in errors.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
