"""Embed it in C++: header with std types, CMake package, an example against the installed tree."""

from __future__ import annotations

import ctypes
from pathlib import Path

import _quern
import numpy as np
from support import ROOT, shell

EXAMPLE = ROOT / "docs" / "tutorials" / "embed"


def succeed(*command: str) -> str:
    done = shell(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_example_runs(tmp_path: Path) -> None:
    tree = Path(_quern.__file__).parents[1]
    installed, build = str(tmp_path / "installed"), str(tmp_path / "build")
    succeed(
        *("cmake", "--install", str(tree), "--component", "development"),
        *("--prefix", installed),
    )
    succeed(
        *("cmake", "-S", str(EXAMPLE), "-B", build, "-G", "Ninja"),
        *("-DCMAKE_CXX_COMPILER=clang++-22", f"-DCMAKE_PREFIX_PATH={installed}"),
    )
    succeed("cmake", "--build", build)
    assert succeed(f"{build}/embed") == "scaled[999] = 1998.5\n"


class Tensor(ctypes.Structure):
    """`quern_tensor` of jit/C.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_char_p),
        ("rank", ctypes.c_int32),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("writable", ctypes.c_int32),
    )


class Argument(ctypes.Structure):
    """`quern_argument` of jit/C.h."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("tensor", Tensor),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("text", ctypes.c_char_p),
    )


TENSOR = 1
SOURCE = b"rowwise total[T: Float](x: T[R, C]) -> T[R]:\n    return sum(x over C)\n"


def library() -> ctypes.CDLL:
    path = Path(_quern.__file__).parent / "libquern.so"
    loaded = ctypes.CDLL(str(path))
    for name in ("quern_open", "quern_compile", "quern_bind"):
        getattr(loaded, name).restype = ctypes.c_void_p
    loaded.quern_version.restype = ctypes.c_char_p
    return loaded


def test_c_interface() -> None:
    lib, error = library(), ctypes.c_char_p()
    assert lib.quern_version().count(b".") == 2
    session = ctypes.c_void_p(lib.quern_open(b"-", 1, ctypes.byref(error)))
    module = ctypes.c_void_p(lib.quern_compile(session, SOURCE, b"c.qn", ctypes.byref(error)))
    assert module.value, error.value
    x, out = np.arange(12, dtype="float32").reshape(3, 4), np.zeros(3, dtype="float32")
    sizes, strides = (ctypes.c_int64 * 2)(3, 4), (ctypes.c_int64 * 2)(4, 1)
    given = (Argument * 1)(Argument(TENSOR, None, Tensor(None, b"f32", 2, sizes, strides, 0)))
    kernel = ctypes.c_void_p(
        lib.quern_bind(module, b"total", given, 1, ctypes.byref(error)),
    )
    assert kernel.value, error.value
    kind, extents = ctypes.c_char_p(), ctypes.POINTER(ctypes.c_int64)()
    assert lib.quern_output_count(kernel) == 1
    rank = lib.quern_output(kernel, 0, ctypes.byref(kind), ctypes.byref(extents))
    assert (kind.value, extents[:rank]) == (b"f32", [3])
    pointers = (ctypes.c_void_p * 2)(x.ctypes.data, out.ctypes.data)
    assert lib.quern_run(kernel, pointers, 2, ctypes.byref(error)) == 0, error.value
    np.testing.assert_allclose(out, x.sum(-1))
    for tensor in (Tensor(None, b"f32", -1), Tensor(None, b"f32", 2, sizes), Tensor(None, b"f", 0)):
        given[0].tensor = tensor
        assert lib.quern_bind(module, b"total", given, 1, ctypes.byref(error)) is None
        assert error.value
    assert lib.quern_compile(session, b"fn f(x: Nope)", b"c.qn", ctypes.byref(error)) is None
    assert error.value is not None
    assert b"c.qn:1" in error.value
    lib.quern_free_kernel(kernel)
    lib.quern_free_module(module)
    lib.quern_close(session)
