"""Variables of the environment that are misspelt, or say what nobody knows."""

import difflib
import os
import warnings
from functools import cache

import _quern

_PREFIX = "QUERN_"
_OFF = {"", "0", "no", "false", "off"}


def _nearest(name: str, known: list[str]) -> str | None:
    """The known name that `name` may stand for; another program's is near none."""
    words = [each.removeprefix(_PREFIX) for each in known]
    near = difflib.get_close_matches(name.removeprefix(_PREFIX).upper(), words, n=1, cutoff=0.7)
    return _PREFIX + near[0] if near else None


def _wrong() -> list[str]:
    choices = {name: values.split() for name, values, _ in _quern.variables()}
    texts = []
    for name, value in sorted(os.environ.items()):
        if not name.startswith(_PREFIX):
            continue
        if name not in choices:
            if near := _nearest(name, list(choices)):
                texts.append(f"`{name}` is no variable of Quern; did you mean `{near}`?")
        elif choices[name] and value.lower() not in _OFF | set(choices[name]):
            known = ", ".join(f"`{choice}`" for choice in choices[name])
            texts.append(f"`{name}` is `{value}`, must be one of {known}")
    return texts


@cache
def warn() -> None:
    """Warns of each such variable, once a process.

    >>> warn()
    """
    for text in _wrong():
        warnings.warn(text, stacklevel=3)
