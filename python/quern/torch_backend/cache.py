"""AOTAutograd's cache: a second process neither traces nor plans what one before it did."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import logging
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

import quern

from ..torch_names import (
    AOTAutogradCache,
    BypassAOTAutogradCache,
    OutputCode,
    codecache,
    patch_functorch,
)
from .graph_folder import ForeignFolderError, GraphFolder, cache_folder
from .state import State, state

Call = tuple[str, tuple[Any, ...]]

_log = logging.getLogger(__name__)
# Where the graphs that this thread compiles are kept.
_folder: contextvars.ContextVar[GraphFolder | None] = contextvars.ContextVar("folder", default=None)


class LoggedBuilder:
    """A native graph builder that remembers how it was called."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.builder, name)

        def call(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            return method(*arguments)

        setattr(self, name, call)
        return call


class CachedGraph(OutputCode):
    """A compiled graph as AOTAutograd keeps it: the description it was made from,
    which the native side plans anew in milliseconds; kernels have a cache of
    their own."""

    # In a slot, an instance's own: a call goes from the type to the native
    # function with no frame of Python's between.
    __slots__ = ("__call__",)

    def __init__(
        self,
        graph: Any,
        name: str,
        part: str,
        options: Mapping[str, str],
        calls: Sequence[Call],
        tag: str,
    ) -> None:
        self._set(graph)
        self._name = name
        self._part = part
        self._options = dict(options)
        self._calls = list(calls)
        self._tag = tag
        self._boxed_call = True

    def _set(self, graph: Any) -> None:
        """Takes the native graph, which is what a call of this object runs."""
        self._graph = graph
        self.__call__ = graph.entry()  # type: ignore[method-assign]

    def prepare_for_serialization(self) -> None:
        """Lets go of what only this process can use."""
        if any(method == "host" for method, _ in self._calls):
            raise BypassAOTAutogradCache(f"{self._name} calls back into Python")
        # AOTAutograd passes no tokens to a graph that comes from its cache.
        if any(
            method == "call" and arguments[4].get("effect") for method, arguments in self._calls
        ):
            raise BypassAOTAutogradCache(f"{self._name} has effects")
        self._graph = None
        del self.__call__

    def post_compile(self, example_inputs: Any, constants: Any, graph_kwargs: Any) -> None:
        """Makes the native graph again."""
        if self._tag != key_tag(self._options):
            raise BypassAOTAutogradCache(f"{self._name} was made by another build")
        from . import native
        from .compilation import make_graph
        from .report import warn_of_fallbacks

        builder = native().GraphBuilder(self._name)
        for method, arguments in self._calls:
            getattr(builder, method)(*arguments)
        self._set(make_graph(builder, self._name, self._part, self._options))
        state().loaded += 1
        warn_of_fallbacks(state(), self._graph)

    def set_triton_bundle(self, triton_bundle: Any) -> None:
        """Nothing of ours is Triton's."""


@functools.cache
def _package() -> str:
    """Names the package's files as they are on disk."""
    from . import native

    files = [Path(str(native().__file__)), *sorted(Path(quern.__file__).parent.rglob("*.py"))]
    facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return repr((quern.__version__, torch.__version__, facts))


def key_tag(options: Mapping[str, str]) -> str:
    """What a graph depends on besides the traced program: this build, the machine,
    the options, and what the user registered."""
    current: State = state()
    facts = (_package(), current.backend.identity(), sorted(options.items()), current.added)
    return "quern-" + hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


class InductorUnregistered:
    """AOTAutograd's key asks which code generators Inductor has, and imports all of them for it:
    most of a second process's start, and nothing that our graphs depend on. Inside it takes those
    that are registered already; any number of threads may be inside."""

    _lock = threading.Lock()
    _inside = 0
    _keys: Any = codecache
    _registers: Callable[[], None]

    def __enter__(self) -> None:
        with self._lock:
            if not InductorUnregistered._inside:
                InductorUnregistered._registers = self._keys.init_backend_registration
                self._keys.init_backend_registration = lambda: None
            InductorUnregistered._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            InductorUnregistered._inside -= 1
            if not InductorUnregistered._inside:
                self._keys.init_backend_registration = InductorUnregistered._registers


def open_folder() -> GraphFolder | None:
    """The folder of graphs, or none where the user wants none or others may write to it:
    what is loaded from there runs as code."""
    path = cache_folder()
    if path in ("", "-"):
        return None
    try:
        return GraphFolder(path)
    except (OSError, ForeignFolderError) as error:
        text = f"{error}; traced graphs are not cached on disk"
        if text not in state().warned:
            state().warned.add(text)
            warnings.warn(text, stacklevel=3)
        return None


def _candidates(original: Any) -> Any:
    """In place of torch's: the entries of our folder, never those of torch's, which lies in a
    folder that any user may make, nor of a server's."""

    def iterate(cls: Any, local: bool, remote: Any, key: str) -> Iterator[tuple[Any, bytes, bool]]:
        folder = _folder.get()
        if folder is None:
            yield from original.__func__(cls, local, remote, key)
            return
        for content in folder.read(key) if local else ():
            try:
                entry = pickle.loads(content)
            except Exception:
                _log.info("a cached graph cannot be read", exc_info=True)
                continue
            yield entry, content, True

    return classmethod(iterate)


def _writer(original: Callable[[str, bytes], None]) -> Any:
    """In place of torch's: writes to our folder."""

    def write(key: str, content: bytes) -> None:
        folder = _folder.get()
        if folder is None:
            original(key, content)
        else:
            folder.write(key, content)

    return staticmethod(write)


@functools.cache
def _take_folder() -> None:
    """Gives AOTAutograd's cache our folder for what we compile: torch has no option for its
    place besides a variable of the whole process."""
    cache: Any = AOTAutogradCache
    cache.iterate_over_candidates = _candidates(cache.iterate_over_candidates)
    cache._write_to_local_cache = _writer(cache._write_to_local_cache)


@contextlib.contextmanager
def caching(options: Mapping[str, str], folder: GraphFolder) -> Iterator[None]:
    """Turns AOTAutograd's cache on for what is compiled inside, and closes the folder. The
    backward is planned with the forward then, since both make one entry."""
    tag = torch.compiler.config.cache_key_tag + key_tag(options)
    _take_folder()
    token = _folder.set(folder)
    try:
        with (
            torch.compiler.config.patch(cache_key_tag=tag),  # type: ignore[attr-defined]
            patch_functorch(
                bundled_autograd_cache=True,
                force_non_lazy_backward_lowering=True,
                enable_remote_autograd_cache=False,
            ),
            InductorUnregistered(),
        ):
            yield
    finally:
        _folder.reset(token)
        folder.close()
