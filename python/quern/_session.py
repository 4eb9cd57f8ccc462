"""The process's one session and the functions that use it."""

import os
import warnings
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


class SourceWarning(UserWarning):
    """The compiler's warning about a Quern text, as the rendered message.

    >>> import warnings
    >>> warnings.simplefilter("ignore", SourceWarning)
    """


def show_warnings(module: _quern.Module, depth: int) -> _quern.Module:
    """Issues what the compiler warned about, at the caller `depth` frames above this one."""
    for text in _quern.warnings(module):
        warnings.warn(text, SourceWarning, stacklevel=depth + 1)
    return module


def compile(source: str, name: str = "<string>", bounds: str = "proved") -> _quern.Module:
    """Checks a Quern text and returns its declarations as callables.

    With `bounds="all"` kernels keep every bounds check, as under `QUERN_BOUNDS=all`.

    >>> k = compile("elementwise next[T: Number](x: T) -> T:\\n    return x + 1\\n")
    >>> k.next.__name__
    'next'
    """
    return show_warnings(session().compile(source, name, bounds), 2)


def load(path: str | os.PathLike[str]) -> _quern.Module:
    """Like `compile`, from a file.

    >>> load("no/such/file.qn")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    quern.Error: ...
    """
    # As bytes: a name that this process's locale cannot spell is a name, too.
    return show_warnings(session().load(os.fsencode(path)), 2)


def operators() -> list[dict[str, Any]]:
    """The ATen overloads the library implements, a dictionary each.

    >>> any(row["overload"] == "aten::silu" for row in operators())
    True
    """
    return session().operators()
