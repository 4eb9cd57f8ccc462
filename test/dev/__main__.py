"""Runs the verbs of `./dev` that need the Python environment."""

from __future__ import annotations

import sys
from collections.abc import Callable

import bench
import certify
import checks
import demo
import gpu_pack
import operators
import schemas
import skeleton
import tests

import build

VERBS: dict[str, Callable[[list[str]], int]] = {
    "bench": bench.main,
    "build": build.main,
    "certify": certify.main,
    "check": checks.check,
    "demo": demo.main,
    "fmt": checks.fmt,
    "gpu-bench": gpu_pack.gpu_bench,
    "gpu-pack": gpu_pack.gpu_pack,
    "gpu-test": gpu_pack.gpu_test,
    "hip-pack": gpu_pack.hip_pack,
    "new": skeleton.main,
    "operators": operators.main,
    "schemas": schemas.main,
    "test": tests.main,
}


def main() -> int:
    verb, *arguments = sys.argv[1:]
    try:
        return VERBS[verb](arguments)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
