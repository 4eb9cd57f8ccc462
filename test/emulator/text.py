"""Reads PTX text into functions of instructions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from emulator.ptx_types import B32, TYPES, UINT, PtxError, Type
from emulator.rounding import align_up, literal


class Ins:
    """One instruction."""

    op: str
    mods: list[str]
    args: list[Any]
    pred: int | None
    neg: bool
    types: list[Type]
    t: Type
    line: int
    fn: Any = None
    #: Of a loop that exchanges the word around a small element: memory may end within it.
    whole_word: bool = False

    def __repr__(self) -> str:
        return f"line {self.line}: {'.'.join([self.op, *self.mods])}"


class Function:
    """An entry: its code, registers and parameters."""

    def __init__(self, name: str):
        self.name = name
        self.params: dict[str, tuple[int, int]] = {}
        self.code: list[Ins] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, list[str]] = {}
        self.reg_bits: list[int] = []
        self.local: dict[str, int] = {}
        self.local_size = self.param_size = 0
        self.req: list[int] | None = None
        self.most: int | None = None
        self.cluster = 1


def mark_words(code: list[Ins]) -> None:
    """Finds the words that are compared and swapped, and what reads them before."""
    places = [i.args[1] for i in code if i.op == "atom" and "cas" in i.mods and i.t.bits == 32]
    for ins in code:
        single = ins.op in ("ld", "atom") and ins.t.bits == 32 and ins.args[0][0] != "v"
        ins.whole_word = single and ins.args[1] in places


class Text:
    """What a PTX text declares."""

    def __init__(self, text: str):
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
        text = re.sub(r"//[^\n]*", "", text)
        self.functions: dict[str, Function] = {}
        self.globals: dict[str, tuple[Any, int]] = {}
        self.shared: dict[str, int] = {}
        self.shared_size = 0
        self.dynamic: set[str] = set()  # names of the memory that a launch asks for
        self.target = (re.search(r"\.target\s+(\S+?)[,\s]", text) or [0, "?"])[1]
        self.counts: dict[str, int] = {}
        fn, depth, names, start = None, 0, [], 0
        for m in re.finditer(
            r"\s*(?:(\{)|(\})|([\w$%.]+)\s*:(?!:)|((?:\.(?:visible|weak|extern|common)\s+)*\.(?:entry|func)\b[^{;]*)|"
            r"(\.section[^{]*\{[^}]*\})|(\.(?:version|target|address_size|file|loc)\b[^\n]*)|([^;{}]*(?:\{[^{}]*\}[^;{}]*)*;))",
            text,
        ):
            opening, closing, label, head, _, _, stmt = m.groups()
            if m.start() != start and text[start : m.start()].strip():
                raise PtxError(f"cannot read: {text[start : m.start()].strip()[:80]!r}")
            start, line = m.end(), text.count("\n", 0, m.end()) + 1
            if head:
                fn = self._head(head)
            elif opening:
                depth, names = depth + 1, [*names, {}]
            elif closing:
                depth, names = depth - 1, names[:-1]
                fn = fn if depth else None
            elif label and fn and depth:
                fn.labels[label] = len(fn.code)
            elif stmt:
                self._statement(stmt.strip()[:-1].strip(), fn if depth else None, names, line)
                if fn and not depth:
                    fn = None
        for function in self.functions.values():
            mark_words(function.code)

    def _head(self, head: str) -> Function:
        m = re.search(
            r"\.(entry|func)\s*(?:\([^)]*\)\s*)?([\w$.]+)\s*(?:\((.*)\))?(.*)", head, re.S
        )
        f = Function(m[2])
        for p in filter(None, (s.strip() for s in (m[3] or "").split(","))):
            q = re.search(
                r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(?:\.ptr\b(?:\s*\.\w+\b(?:\s+\d+)?)*\s+)?([\w$.%]+)(?:\[(\d+)\])?",
                p,
            )
            size = TYPES[q[2]].bits // 8 * int(q[4] or 1)
            at = align_up(f.param_size, int(q[1] or size))
            f.params[q[3]], f.param_size = (at, size), at + size
        if req := re.search(r"\.reqntid\s+([\d,\s]+)", m[4]):
            f.req = [int(v) for v in req[1].split(",")]
        if most := re.search(r"\.maxntid\s+([\d,\s]+)", m[4]):
            f.most = int(np.prod([int(v) for v in most[1].split(",")]))
        if cluster := re.search(r"\.reqnctapercluster\s+(\d+)", m[4]):
            f.cluster = int(cluster[1])
        if m[1] == "entry":
            self.functions[f.name] = f
        return f

    def _variable(self, s: str, fn: Function) -> None:
        m = re.search(
            r"\.(global|const|shared|local)\b((?:\s+\.\w+(?:\s+\d+)?)*)\s+\.(\w+)\s+([\w$.%]+)((?:\[\d*\])*)(?:\s*=\s*(.*))?$",
            s,
            re.S,
        )
        space, attrs, ty, name, dims, init = m.groups()
        unit = TYPES[ty].bits // 8
        dims = [int(d) if d else 0 for d in re.findall(r"\[(\d*)\]", dims)]
        size, al = (
            unit * int(np.prod(dims or [1])),
            max(unit, int((re.search(r"\.align\s+(\d+)", attrs or "") or [0, 1])[1])),
        )
        if space == "shared":
            if size == 0:
                self.dynamic.add(name)
                return
            self.shared[name] = align_up(self.shared_size, al)
            self.shared_size = self.shared[name] + size
        elif space == "local":
            fn.local[name] = align_up(fn.local_size, al)
            fn.local_size = fn.local[name] + size
        else:
            raw = np.zeros(size, np.uint8)
            if init:
                vals = [v.strip() for v in init.strip(" {}").split(",") if v.strip()]
                data = np.array([literal(v)[1] for v in vals]).astype(
                    TYPES[ty].np if TYPES[ty].kind != "bf" else np.uint16
                )
                if literal(vals[0])[0] == "f":
                    data = np.array([literal(v)[1] for v in vals], UINT[TYPES[ty].bits])
                raw[: data.nbytes] = data.view(np.uint8)
            self.globals[name] = (raw, al)

    def _statement(
        self, s: str, fn: Function | None, names: list[dict[str, int]], line: int
    ) -> None:
        first = s.split(None, 1)[0] if s else ""
        if first == ".reg":
            m = re.match(r"\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+(.*)", s, re.S)
            for item in m[2].split(","):
                q = re.match(r"\s*([\w$%.]+)(?:<(\d+)>)?", item)
                for k in [""] if q[2] is None else range(int(q[2])):
                    names[-1][f"{q[1]}{k}"] = len(fn.reg_bits)
                    fn.reg_bits.append(TYPES[m[1]].bits)
        elif re.match(r"(\.(visible|weak|extern|common)\s+)*\.(global|const|shared|local)\b", s):
            self._variable(s, fn)
        elif first == ".branchtargets":
            fn.tables[max(fn.labels, key=lambda k: (fn.labels[k], list(fn.labels).index(k)))] = (
                re.findall(r"[\w$.]+", s)[1:]
            )
        elif first.startswith("."):
            if first not in (".pragma", ".param", ".alias", ".callprototype", ".maxntid"):
                raise PtxError(f"line {line}: directive {first}")
        elif s and fn:
            fn.code.append(self._instruction(s, fn, names, line))

    def _instruction(self, s: str, fn: Function, names: list[dict[str, int]], line: int) -> Ins:
        m = re.match(r"(?:@(!?)([\w$%.]+)\s+)?([\w.:]+)\s*(.*)", s, re.S)
        ins = Ins()
        parts = m[3].replace("::", "#").split(".")
        ins.op, ins.mods, ins.line = parts[0], [p for p in parts[1:] if p], line
        ins.types = [TYPES[p] for p in ins.mods if p in TYPES]
        ins.t = ins.types[0] if ins.types else B32
        ins.neg, ins.pred = m[1] == "!", None

        def find(name: str) -> int | None:
            return next((n[name] for n in reversed(names) if name in n), None)

        def operand(a: str) -> tuple[Any, ...]:
            a = a.strip()
            if a.startswith("("):
                return "call", a
            if a.startswith("{"):
                return "v", [operand(x) for x in a[1:-1].split(",")]
            if a.startswith("["):
                q = re.match(r"\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]", a)
                return "m", operand(q[1]), int(q[2] or "0", 0)
            if a.startswith("!"):
                return "n", operand(a[1:])
            if "|" in a:
                return "2", operand(a.split("|")[0]), operand(a.split("|")[1])
            if a == "_":
                return ("_",)
            if (r := find(a)) is not None:
                return "r", r
            if re.match(r"-?[\d.]", a):
                return literal(a)
            q = re.match(r"([\w$.%]+)\s*(?:\+\s*(\d+))?$", a)
            return ("s", a[1:]) if a.startswith("%") else ("a", q[1], int(q[2] or 0))

        if m[2]:
            ins.pred = find(m[2])
        ins.args = [
            operand(a)
            for a in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,{}\[\]()])+", m[4])
            if a.strip()
        ]
        return ins
