"""Schedules that were edited at random: the lowering follows each of them, or refuses it."""

from __future__ import annotations

import functools
import random
import re
import subprocess
from collections.abc import Callable

from tree import ROOT, build_dir

OPT = build_dir() / "bin" / "quern-opt"
TARGETS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "sm_90", "gfx942")
WORDS = re.compile(r"\w+")
FLAGS = WORDS.findall("""
again by_columns deinterleave by_lanes dots fixed full in_place in_runs inclusive is_row large
left_along_depth once pairs product repeats repeats_rest replaces right_along_depth shared
shares_rows interleave staged streams streams_rows tiles together turn_columns turn_rows
turns unsuited
upper window windows
""")
TEAMS = WORDS.findall("thread warp block cluster")
KINDS = WORDS.findall("""
begins column_merge column_parts compact contract merge pack pack_columns partials rows
scatter sort stores stream sum_merge sum_parts
""")
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 4096, 2**20, 2**33, 2**62)
#: Lowering a whole file takes a second; a loop without an end takes more than this.
LONGEST = 60


@functools.cache
def schedules(file: str, target: str) -> list[str]:
    """The parts of an input of lit, each with the schedules that the compiler chose."""
    words = (str(OPT), file, "--split-input-file", f"--qn-schedule=target={target}")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    parts = done.stdout.split("// -----") if done.returncode == 0 else []
    return [part for part in parts if "qn.schedule" in part]


def replaced(rng: random.Random, text: str, pattern: str, words: Callable[[], str]) -> str:
    """The text with another word in one of the places that the pattern's group has."""
    places = [match.span(1) for match in re.finditer(pattern, text)]
    if not places:
        return text
    begin, end = rng.choice(places)
    return text[:begin] + words() + text[end:]


def edited(rng: random.Random, text: str) -> str:
    """The text with one to three changes of numbers, flags, kinds and loops."""
    head, mark, tail = text.partition("qn.schedule")
    for _ in range(rng.randint(1, 3)):
        how = rng.choice(["number", "number", "flag", "kind", "team", "when", "loop", "added"])
        if how == "number":
            tail = replaced(rng, tail, r"(?<= )(\d+)", lambda: str(rng.choice(NUMBERS)))
        elif how == "flag":
            tail = replaced(rng, tail, rf"( (?:{'|'.join(FLAGS)}))(?= |\n)", str)
        elif how == "kind":
            tail = replaced(rng, tail, r"qn\.dispatch (\w+)", lambda: rng.choice(KINDS))
        elif how == "team":
            tail = replaced(rng, tail, r"qn\.entry (\w+)", lambda: rng.choice(TEAMS))
        elif how == "when":
            values = re.findall(r"%\w+(?= = )", text)
            tail = replaced(rng, tail, r"(?:when|part) (%\w+)", lambda v=values: rng.choice(v))
        elif how == "loop":
            tail = replaced(rng, tail, r"( *qn\.loop .*\n)", str)
        else:
            words = (f" {word}" for word in rng.sample(FLAGS, 1))
            place = r"qn\.(?:loop|entry) .*copies \d+()"
            tail = replaced(rng, tail, place, lambda w=words: next(w))
    return head + mark + tail


def run(seed: int) -> str:
    """Lowers the edited text of a number; says where the compiler ends otherwise than by itself."""
    rng = random.Random(seed)
    files = sorted(map(str, (ROOT / "lit-tests" / "loops").glob("*.mlir")))
    parts: list[str] = []
    while not parts:
        target = rng.choice(TARGETS)
        parts = schedules(rng.choice(files), target)
    text = edited(rng, rng.choice(parts))
    words = (str(OPT), "-", f"--qn-to-loops=target={target}")
    try:
        done = subprocess.run(
            words, input=text, capture_output=True, text=True, check=False, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return f"seed {seed}: the lowering takes more than {LONGEST} seconds\n{text}"
    if done.returncode in (0, 1):
        return ""
    return f"seed {seed}: the lowering ends with {done.returncode}\n{text}\n{done.stderr[-2000:]}"
