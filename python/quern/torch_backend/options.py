"""The options of `torch.compile(..., backend="quern")`, checked in one place."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import os
from collections.abc import Mapping
from typing import Any

import _quern


@dataclasses.dataclass(frozen=True)
class Option:
    """One option: its name, default, the values it takes, and a sentence."""

    name: str
    default: str
    choices: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.name} = {self.default}: {self.text} ({', '.join(self.choices)})"


@functools.cache
def options() -> tuple[Option, ...]:
    """Every option with its default, the values it takes, and a sentence.

    >>> import quern
    >>> [option.name for option in quern.options()]
    ['bounds', 'executor', 'fallback', 'fusion', 'preferred', 'random']
    """
    return tuple(
        Option(name, default, tuple(choices.split()), text)
        for name, default, choices, text in _quern.options()
    )


MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0)
    return f"; did you mean `{near[0]}`?" if near else ""


def validate(given: Mapping[str, Any] | None, mode: str | None) -> dict[str, str]:
    """All options with their values; a ValueError names the nearest known key."""
    by_name = {option.name: option for option in options()}
    chosen = {option.name: option.default for option in options()}
    for name, value in (given or {}).items():
        if name not in by_name:
            raise ValueError(f"unknown option `{name}`{_nearest(name, tuple(by_name))}")
        option = by_name[name]
        if value not in option.choices:
            known = ", ".join(f"`{choice}`" for choice in option.choices)
            raise ValueError(f"option `{name}` is `{value}`, must be one of {known}")
        chosen[name] = value
    if mode is not None and mode not in MODES:
        raise ValueError(f"unknown mode `{mode}`{_nearest(mode, MODES)}")
    return chosen


_ON = {"1", "true", "yes", "on"}
_OFF = {"", "0", "false", "no", "off"}


def flag(name: str) -> bool:
    """Whether the environment variable `name` is switched on."""
    text = os.environ.get(name, "").strip().lower()
    if text in _ON or text in _OFF:
        return text in _ON
    raise ValueError(f"`{name}` is `{text}`, must be one of 1, true, yes, 0, false, no")
