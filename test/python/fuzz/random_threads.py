"""Random `kernel`s without races.

>>> from random_threads import make
>>> arrays = make(seed=1).run(warp=32)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scalar_reference import BINARY, HELD, Array, cast, is_float
from thread_loops import going, jump, leave, loop, may_jump
from thread_meaning import Effect, Program, Term, Threads, together

TYPES = ("i32", "i64", "u8", "i16", "u32", "f32", "f64", "bool")
BLOCKS = [(1,), (7,), (16,), (33,), (64,), (5, 3), (16, 4), (40, 2), (3, 2, 5), (8, 4, 4)]
#: Elements of a `local` array.
SLOTS = 4


class Maker:
    """Draws statements over the names that are in scope."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        size = self.rng.choice(BLOCKS)
        self.program = Program(seed, size, self.rng.choice((1, 1, 2, 3)))
        self.scope: list[tuple[str, str]] = []
        self.locals: list[tuple[str, str]] = []
        self.uniform: list[str] = []
        self.loops: list[str] = []
        #: Of the loops around, whether all threads of a block go round together.
        self.around: list[bool] = []
        self.shared: list[str] = []
        self.number = 0

    def fresh(self, stem: str) -> str:
        self.number += 1
        return f"{stem}{self.number}"

    # Expressions.

    def leaf(self, t: str) -> Term:
        names = [name for name, kind in self.scope if kind == t]
        pick = self.rng.random()
        if names and pick < 0.6:
            name = self.rng.choice(names)
            return Term(name, t, lambda s, _: s.values[name])
        if pick < 0.8:
            return self.place(t)
        value: Any = self.rng.randint(0 if t[0] == "u" else -9, 9)
        if t == "bool":
            value = self.rng.random() < 0.5
        text = f"{t}({value / 4 if is_float(t) else value})" if t != "bool" else str(value).lower()
        value = value / 4 if is_float(t) else value
        return Term(text, t, lambda s, _: s.full(value, t))

    def place(self, t: str) -> Term:
        """Numbers of the thread, elements of the inputs, what is there for loops."""
        name = self.rng.choice(["thread.x", "thread.y", "block.x", "lane()", "a", "b", *self.loops])
        source = {"a": "i32", "b": "f32"}.get(name, "i64")
        text = f"{name}[me]" if name in "ab" else name

        def meaning(s: Threads, _: Array) -> Array:
            return cast(s.inputs[name] if name in "ab" else s.values[name], source, t)

        return Term(text if source == t else f"{t}({text})", t, meaning)

    def expression(self, t: str, depth: int) -> Term:
        if depth == 0:
            return self.leaf(t)
        form = self.rng.random()
        if form < 0.15:
            source = self.rng.choice(TYPES)
            x = self.expression(source, depth - 1)
            return Term(f"{t}({x.text})", t, lambda s, m: cast(x.meaning(s, m), source, t))
        if form < 0.3:
            c, x, y = (self.expression(k, depth - 1) for k in ("bool", t, t))
            return Term(
                f"({x.text} if {c.text} else {y.text})",
                t,
                lambda s, m: np.where(c.meaning(s, m), x.meaning(s, m), y.meaning(s, m)),
            )
        if t == "bool" and form < 0.7:
            return self.binary(
                "bool", self.rng.choice(TYPES[:-1]), self.rng.choice(["<", ">=", "==", "!="]), depth
            )
        ops = ["and", "or", "^"] if t == "bool" else ["+", "-", "*", "min", "max"]
        if t != "bool" and not is_float(t):
            ops += ["&", "|", "^", "%", "//", "<<", ">>"]
        return self.binary(t, t, self.rng.choice(ops), depth)

    def binary(self, t: str, of: str, op: str, depth: int) -> Term:
        x, y = self.expression(of, depth - 1), self.expression(of, depth - 1)
        if op in ("%", "//", "<<", ">>"):
            by = self.rng.randint(1, 7)
            y = Term(f"{of}({by})", of, lambda s, _: s.full(by, of))
        text = f"{op}({x.text}, {y.text})" if op in ("min", "max") else f"({x.text} {op} {y.text})"
        return Term(text, t, lambda s, m: BINARY[op](x.meaning(s, m), y.meaning(s, m)))

    # What threads do together.

    def shuffled(self, t: str) -> Term:
        x = self.expression(t, 1)
        by = self.rng.randint(0, 5)
        kind = self.rng.choice(["shuffle_xor", "shuffle_up", "shuffle_down", "shuffle"])

        def meaning(s: Threads, mask: Array) -> Array:
            v = x.meaning(s, mask)
            to = {
                "shuffle_xor": s.lane ^ by,
                "shuffle_up": s.lane - by,
                "shuffle_down": s.lane + by,
                "shuffle": np.full_like(s.lane, by),
            }[kind]
            at = s.first + to
            there = (to >= 0) & (to < s.width) & (at < len(v))
            at = np.where(there, at, 0)
            there &= mask[at] & (s.warp[at] == s.warp)
            return np.where(there, v[at], v)

        return Term(f"{kind}({x.text}, {by})", t, meaning)

    def counted(self) -> Term:
        c = self.expression("bool", 1)
        kind = self.rng.choice(["ballot", "vote_any", "vote_all"])

        def meaning(s: Threads, mask: Array) -> Array:
            v = c.meaning(s, mask)
            make: dict[str, Callable[[Array], Any]] = {
                "ballot": lambda at: sum(1 << int(s.lane[k]) for k in at if v[k]) % 2**31,
                "vote_any": lambda at: int(v[at].any()),
                "vote_all": lambda at: int(v[at].all()),
            }
            return together(s, s.warp, mask, make[kind]).astype("i8")

        text = f"{kind}({c.text})"
        return Term(
            f"i64({text} % 2147483648)" if kind == "ballot" else f"i64({text})", "i64", meaning
        )

    def reduced(self, over: str) -> Term:
        x, c = self.expression("i32", 1), self.expression("bool", 1)
        kind = self.rng.choice(["sum", "max", "argmax", "scan", "scan_back", "before", "count"])
        where = self.rng.random() < 0.4 and kind not in ("argmax",)
        least = np.iinfo("i4").min

        def meaning(s: Threads, mask: Array) -> Array:
            v = x.meaning(s, mask)
            on = c.meaning(s, mask) if where else np.ones(len(v), bool)

            def reduce(at: Array) -> Any:
                part = np.where(on[at], v[at].astype("i8"), least if kind == "max" else 0)
                sums = np.cumsum(part)
                return {
                    "sum": lambda: part.sum(),
                    "max": lambda: part.max(),
                    "argmax": lambda: (s.lane if over == "warp" else s.thread)[at][part.argmax()],
                    "scan": lambda: sums,
                    "scan_back": lambda: sums[-1] - sums + part,
                    "before": lambda: sums - part,
                    "count": lambda: int((on[at] & (v[at] > 0)).sum()),
                }[kind]()

            return together(s, s.warp if over == "warp" else s.block, mask, reduce).astype("i8")

        tail = f" over {over}" + (f" where {c.text}" if where else "")
        text = {
            "scan": f"scan(sum, {x.text}{tail})",
            "scan_back": f"scan(sum, {x.text}{tail}, reverse)",
            "before": f"scan(sum, {x.text}{tail}, exclusive)",
            "count": f"count({x.text} > 0{tail})",
        }.get(kind, f"{kind}({x.text}{tail})")
        return Term(f"i64({text})", "i64", meaning)

    # Statements: lines and an effect each.

    def statement(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        forms: list[Callable[..., tuple[list[str], Effect]]] = [
            self.assign,
            self.assign,
            self.meet,
            self.slot,
            self.atomic,
        ]
        if depth > 0:
            forms += [self.branch, self.branch, partial(loop, self), partial(going, self)]
        if may_jump(self, uniform):
            forms.append(partial(jump, self))
        if uniform:
            forms += [self.exchange, self.blockwise, self.blockwise]
        form = self.rng.choice(forms)
        return form(depth, uniform)

    def bind(self, x: Term) -> tuple[list[str], Effect]:
        """A new name or an old one gets a value."""
        names = [name for name, kind in self.scope if kind == x.type]
        if names and self.rng.random() < 0.7:
            name = self.rng.choice(names)
            return [f"{name} = {x.text}"], lambda s, m: s.set(name, x.meaning(s, m), m)
        name = self.fresh("v")
        self.scope.append((name, x.type))
        return [f"var {name} = {x.text}"], lambda s, m: s.set(name, x.meaning(s, m), m)

    def assign(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        return self.bind(self.expression(self.rng.choice(TYPES), 2))

    def meet(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        pick = self.rng.random()
        if pick < 0.4:
            return self.bind(self.shuffled(self.rng.choice(TYPES)))
        return self.bind(self.counted() if pick < 0.6 else self.reduced("warp"))

    def blockwise(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        return self.bind(self.reduced("block"))

    def slot(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        """Writes an own element and reads another."""
        name, t = self.rng.choice(self.locals)
        to, value, of = self.expression("i64", 1), self.expression(t, 1), self.expression("i64", 1)
        lines, effect = self.bind(
            Term(
                f"{name}[({of.text}) & 3]",
                t,
                lambda s, m: s.values[name][np.arange(len(m)), of.meaning(s, m) & 3],
            )
        )

        def run(s: Threads, mask: Array) -> None:
            held, at = s.values[name].copy(), to.meaning(s, mask) & 3
            held[np.flatnonzero(mask), at[mask]] = value.meaning(s, mask)[mask]
            s.values[name] = held
            effect(s, mask)

        return [f"{name}[({to.text}) & 3] = {value.text}", *lines], run

    def atomic(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        at, value = self.expression("i64", 1), self.expression("i32", 1)

        def run(s: Threads, mask: Array) -> None:
            where = at.meaning(s, mask) & 7
            np.add.at(s.counts, where[mask], value.meaning(s, mask)[mask])

        return [f"atomic_add(counts[({at.text}) & 7], {value.text})"], run

    def exchange(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        """Through shared memory, between barriers."""
        t = self.rng.choice(TYPES)
        x, place = self.expression(t, 2), self.expression("i64", 1)
        name, size = self.fresh("s"), int(np.prod(self.program.block))

        def meaning(s: Threads, mask: Array) -> Array:
            v, to = x.meaning(s, mask), place.meaning(s, mask)
            return v[s.block * size + to % size]

        write = f"{name}[flat] = {x.text}"
        lines, effect = self.bind(Term(f"{name}[({place.text}) % {size}]", t, meaning))
        self.shared.append(f"shared {name}: {t}[{size}]")
        return [write, "barrier()", *lines, "barrier()"], effect

    def body(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        seen, lines, effects = len(self.scope), [], []
        for _ in range(self.rng.randint(1, 3)):
            text, effect = self.statement(depth - 1, uniform)
            lines += ["    " + line for line in text]
            effects.append(effect)
        del self.scope[seen:]

        def run(s: Threads, mask: Array) -> None:
            for effect in effects:
                effect(s, mask & s.alive & s.stays())

        return lines, run

    def condition(self) -> Term:
        """The same in all threads of a block."""
        k = self.rng.randint(0, 3)
        name = self.rng.choice(["block.x", *self.uniform])
        return Term(f"({name} + n) % 3 != {k}", "bool", lambda s, _: (s.values[name] + 5) % 3 != k)

    def branch(self, depth: int, uniform: bool) -> tuple[list[str], Effect]:
        agree = uniform and self.rng.random() < 0.5
        c = self.condition() if agree else self.expression("bool", 2)
        lines, then = self.body(depth, agree)
        has_else = self.rng.random() < 0.5
        rest, other = self.body(depth, agree) if has_else else ([], None)

        def run(s: Threads, mask: Array) -> None:
            holds = c.meaning(s, mask)
            if (mask & holds).any():
                then(s, mask & holds)
            if other is not None and (mask & ~holds).any():
                other(s, mask & ~holds)

        return [f"if {c.text}:", *lines, *(["else:", *rest] if has_else else [])], run

    def begin(self) -> None:
        x, y, *_ = (*self.program.block, 1, 1)
        size = int(np.prod(self.program.block))
        head = [
            f"let flat = (thread.z * {y} + thread.y) * {x} + thread.x",
            f"let me = block.x * {size} + flat",
        ]
        for t in self.rng.sample(TYPES, 2):
            name = self.fresh("l")
            self.locals.append((name, t))
            head += [
                f"local {name}: {t}[{SLOTS}]",
                f"for e in range({SLOTS}):",
                f"    {name}[e] = {t}(0)",
            ]
            self.program.effects.append(
                lambda s, _, name=name, t=t: s.values.__setitem__(  # type: ignore[misc]
                    name, np.zeros((len(s.thread), SLOTS), HELD[t])
                )
            )
        self.program.lines += head

    def end(self) -> None:
        for name, t in self.scope[-4:]:
            out = f"out{len(self.program.outputs)}"
            self.program.outputs.append(t)
            self.program.lines.append(f"{out}[me] = {name}")

            def run(s: Threads, mask: Array, out: str = out, name: str = name, t: str = t) -> None:
                s.outputs[out] = np.where(mask, s.values[name], HELD[t](0))

            self.program.effects.append(run)

    def make(self) -> Program:
        self.begin()
        lines: list[str] = []
        uniform = True
        for n in range(self.rng.randint(3, 7)):
            if n > 2 and uniform and self.rng.random() < 0.15:
                text, effect = leave(self)
                uniform = False
            else:
                text, effect = self.statement(3, uniform)
            lines += text
            self.program.effects.append(effect)
        if not self.scope:
            text, effect = self.assign(0, uniform)
            lines += text
            self.program.effects.append(effect)
        self.program.lines += [*self.shared, *lines]
        self.end()
        return self.program


def make(seed: int) -> Program:
    """The program of a seed."""
    return Maker(seed).make()
