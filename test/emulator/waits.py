"""Reads disassembled code for AMD's GPUs: whether every value is awaited before it is used.

Loads go on beside the code; counters say how many of a kind are under way, and `s_waitcnt` and its
like wait for one to fall. For every way through the code a register that a load has yet to fill
keeps how many of its kind were begun after it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: A counter and a register, and the least number of accesses begun after the one that fills it.
Pending = dict[tuple[str, str], int]

LINE = re.compile(r"^\t(?P<text>\S.*?)\s*// (?P<at>[0-9A-F]{12}):")
LABEL = re.compile(r"^(?P<at>[0-9a-f]{16}) <(?P<name>[^>]+)>:$")
TARGET = re.compile(r"<[^>+]+(?:\+0x(?P<by>[0-9a-f]+))?>\s*$")
REGISTERS = re.compile(r"\b([vsa])(?:\[(\d+):(\d+)\]|(\d+)\b)")
LOADS = ("global_load", "flat_load", "buffer_load", "scratch_load", "image_")
STORES = ("global_store", "flat_store", "buffer_store", "scratch_store")
COUNTERS = ("vmcnt", "lgkmcnt", "loadcnt", "dscnt", "kmcnt")
#: What a wait of the twelfth generation names: counters, in order of its number's bytes.
NEW_WAITS = {
    "s_wait_loadcnt_dscnt": ("dscnt", "loadcnt"),
    "s_wait_storecnt_dscnt": ("dscnt", "storecnt"),
    "s_wait_loadcnt": ("loadcnt",),
    "s_wait_storecnt": ("storecnt",),
    "s_wait_dscnt": ("dscnt",),
    "s_wait_kmcnt": ("kmcnt",),
}


@dataclass
class Instruction:
    """One line: its place, its name, its operands."""

    at: int
    name: str
    operands: list[str]
    text: str
    target: int | None = None

    def registers(self, first: int = 0) -> Iterator[str]:
        for operand in self.operands[first:]:
            for kind, low, high, only in REGISTERS.findall(operand):
                for number in range(int(low or only), int(high or only) + 1):
                    yield f"{kind}{number}"


def read(listing: str) -> dict[str, list[Instruction]]:
    """The functions of a listing with addresses (`llvm-objdump -d`)."""
    functions: dict[str, list[Instruction]] = {}
    begin = 0
    for line in listing.splitlines():
        if label := LABEL.match(line):
            functions[label["name"]] = now = []
            begin = int(label["at"], 16)
        elif found := LINE.match(line):
            name, _, rest = found["text"].partition(" ")
            made = Instruction(int(found["at"], 16), name, rest.split(", "), found["text"])
            if "branch" in name and (target := TARGET.search(line)):
                made.target = begin + int(target["by"] or "0", 16)
            now.append(made)
    return functions


@dataclass
class Checker:
    """Of one target: which counters its accesses have."""

    target: str
    wrong: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.is_new = self.target.startswith("gfx12")
        self.counts_stores = self.target.startswith("gfx9")

    def counters(self, ins: Instruction) -> tuple[tuple[str, ...], bool]:
        """The counters of an access, and whether it fills its first operand."""
        near, far, scalar = (
            ("dscnt", "loadcnt", "kmcnt") if self.is_new else ("lgkmcnt", "vmcnt", "lgkmcnt")
        )
        name = ins.name
        if name.startswith(("s_load", "s_buffer_load")):
            return (scalar,), True
        if name.startswith("ds_"):
            fills = ("ds_read", "ds_load", "ds_bpermute", "ds_permute", "ds_swizzle")
            return (near,), name.startswith(fills) or "_rtn" in name
        if name == "global_inv":
            return (far,), False
        loads = name.startswith(LOADS)
        if "_atomic_" in name and not name.startswith("ds_"):
            loads = any(word in ins.text for word in (" glc", " sc0", "TH_ATOMIC_RETURN"))
        elif not loads and not name.startswith(STORES):
            return (), False
        if not loads and not self.counts_stores:
            return (), False
        return ((far, near) if name.startswith("flat_") else (far,)), loads

    def wait(self, ins: Instruction, pending: Pending) -> Pending:
        most: dict[str, int] = {}
        if ins.name == "s_waitcnt":
            most = {n: int(c) for n, c in re.findall(r"(\w+cnt)\((\d+)\)", ins.text)}
        elif ins.name in NEW_WAITS:
            number = int(ins.operands[0], 0)
            names = NEW_WAITS[ins.name]
            most = {n: number >> 8 * place & 0x3F for place, n in enumerate(names)}
        elif ins.name == "s_wait_idle":
            return {}

        def is_over(counter: str, register: str, age: int) -> bool:
            # Scalar loads overtake each other: only all of them are known to be over.
            return (
                counter in most
                and age >= most[counter]
                and not (most[counter] and register[0] == "s")
            )

        return {key: age for key, age in pending.items() if not is_over(*key, age)}

    def step(self, ins: Instruction, pending: Pending) -> Pending:
        if ins.name.startswith(("s_waitcnt", "s_wait_")):
            return self.wait(ins, pending)
        counters, fills = self.counters(ins)
        for counter in COUNTERS if pending else ():
            # What fills the same register by the same counter comes in order.
            ordered = fills and counter in counters and not ins.operands[0].startswith("s")
            for register in ins.registers(first=int(ordered)):
                if (counter, register) in pending:
                    self.wrong.add(f"{ins.at:x}: `{ins.text}` does not wait for {register}")
        if not counters:
            return pending
        made = {key: age + (key[0] in counters) for key, age in pending.items()}
        if fills:
            first = Instruction(ins.at, ins.name, ins.operands[:1], ins.text)
            made.update({(c, register): 0 for c in counters for register in first.registers()})
        return made

    def check(self, function: list[Instruction]) -> list[str]:
        """Goes along every way until nothing new is found."""
        places = {ins.at: number for number, ins in enumerate(function)}
        targets = {places[ins.target] for ins in function if ins.target in places}
        before: dict[int, Pending] = {}
        open_: list[tuple[int, Pending]] = [(0, {})]
        while open_:
            number, pending = open_.pop()
            seen = before.get(number)
            if seen is not None:
                both = seen | pending
                pending = {key: min(age, seen.get(key, age)) for key, age in both.items()}
            if pending == seen:
                continue
            before[number] = pending
            while number < len(function):
                ins = function[number]
                pending = self.step(ins, pending)
                if ins.target in places:
                    open_.append((places[ins.target], pending))
                number += 1
                if ins.name in ("s_branch", "s_endpgm", "s_setpc_b64"):
                    break
                if number in targets:
                    open_.append((number, pending))
                    break
        return sorted(self.wrong)


def disassembled(image: Path) -> str:
    """The listing of a code object."""
    words = ["llvm-objdump-22", "-d", str(image)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def unawaited(listing: str, target: str) -> list[str]:
    """Uses of values that may still be under way, in all functions of a listing."""
    return [
        f"{name} {problem}"
        for name, function in read(listing).items()
        for problem in Checker(target).check(function)
    ]
