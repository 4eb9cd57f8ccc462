"""The explicit kernels of `kernels` on a device, against what their cases say in NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from device_library import HERE, Library

TREE = HERE if (HERE / "kernels").exists() else HERE.parent
#: In an archive the cases lie beside this file.
CASES = HERE if (HERE / "kernel_cases.py").exists() else HERE.parent / "python" / "cases"


def scalars(values: tuple[Any, ...]) -> list[int | float]:
    return [float(v) if getattr(v, "dtype", None) in ("f4", "f8", "f2") else int(v) for v in values]


def warp_size() -> int:
    return int(
        getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "warp_size", 32)
    )


def run(lib: Library, case: Any, device: str, warp: int) -> None:
    """Tensors go to the device, and what comes back is compared there where it was made."""
    import numpy as np

    def tensor(array: Any) -> torch.Tensor:
        made = torch.from_numpy(np.array(array, order="C"))
        if case.has_bits(array):
            made = made.view(torch.bfloat16)
        return made.to(device)

    given = [tensor(array) for array in case.arrays]
    words = scalars(case.scalars)
    arguments = [*words, *given] if case.scalars_first else [*given, *words]
    lib.load(TREE / "kernels" / f"{case.file}.qn")(case.name, *arguments, **case.constants)
    if device != "cpu":
        torch.cuda.synchronize()
    back = [one.cpu() for one in given]
    case.check(
        [(one.view(torch.uint16) if one.dtype == torch.bfloat16 else one).numpy() for one in back],
        warp,
    )


def written_cases(
    lib: Library, device: str = "cuda", warp: int = 0
) -> Iterator[tuple[str, Callable[[], None]]]:
    if str(CASES) not in sys.path:
        sys.path.append(str(Path(CASES)))
    import every_case

    for number, case in enumerate(every_case.cases()):
        yield (
            f"written {number} {case}",
            lambda case=case: run(lib, case, device, warp or warp_size()),  # type: ignore[misc]
        )
