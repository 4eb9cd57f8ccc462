"""Library rows against eager on the CPU, paired in one run, outputs given to both where eager can.

`./dev bench ops [NAME]… [--size l2,large] [--rounds 9] [--write]`: names are parts of overloads;
`l2` is 256 KiB a tensor, `large` 64 MiB, `call` 16 elements. Elements are f32, or the first of i32,
bool and c64 that a declaration takes. Arguments are `_ops.py`'s, the schema's, or the operator
database's, made longer (`_grown.py`). A row that needs more than 4 GiB is named and not measured.
`--write` keeps the ratios in `ops.tsv` beside this file, for docs/operators.md.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "support"))

import quern
import torch
from _arguments import Values, arguments, bound
from _bounded import bounded
from _grown import REFUSALS
from _timing import geomean, lower_quartile_ratio, median, rounds
from aten_binding import Call
from aten_types import Row, UnfitError, draws, overload, unnamed

SIZES = {"call": 16, "l2": 1 << 16, "large": 1 << 24}
KEPT = Path(__file__).with_name("ops.tsv")


def writing_to(op: Any) -> Any:
    """The overload that takes the same arguments and `out=`; nothing where there is none."""
    wanted = [(a.name, str(a.type)) for a in op._schema.arguments]
    packet = op.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        given = [(a.name, str(a.type)) for a in other._schema.arguments if not a.is_out]
        outs = [a.name for a in other._schema.arguments if a.is_out]
        if outs and given == wanted:
            return other, outs
    return None


def in_layout(call: Call, results: Any, expected: list[Any]) -> Any:
    """Memory for our results whose elements lie as eager's do."""
    several = isinstance(results, (tuple, list))
    made = list(results) if several else [results]
    for place, (one, other) in enumerate(zip(made, expected, strict=False)):
        if one is None or other is None:
            continue
        order = call.layout(unnamed(call.row["results"][place]), one.dim())
        if one.dim() == other.dim():
            made[place] = torch.empty_like(other).permute(order or tuple(range(one.dim())))
    return made if several else made[0]


def alias(one: Any, other: torch.Tensor) -> bool:
    """Whether a tensor lies in the other's memory."""
    return isinstance(one, torch.Tensor) and one.data_ptr() == other.data_ptr()


def contestants(row: Row, op: Any, values: Values) -> dict[str, Any]:
    """Calls of ours and of eager's, with their results' memory where eager takes it."""
    args, kwargs = bound(op, values)
    result = op(*args, **kwargs)
    if any(isinstance(x, torch.Tensor) and alias(result, x) for x in values.values()):
        raise UnfitError("eager gives a view")
    expected = list(result) if isinstance(result, (tuple, list)) else [result]
    call = Call(row, op, args, kwargs)
    function, positional, named = call.prepared(expected)
    try:
        mine = in_layout(call, function(*positional, **named), expected)
    except quern.Error as why:
        raise UnfitError(str(why).partition("\n")[0].rpartition("error")[2]) from None
    calls: dict[str, Any] = {"quern": lambda: function(*positional, **named)}
    calls["eager"] = lambda: op(*args, **kwargs)
    found = writing_to(op)
    results = [*expected, *(mine if isinstance(mine, list) else [mine])]
    if found and all(each is not None for each in results):  # of derivatives some are left out
        named["out"] = mine
        other, names = found
        outs = dict(zip(names, [e.clone() for e in expected], strict=True))
        if takes(other, args, kwargs, outs):
            calls["eager"] = lambda: other(*args, **kwargs, **outs)
    return calls


def takes(op: Any, args: list[Any], kwargs: Values, outs: Values) -> bool:
    """Whether eager leaves the results' memory as it is, and does not need more on its way."""
    before = [out.untyped_storage().nbytes() for out in outs.values()]
    op(*args, **kwargs, **outs)
    return before == [out.untyped_storage().nbytes() for out in outs.values()]


def doubled(value: Any) -> Any:
    wide = {torch.float32: torch.float64, torch.complex64: torch.complex128}
    if isinstance(value, torch.Tensor):
        return value.to(wide.get(value.dtype, value.dtype))
    return wide.get(value, value) if isinstance(value, torch.dtype) else value


