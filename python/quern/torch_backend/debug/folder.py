"""Every stage of one graph as a file, and one page that shows them all."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..observers import Event
from ..profile import clock
from ..state import CompiledGraphRecord, state
from .diagram import diagram
from .page import page
from .record import Recorder


class DebugFolder:
    """Writes the files of a graph when it is compiled, and records its first call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recorder = Recorder(folder / "recorded")
        self._record: CompiledGraphRecord | None = None
        self._stages: dict[str, list[tuple[str, str]]] = {}
        self._seconds: dict[int, float] = {}
        self._is_done = False

    @contextlib.contextmanager
    def _or_give_up(self) -> Iterator[None]:
        """A folder that takes no files is a warning: the user's program goes on."""
        try:
            yield
        except OSError as error:
            self._is_done = True
            text = f"QUERN_DEBUG: nothing more is written of this graph: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def write_program(self, before: str, fx: str, program: str) -> None:
        """What is known before kernels are made: a compilation that hangs, or that
        the user stops, leaves what it was about."""
        texts = {"fx_before.txt": before, "fx.txt": fx, "program.qn": program.rstrip("\n")}
        # Modules of the user's, which the program may use.
        texts |= {f"{name}.qn": source for name, source in state().sources.items()}
        with self._or_give_up():
            self._write_texts(texts)

    def write(self, record: CompiledGraphRecord) -> None:
        """What is known when the graph is compiled."""
        if not self._is_done:
            with self._or_give_up():
                self._write_stages(record)

    def _write_texts(self, texts: dict[str, str]) -> None:
        for name, text in texts.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")

    def _write_stages(self, record: CompiledGraphRecord) -> None:
        self._record = record
        self._stages = record.graph.stages()
        texts = {
            "graph.txt": record.graph.graph_text(),
            "groups.txt": record.groups,
            "plan.txt": record.plan,
            "times.txt": "\n".join(f"{clock(s)}  {stage}" for stage, s in record.times.items()),
        }
        for kernel, stages in self._stages.items():
            texts |= {f"stages/{kernel}.{stage}": text for stage, text in stages}
        self._write_texts(texts)
        self._write_page()

    def _write_page(self) -> None:
        record = self._record
        assert record is not None
        steps: list[dict[str, Any]] = record.graph.steps()
        drawing = diagram(record.module, steps, self._seconds)
        (self._folder / "graph.svg").write_text(drawing, encoding="utf-8")
        text = page(record, steps, self._stages, self._seconds, drawing)
        (self._folder / "index.html").write_text(text, encoding="utf-8")

    def begin(self, arguments: Sequence[Any]) -> None:
        """Passes it on to the recorder."""
        self._recorder.begin(arguments)

    def step(self, event: Event) -> None:
        """Records the step and its time."""
        if self._is_done:
            return
        self._seconds[event["number"]] = event["nanoseconds"] * 1e-9
        with self._or_give_up():
            self._recorder.step(event)

    def end(self, seconds: float) -> None:
        """Writes the page again, with times, after the first call."""
        if self._is_done:
            return
        self._is_done = True
        with self._or_give_up():
            self._recorder.end(seconds)
            times = {str(number): took for number, took in self._seconds.items()}
            (self._folder / "run.json").write_text(
                json.dumps({"call": seconds, "steps": times}, indent=1) + "\n", encoding="utf-8"
            )
            self._write_page()
