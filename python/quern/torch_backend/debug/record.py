"""Records one call of a graph, so that `quern run program.qn` can repeat it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ..observers import Event

TYPES = {
    torch.bool: "bool",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.float8_e4m3fn: "f8e4m3",
    torch.float8_e5m2: "f8e5m2",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "c64",
    torch.complex128: "c128",
}


class Recorder:
    """Writes what the launches of the first call read and made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._launches: list[dict[str, Any]] = []
        self._saved: set[str] = set()
        self._stale: list[str] = []
        self._is_done = False

    def begin(self, arguments: Sequence[Any]) -> None:
        """Nothing to do."""

    def step(self, event: Event) -> None:
        """Writes a launch's tensors."""
        if self._is_done:
            return
        if "kernel" not in event:
            if not event["view"]:
                # What it may have written in place must be read anew.
                self._stale += sorted(self._saved)
                self._saved.clear()
            return
        number = len(self._launches)
        inputs = [
            self._operand(base, tensor, f"{number}-in-{base}.bin")
            for base, tensor in event["inputs"]
        ]
        stale = [name for name in self._stale if name in {each["base"] for each in inputs}]
        self._stale = [name for name in self._stale if name not in stale]
        outputs = []
        for base, tensor in event["outputs"]:
            # Parts of one block come one by one.
            self._saved.discard(base)
            outputs.append(self._operand(base, tensor, f"{number}-out-{base}.bin"))
        self._launches.append(
            {
                "kernel": event["kernel"],
                "inputs": inputs,
                "numbers": list(event["numbers"]),
                "outputs": outputs,
                "stale": stale,
            }
        )

    def _operand(self, base: str, tensor: torch.Tensor, file: str) -> dict[str, Any]:
        """The block of memory that a tensor lies in, unless a launch has made it."""
        if base not in self._saved:
            self._saved.add(base)
            self._folder.mkdir(parents=True, exist_ok=True)
            storage = tensor.untyped_storage()
            block = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage).cpu()
            (self._folder / file).write_bytes(block.numpy().tobytes())
        return {
            "name": base,
            "base": base,
            "file": file,
            "type": TYPES[tensor.dtype],
            "offset": tensor.storage_offset(),
            "sizes": list(tensor.shape),
            "strides": list(tensor.stride()),
        }

    def end(self, seconds: float) -> None:
        """Writes the list of launches after the first call."""
        if self._is_done:
            return
        self._is_done = True
        if self._launches:
            text = json.dumps(self._launches, indent=1)
            (self._folder / "launches.json").write_text(text, encoding="utf-8")