def error(op: Any, values: Values, ours: Any) -> float:
    """The largest difference to eager on doubles, over the largest value."""
    args, kwargs = bound(op, {name: doubled(value) for name, value in values.items()})
    exact = op(*args, **kwargs)
    first = exact[0] if isinstance(exact, (tuple, list)) else exact
    mine = ours[0] if isinstance(ours, (tuple, list)) else ours
    if first.dtype not in (torch.float64, torch.complex128) or not first.numel():
        return 0.0
    if mine.shape != first.shape:
        return 0.0
    top = float(first.abs().nan_to_num(0, 0, 0).max()) or 1.0
    return float((mine.to(first.dtype) - first).abs().nan_to_num(0, 0, 0).max()) / top


def fitting(row: Row, op: Any, n: int) -> tuple[Values, dict[str, Any]]:
    """The first arguments that the row takes and none before it, and the contestants."""
    reason = UnfitError("no arguments")
    for values in arguments(row, op, n):
        try:
            calls = contestants(row, op, values)
        except (UnfitError, *REFUSALS) as why:
            reason = UnfitError(str(why).partition("\n")[0])
            continue
        if not any(fits(other, op, values) for other in before(row)):
            return values, calls
        reason = UnfitError("an earlier row takes the call")
    raise reason


def before(row: Row) -> list[Row]:
    """Rows of the same overload that are asked first."""
    same: list[Row] = [r for r in quern.operators() if r["overload"] == row["overload"]]
    return same[: same.index(row)]


def fits(row: Row, op: Any, values: Values) -> bool:
    try:
        contestants(row, op, values)
    except (UnfitError, *REFUSALS):
        return False
    return True


def measure(row: Row, name: str, size: str, count: int) -> tuple[float, float | None] | None:
    """Our speed over eager's, and the error; nothing where no arguments fit the row."""
    op = overload(row["overload"])
    try:
        with bounded():
            values, calls = fitting(row, op, SIZES[size])
            is_exact = size == "l2" and not draws(row)
            wrong = error(op, values, calls["quern"]()) if is_exact else None
            times = rounds(calls, count, 4e-3)
    except (UnfitError, *REFUSALS) as why:
        print(f"{name:52} {size:6} not measured: {str(why).partition(chr(10))[0][:60]}", flush=True)
        return None
    ratio = lower_quartile_ratio(times["quern"], times["eager"])
    print(f"{name:52} {size:6} {median(times['quern']):10.1f} us {ratio:6.2f}x", flush=True)
    return ratio, wrong


def named() -> dict[str, Row]:
    """Rows by overload, and by declaration where an overload has several."""
    rows: list[Row] = quern.operators()
    count = Counter(overload for overload, _ in {(r["overload"], r["declaration"]) for r in rows})
    found: dict[str, Row] = {}
    for row in rows:
        name = row["overload"]
        found.setdefault(f"{name} {row['declaration']}" if count[name] > 1 else name, row)
    return found


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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    done: dict[tuple[str, str], float] = {}
    sizes = options.size.split(",")
    rows = {
        n: r for n, r in named().items() if not options.names or any(o in n for o in options.names)
    }
    for (name, row), size in itertools.product(rows.items(), sizes):
        if (found := measure(row, name, size, options.rounds)) is not None:
            done[name, size], wrong = found
            texts = {(name, size): f"{found[0]:.2f}"}
            if wrong is not None:
                texts[name, "error"] = f"{wrong:.1e}"
            if options.write:  # at once: whole runs take most of an hour
                keep(texts)
    for size in sizes:
        ratios = [r for (_, s), r in done.items() if s == size]
        if ratios:
            share = sum(r >= 0.95 for r in ratios) / len(ratios)
            print(f"{size}: {len(ratios)} of {len(rows)} rows, geomean {geomean(ratios):.2f}x, "
                  f"{share:.0%} at 0.95 or more, lowest {min(ratios):.2f}x")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
