"""The folder of pickled graphs, which only this user may have written to."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC
# A graph's description takes 10 to 500 KiB.
_LARGEST = 64 << 20
_MOST = 256 << 20


class ForeignFolderError(Exception):
    """A folder that another user made, or may write to."""


def cache_folder() -> str:
    """Where the session keeps kernels (`defaultCacheFolder` in jit/cache); none: "-" or "".

    >>> isinstance(cache_folder(), str)
    True
    """
    if own := os.environ.get("QUERN_CACHE_DIR"):
        return own
    for variable, inside in (("XDG_CACHE_HOME", "quern"), ("HOME", ".cache/quern")):
        if (base := os.environ.get(variable, "")).startswith("/"):
            return f"{base}/{inside}"
    return ""


def _is_own(info: os.stat_result) -> bool:
    return info.st_uid == os.geteuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _refuse_foreign(name: str, info: os.stat_result) -> None:
    if info.st_uid != os.geteuid():
        raise ForeignFolderError(
            f"`{name}` belongs to user {info.st_uid}, not to user {os.geteuid()}"
        )
    if not stat.S_ISDIR(info.st_mode):
        raise ForeignFolderError(f"`{name}` is not a folder")
    if not _is_own(info):
        raise ForeignFolderError(f"`{name}` may be written by others")


def _open_root(path: str) -> int:
    """A link to the cache folder counts only where this user or root made it."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode) and info.st_uid not in (0, os.geteuid()):
        raise ForeignFolderError(f"`{path}` is a link that user {info.st_uid} made")
    return os.open(path, _FOLDER)


def _open_inner(parent: int, name: str, makes: bool = True) -> int:
    with contextlib.suppress(FileExistsError):
        if makes:
            os.mkdir(name, 0o700, dir_fd=parent)
    return os.open(name, _FOLDER | _LINKS, dir_fd=parent)


class GraphFolder:
    """`graphs` in Quern's cache folder, held open: whoever may rename the folders
    above cannot put another one in its place."""

    def __init__(self, path: str) -> None:
        self.path = os.path.join(path, "graphs")
        with contextlib.ExitStack() as stack:
            root = _open_root(path)
            stack.callback(os.close, root)
            _refuse_foreign(path, os.fstat(root))
            self._folder = _open_inner(root, "graphs")
            stack.callback(os.close, self._folder)
            _refuse_foreign(self.path, os.fstat(self._folder))
            self._opened = stack.pop_all()

    def close(self) -> None:
        """Lets go of the folders."""
        self._opened.close()

    @contextlib.contextmanager
    def _inside(self, key: str, makes: bool = False) -> Iterator[int]:
        folder = _open_inner(self._folder, key, makes)
        try:
            _refuse_foreign(f"{self.path}/{key}", os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def read(self, key: str) -> Iterator[bytes]:
        """What this user stored under `key`; what anybody else did is left out."""
        with contextlib.suppress(OSError, ForeignFolderError), self._inside(key) as folder:
            for name in sorted(os.listdir(folder)):
                content = None if name.startswith(".") else _read(folder, name)
                if content is not None:
                    yield content

    def write(self, key: str, content: bytes) -> None:
        """Stores `content` under `key`; another process sees all of it or nothing."""
        if len(content) > _LARGEST:
            return
        name = hashlib.sha256(content).hexdigest()
        temporary = f".{name}.{os.getpid()}.{os.urandom(4).hex()}"
        with self._inside(key, makes=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _LINKS
            try:
                with open(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(content)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
        self._trim()

    def _trim(self) -> None:
        """Removes what was not used for longest, down to three quarters of the bound."""
        entries = []
        for key in os.listdir(self._folder):
            with contextlib.suppress(OSError, ForeignFolderError), self._inside(key) as folder:
                for name in os.listdir(folder):
                    info = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    entries.append((info.st_mtime_ns, info.st_size, key, name))
        total = sum(size for _, size, _, _ in entries)
        goal = total if total <= _MOST else _MOST * 3 // 4
        for _, size, key, name in sorted(entries):
            if total <= goal:
                break
            with contextlib.suppress(OSError, ForeignFolderError), self._inside(key) as folder:
                os.unlink(name, dir_fd=folder)
                total -= size
            with contextlib.suppress(OSError):
                os.rmdir(key, dir_fd=self._folder)


def _read(folder: int, name: str) -> bytes | None:
    """A pipe in a file's place is not waited for."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _LINKS, dir_fd=folder)
    except OSError:
        return None
    with open(file, "rb") as opened:
        info = os.fstat(file)
        if not (stat.S_ISREG(info.st_mode) and _is_own(info) and info.st_size <= _LARGEST):
            return None
        content = opened.read()
        with contextlib.suppress(OSError):
            os.utime(file)
        return content
