"""The process's one session and the functions that use it."""

import os
from functools import cache
from typing import Any

import _quern

from . import _environment


def _threads() -> int:
    """What QUERN_THREADS says; 0: torch, asked at every call, or every processor."""
    text = os.environ.get("QUERN_THREADS", "").strip()
    if text and not (text.isdecimal() and len(text) < 7):
        raise ValueError(f"`QUERN_THREADS` is `{text}`, must be a number of threads")
    return int(text or "0")


@cache
def session() -> _quern.Session:
    """The session that every call of this module shares, made on first use.

    >>> session() is session()
    True
    """
    _environment.warn()
    return _quern.Session(threads=_threads(), cache=os.environ.get("QUERN_CACHE_DIR", ""))


def compile(source: str, name: str = "<string>") -> _quern.Module:
    """Checks a Quern text and returns its declarations as callables.

    >>> k = compile("elementwise next[T: Number](x: T) -> T:\\n    return x + 1\\n")
    >>> k.next.__name__
    'next'
    """
    return session().compile(source, name)


def load(path: str | os.PathLike[str]) -> _quern.Module:
    """Like `compile`, from a file.

    >>> load("no/such/file.qn")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    quern.Error: ...
    """
    # As bytes: a name that this process's locale cannot spell is a name, too.
    return session().load(os.fsencode(path))


def operators() -> list[dict[str, Any]]:
    """The ATen overloads the library implements, a dictionary each.

    >>> any(row["overload"] == "aten::silu" for row in operators())
    True
    """
    return session().operators()
