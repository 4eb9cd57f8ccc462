"""Random `kernel`s whose indices come near the ends of their types, and what they mean.

A text holds several kernels; each makes indices of integers that wrap, guards them, and reads,
writes and counts with them. A launch whose index is out of range is an error, and that access reads
0 or writes nothing.

>>> from random_bounds import make
>>> len(make(1).kernels)
12
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from scalar_reference import BINARY, HELD, INTEGERS, Array, bits, cast
from thread_meaning import Effect, Term, Threads

#: Kernels of a text, and accesses of a kernel.
KERNELS, ACCESSES = 12, 5
BLOCKS = (1, 7, 16, 33, 64)
#: Elements of a `local` array.
SLOTS = 9
#: Extents that an expanded tensor has.
FAR = (3, 2**31 - 1, 2**40, 2**62, 2**63 - 1)


def ends(t: str) -> tuple[int, int]:
    info = np.iinfo(HELD[t])
    return int(info.min), int(info.max)


def wrap(value: int, t: str) -> int:
    low, high = ends(t)
    return (value - low) % (high - low + 1) + low


@dataclass
class Data:
    """What a text's kernels are called with."""

    extents: dict[str, int]
    #: An array for each integer type, `x`, `g` and `w`.
    arrays: dict[str, Array]


@dataclass
class Kernel:
    """One kernel: its text, and what its statements do to `w` and its outputs."""

    name: str
    text: str
    effects: list[Effect]
    outputs: int

    def run(self, data: Data, block: int, blocks: int) -> tuple[list[Array], bool]:
        """The counts and the outputs, and whether the launch is an error."""
        threads = Threads((block,), blocks, 1, data.arrays)
        count = len(threads.thread)
        me = np.arange(count)
        threads.values["me"] = me
        for name, extent in data.extents.items():
            threads.values[name] = np.full(count, extent, np.int64)
        threads.counts = data.arrays["w"].copy()
        size = data.extents["T"]
        threads.outputs = {f"o{n}": np.zeros(count, np.int32) for n in range(self.outputs)}
        threads.values["failed"] = np.zeros(1, bool)
        with np.errstate(all="ignore"):
            for effect in self.effects:
                effect(threads, me < size)
        outs = [threads.outputs[f"o{n}"][:size] for n in range(self.outputs)]
        return [threads.counts, *outs], bool(threads.values["failed"][0])


def inside(s: Threads, mask: Array, index: Array, extent: int) -> Array:
    """The threads of the mask whose index is in range; the others make the launch an error."""
    whole = index.astype(object)
    fits = np.array([0 <= int(v) < extent for v in whole], bool)
    if (mask & ~fits).any():
        s.values["failed"][0] = True
    return mask & fits


