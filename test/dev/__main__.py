"""Runs the verbs of `./dev` that need the Python environment."""

from __future__ import annotations

import importlib
import sys

# A verb's module and function. Only the one that is called is imported: what
# `schemas` needs, torch, takes longer to load than a build that is up to date.
VERBS: dict[str, tuple[str, str]] = {
    "bench": ("bench", "main"),
    "bounds": ("bounds", "main"),
    "build": ("build", "main"),
    "certify": ("certify", "main"),
    "check": ("checks", "check"),
    "demo": ("demo", "main"),
    "fmt": ("checks", "fmt"),
    "fuzz": ("fuzz", "main"),
    "gpu-bench": ("gpu_pack", "gpu_bench"),
    "gpu-pack": ("gpu_pack", "gpu_pack"),
    "gpu-test": ("gpu_pack", "gpu_test"),
    "hip-pack": ("gpu_pack", "hip_pack"),
    "new": ("skeleton", "main"),
    "operators": ("operators", "main"),
    "schedules": ("schedules", "main"),
    "schemas": ("schemas", "main"),
    "site": ("site_pages", "main"),
    "test": ("tests", "main"),
}


def main() -> int:
    verb, *arguments = sys.argv[1:]
    module, function = VERBS[verb]
    try:
        status: int = getattr(importlib.import_module(module), function)(arguments)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
