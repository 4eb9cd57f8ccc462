"""Loops of random `kernel`s, and the ways out of them: `break`, `continue` and `return`."""

from __future__ import annotations

import random
from typing import Protocol

import numpy as np
from scalar_reference import Array
from thread_meaning import Effect, Term, Threads


class Maker(Protocol):
    """What draws the statements: the class of that name in `random_threads`."""

    rng: random.Random
    scope: list[tuple[str, str]]
    loops: list[str]
    around: list[bool]
    uniform: list[str]

    def fresh(self, stem: str) -> str: ...
    def expression(self, t: str, depth: int) -> Term: ...
    def condition(self) -> Term: ...
    def bind(self, x: Term) -> tuple[list[str], Effect]: ...
    def body(self, depth: int, uniform: bool) -> tuple[list[str], Effect]: ...


def loop(maker: Maker, depth: int, uniform: bool) -> tuple[list[str], Effect]:
    """Counts: the same rounds for all, or some for each."""
    agree = uniform and maker.rng.random() < 0.6
    name, most = maker.fresh("round"), maker.rng.randint(1, 4)
    bound = maker.expression("i64", 1)
    upper = f"{most}" if agree else f"({bound.text}) % {most + 1}"
    maker.loops.append(name)
    maker.around.append(agree)
    if agree:
        maker.uniform.append(name)
    lines, then = maker.body(depth, agree)
    maker.loops.pop()
    maker.around.pop()
    if agree:
        maker.uniform.pop()

    def run(s: Threads, mask: Array) -> None:
        rounds = np.full(len(mask), most) if agree else bound.meaning(s, mask) % (most + 1)
        with s.inside() as left:
            for i in range(most):
                on = left.begin(mask & (i < rounds) & s.alive)
                if on.any():
                    s.set(name, np.full(len(mask), i), on)
                    then(s, on)

    return [f"for {name} in range({upper}):", *lines], run


def going(maker: Maker, depth: int, uniform: bool) -> tuple[list[str], Effect]:
    """Goes on while something holds that every thread decides alone, a few times."""
    c, name = maker.expression("bool", 2), maker.fresh("w")
    most = maker.rng.randint(1, 4)
    maker.around.append(False)
    lines, then = maker.body(depth, False)
    maker.around.pop()

    def run(s: Threads, mask: Array) -> None:
        with s.inside() as left:
            for _ in range(most):
                mask = left.begin(mask & s.alive)
                if mask.any():
                    mask = mask & c.meaning(s, mask)
                if mask.any():
                    then(s, mask)

    # Counted first: `continue` must not leave the count out.
    head = [f"var {name} = 0", f"while {name} < {most} and ({c.text}):", f"    {name} += 1"]
    return [*head, *lines], run


def may_jump(maker: Maker, uniform: bool) -> bool:
    """Threads that go round together leave together, or one of them would miss a barrier."""
    return bool(maker.around) and (uniform or not maker.around[-1])


def jump(maker: Maker, depth: int, uniform: bool) -> tuple[list[str], Effect]:
    """Leaves the innermost loop, or its round."""
    c = maker.condition() if maker.around[-1] else maker.expression("bool", 2)
    word = maker.rng.choice(["break", "continue"])
    seen = len(maker.scope)
    lines, then = maker.bind(maker.expression("i32", 1)) if maker.rng.random() < 0.3 else ([], None)
    del maker.scope[seen:]

    def run(s: Threads, mask: Array) -> None:
        on = mask & c.meaning(s, mask)
        if then is not None and on.any():
            then(s, on)
        s.loops[-1].leave(on, word == "break")

    return [f"if {c.text}:", *(f"    {line}" for line in lines), f"    {word}"], run


def leave(maker: Maker) -> tuple[list[str], Effect]:
    c = maker.expression("bool", 2)

    def run(s: Threads, mask: Array) -> None:
        s.alive = s.alive & ~(mask & c.meaning(s, mask))

    return [f"if {c.text}:", "    return"], run