class Maker:
    """Draws one kernel."""

    def __init__(self, rng: random.Random, name: str, launch: str):
        self.rng, self.name, self.launch = rng, name, launch
        self.scope: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.effects: list[Effect] = []
        self.number = 0

    def literal(self, t: str) -> int:
        low, high = ends(t)
        base = self.rng.choice([0, 0, 0, low, high, high // 2, 1 << self.rng.randrange(bits(t))])
        return wrap(base + self.rng.randint(-5, 5), t)

    def constant(self, value: int, t: str) -> Term:
        text = f"{t}({value})" if t != "i64" else f"({value})"
        if value == -(2**63):
            text = "(-9223372036854775807 - 1)"
        return Term(text, t, lambda s, _: s.full(value, t))

    def leaf(self, t: str) -> Term:
        pick = self.rng.random()
        names = [name for name, kind in self.scope if kind == t]
        if names and pick < 0.4:
            name = self.rng.choice(names)
            return Term(name, t, lambda s, _: s.values[name])
        if pick < 0.65:
            return Term(
                f"a_{t}[me]",
                t,
                lambda s, _: s.inputs[f"a_{t}"][s.values["me"] % len(s.inputs[f"a_{t}"])],
            )
        if pick < 0.85:
            name = self.rng.choice(["thread.x", "block.x", "me", "N", "W", "P", "Q", "E"])
            text = name if t == "i64" else f"{t}({name})"
            return Term(text, t, lambda s, _: cast(s.values[name], "i64", t))
        return self.constant(self.literal(t), t)

    def expression(self, t: str, depth: int) -> Term:
        if depth == 0:
            return self.leaf(t)
        form = self.rng.random()
        if form < 0.25:
            source = self.rng.choice(INTEGERS)
            x = self.expression(source, depth - 1)
            return Term(f"{t}({x.text})", t, lambda s, m: cast(x.meaning(s, m), source, t))
        if form < 0.35:
            c, x, y = self.condition(), self.leaf(t), self.expression(t, depth - 1)
            return Term(
                f"({x.text} if {c.text} else {y.text})",
                t,
                lambda s, m: np.where(c.meaning(s, m), x.meaning(s, m), y.meaning(s, m)),
            )
        op = self.rng.choice(
            ["+", "+", "-", "*", "min", "max", "&", "|", "^", "%", "//", "<<", ">>"]
        )
        x, y = self.expression(t, depth - 1), self.leaf(t)
        if op in ("%", "//", "<<", ">>") and self.rng.random() < 0.7:
            y = self.constant(self.rng.randint(1, 7), t)
        return self.binary(x, op, y)

    def binary(self, x: Term, op: str, y: Term, t: str = "") -> Term:
        text = f"{op}({x.text}, {y.text})" if op in ("min", "max") else f"({x.text} {op} {y.text})"
        return Term(text, t or x.type, lambda s, m: BINARY[op](x.meaning(s, m), y.meaning(s, m)))

    def condition(self) -> Term:
        t = self.rng.choice(INTEGERS)
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return self.binary(self.leaf(t), op, self.leaf(t), "bool")

    def near(self, x: Term) -> Term:
        """The value, or one some steps away."""
        if self.rng.random() < 0.5:
            return x
        value = self.rng.randint(0, 6) if self.rng.random() < 0.8 else self.literal(x.type)
        return self.binary(x, self.rng.choice("+-"), self.constant(value, x.type))

    def wide(self, x: Term) -> Term:
        if x.type == "i64":
            return x
        return Term(f"i64({x.text})", "i64", lambda s, m: cast(x.meaning(s, m), x.type, "i64"))

    def extent(self, name: str) -> Term:
        if name.isdigit():
            return self.constant(int(name), "i64")
        return Term(name, "i64", lambda s, _: s.values[name])

    def guard(self, x: Term, name: str) -> Term:
        """What keeps an index below an extent and from 0 on, or nearly."""
        limit = self.extent(name)
        if self.rng.random() < 0.3:
            limit = (
                Term(
                    f"{x.type}({limit.text})",
                    x.type,
                    lambda s, _: cast(s.values[name], "i64", x.type),
                )
                if not name.isdigit()
                else self.constant(wrap(int(name), x.type), x.type)
            )
            below = self.binary(
                self.near(x), self.rng.choice(["<", "<="]), self.near(limit), "bool"
            )
        else:
            left = self.wide(self.near(x)) if self.rng.random() < 0.5 else self.near(self.wide(x))
            below = self.binary(left, self.rng.choice(["<", "<", "<="]), self.near(limit), "bool")
        if x.type[0] == "u" or self.rng.random() < 0.3:
            return below
        least = self.constant(self.rng.randint(0, 3), x.type)
        natural = self.binary(self.near(x), ">=", least, "bool")
        return self.binary(natural, "and", below, "bool")

    # Accesses: lines and an effect.

    def index(self, x: Term, name: str) -> Term:
        pick = self.rng.random()
        if pick < 0.25:
            last = self.binary(self.extent(name), "-", self.constant(self.rng.randint(0, 2), "i64"))
            low = self.constant(self.rng.randint(0, 1), "i64")
            return self.binary(self.binary(self.near(self.wide(x)), "max", low), "min", last)
        return self.near(self.wide(x)) if pick < 0.5 else self.near(x)

    def read(self, x: Term) -> tuple[list[str], Effect]:
        n = self.number
        self.number += 1
        if self.rng.random() < 0.25:
            return self.read_square(x, n)
        place, name = self.rng.choice([("x", "N"), ("x", "N"), ("far", "E")])
        at = self.index(x, name)

        def run(s: Threads, mask: Array) -> None:
            index = at.meaning(s, mask)
            good = inside(s, mask, index, int(s.values[name][0]))
            out = s.outputs[f"o{n}"]
            out[mask] = 0
            values = s.inputs[place]
            out[good] = values[index[good].astype(np.int64) % len(values)]

        return [f"o{n}[me] = i32({place}[{at.text}])"], run

    def read_square(self, x: Term, n: int) -> tuple[list[str], Effect]:
        names = [name for name, kind in self.scope if kind == "i64"]
        other = self.rng.choice(names) if names else "me"
        y = Term(other, "i64", lambda s, _: s.values[other])
        row, column = self.index(x, "P"), self.index(y, "Q")

        def run(s: Threads, mask: Array) -> None:
            r, c = row.meaning(s, mask), column.meaning(s, mask)
            good = inside(s, mask, r, int(s.values["P"][0]))
            good &= inside(s, mask, c, int(s.values["Q"][0]))
            out = s.outputs[f"o{n}"]
            out[mask] = 0
            out[good] = s.inputs["g"][r[good].astype(np.int64), c[good].astype(np.int64)]

        return [f"o{n}[me] = g[{row.text}, {column.text}]"], run

    def count(self, x: Term) -> tuple[list[str], Effect]:
        at = self.index(x, "W")

        def run(s: Threads, mask: Array) -> None:
            index = at.meaning(s, mask)
            good = inside(s, mask, index, int(s.values["W"][0]))
            np.add.at(s.counts, index[good].astype(np.int64), 1)

        return [f"atomic_add(w[{at.text}], 1)"], run

    def own(self, x: Term) -> tuple[list[str], Effect]:
        n = self.number
        self.number += 1
        at = self.index(x, str(SLOTS))

        def run(s: Threads, mask: Array) -> None:
            index = at.meaning(s, mask)
            good = inside(s, mask, index, SLOTS)
            out = s.outputs[f"o{n}"]
            out[mask] = 0
            out[good] = 3 * index[good].astype(np.int64) + 1

        return [f"o{n}[me] = own[{at.text}]"], run

    def access(self, x: Term) -> tuple[list[str], Effect]:
        return self.rng.choice([self.read, self.read, self.count, self.own])(x)

    def rounds(self, depth: int) -> tuple[list[str], Effect]:
        """A loop of few rounds, wherever its bounds lie."""
        name = f"k{len(self.lines)}_{self.rng.randrange(1000)}"
        lower = self.expression("i64", 1)
        step = self.rng.choice([1, 1, 2, 3, 5, 1 << 40, 1 << 61, (1 << 63) - 1, -1, -2, -(1 << 62)])
        most = 3 * abs(step) if abs(step) < 1 << 40 else 0
        if most:
            sign = "+" if step > 0 else "-"
            upper = self.binary(lower, sign, self.constant(self.rng.randint(0, most), "i64"))
        else:
            upper = self.expression("i64", 1)
        if abs(step) == 1 << 40:
            lower = self.binary(upper, "-", self.constant(3 << 40, "i64"))
        self.scope.append((name, "i64"))
        k = Term(name, "i64", lambda s, _: s.values[name])
        lines, effect = self.guarded(k, depth)
        self.scope.pop()

        def run(s: Threads, mask: Array) -> None:
            low, high = lower.meaning(s, mask), upper.meaning(s, mask)
            rounds = [range(int(a), int(b), step) for a, b in zip(low, high, strict=True)]
            for number in range(
                max((len(r) for r, on in zip(rounds, mask, strict=True) if on), default=0)
            ):
                on = mask & np.array([number < len(r) for r in rounds])
                now = [r[number] if number < len(r) else 0 for r in rounds]
                s.set(name, np.array(now, np.int64), on)
                effect(s, on)

        head = f"for {name} in range({lower.text}, {upper.text}, {step}):"
        return [head, *("    " + line for line in lines)], run

    def guarded(self, x: Term, depth: int) -> tuple[list[str], Effect]:
        """An access, mostly behind what keeps its index in range."""
        if depth and self.rng.random() < 0.2:
            return self.rounds(depth - 1)
        name = self.rng.choice(["N", "W", "P", "Q", "E", str(SLOTS)])
        if self.rng.random() < 0.15:
            return self.access(x)
        c = self.guard(x, name) if self.rng.random() < 0.9 else self.condition()
        lines, effect = (
            self.access(x) if self.rng.random() < 0.8 or not depth else self.guarded(x, depth - 1)
        )

        def run(s: Threads, mask: Array) -> None:
            holds = mask & c.meaning(s, mask)
            if holds.any():
                effect(s, holds)

        return [f"if {c.text}:", *("    " + line for line in lines)], run

    def make(self) -> Kernel:
        for n in range(ACCESSES):
            t = self.rng.choice([*INTEGERS, "i64", "i64"])
            value, name = self.expression(t, self.rng.randint(0, 2)), f"v{n}"
            self.lines.append(f"let {name} = {value.text}")

            def bind(s: Threads, mask: Array, name: str = name, value: Term = value) -> None:
                s.values[name] = value.meaning(s, mask)

            self.effects.append(bind)
            self.scope.append((name, t))
            lines, effect = self.guarded(Term(name, t, lambda s, _, name=name: s.values[name]), 2)
            self.lines += lines
            self.effects.append(effect)
        outs = "".join(f", o{n}: mut i32[T]" for n in range(self.number))
        inputs = ", ".join(f"a_{t}: {t}[T]" for t in INTEGERS)
        given = f"x: i32[N], g: i32[P, Q], far: i8[E], {inputs}, w: mut i32[W]{outs}"
        head = f"kernel {self.name}({given}):"
        lines = [
            head,
            f"    launch {self.launch}",
            "    let me = block.x * BLOCK + thread.x",
            f"    local own: i32[{SLOTS}]",
            f"    for e in range({SLOTS}):",
            "        own[e] = i32(3 * e + 1)",
            "    if me < T:",
            *("        " + line for line in self.lines),
        ]
        return Kernel(self.name, "\n".join(lines) + "\n", self.effects, self.number)


@dataclass
class Program:
    """A text of kernels, and data that they may be called with."""

    seed: int
    block: int
    blocks: int
    kernels: list[Kernel] = field(default_factory=list)

    def text_of(self, kernels: list[Kernel]) -> str:
        whole = "\n".join(kernel.text for kernel in kernels)
        return whole.replace("BLOCK", str(self.block))

    def data(self, seed: int) -> Data:
        rng = random.Random(self.seed * 1000 + seed)
        size = rng.randint(1, self.block * self.blocks)
        extents = {
            "T": size,
            "N": rng.choice([1, 2, 9, 60, 130, 300]),
            "W": rng.choice([1, 5, 64]),
            "P": rng.choice([1, 3, 9]),
            "Q": rng.choice([1, 4, 40]),
            "E": rng.choice(FAR),
        }
        draw = Maker(rng, "", "")
        arrays: dict[str, Array] = {
            f"a_{t}": np.array([draw.literal(t) for _ in range(size)], HELD[t]) for t in INTEGERS
        }
        arrays["x"] = np.arange(1, extents["N"] + 1, dtype=np.int32)
        arrays["g"] = np.arange(1, extents["P"] * extents["Q"] + 1, dtype=np.int32).reshape(
            extents["P"], extents["Q"]
        )
        arrays["far"] = np.full(1, 7, np.int8)
        arrays["w"] = np.zeros(extents["W"], np.int32)
        return Data(extents, arrays)


def make(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    program = Program(seed, rng.choice(BLOCKS), rng.choice((1, 1, 2, 3)))
    grid = rng.choice([f"({program.blocks})", f"({program.blocks} + T - T)"])
    launch = f"grid{grid} block({program.block})"
    for number in range(KERNELS):
        program.kernels.append(Maker(rng, f"k{number}", launch).make())
    return program
