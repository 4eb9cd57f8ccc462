"""One HTML page of a graph: diagram, groups, source, assembly and times, offline."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..profile import clock
from ..state import CompiledGraphRecord
from .diagram import kind

_STYLE = """
body { font-family: sans-serif; margin: 0; color: #222 }
header { padding: 8px 14px; background: #24425c; color: white }
section { padding: 8px 14px }
pre { font-size: 12px; overflow: auto; margin: 0; background: #f7f7f7; padding: 8px }
table { border-collapse: collapse; font-size: 13px }
td, th { text-align: left; padding: 2px 10px 2px 0 }
tr[data-step] { cursor: pointer } tr.chosen { background: #fff3c4 }
g[data-step] { cursor: pointer } g.chosen rect { stroke: #c00; stroke-width: 3 }
.drawing { overflow: auto; max-height: 45vh; border-bottom: 1px solid #ccc }
.panes { display: grid; grid-template-columns: 1fr 1fr; gap: 8px }
.panes pre { height: 60vh }
"""

_SCRIPT = """
const data = JSON.parse(document.getElementById("data").textContent);
const stage = document.getElementById("stage");
let chosen = null;
function show(number) {
  chosen = number;
  document.querySelectorAll("[data-step]").forEach(
    e => e.classList.toggle("chosen", e.dataset.step == number));
  const step = data.steps[number];
  const kernel = data.kernels[step.kernel];
  document.getElementById("title").textContent = step.kernel || step.operator;
  document.getElementById("group").textContent = step.group;
  document.getElementById("source").textContent =
    kernel ? kernel.source : "runs through ATen: " + step.operator;
  const known = kernel ? Object.keys(kernel.stages) : [];
  const wanted = known.includes(stage.value) ? stage.value : known[known.length - 1];
  stage.replaceChildren(...known.map(name => new Option(name, name, false, name == wanted)));
  document.getElementById("text").textContent = kernel ? kernel.stages[wanted] : "";
}
stage.addEventListener("change", () => show(chosen));
document.querySelectorAll("[data-step]").forEach(
  e => e.addEventListener("click", () => show(Number(e.dataset.step))));
if (data.steps.length) show(Math.max(0, data.steps.findIndex(s => s.kernel)));
"""


def declaration_text(program: str, kernel: str) -> str:
    """One declaration of a program."""
    parts = re.split(r"\n(?=(?:elementwise|rowwise|op|kernel) )", program)
    pattern = re.compile(rf"\w+ {re.escape(kernel)}\W")
    return next((part.strip() for part in parts if pattern.match(part)), "")


def _group_of(groups: str, nodes: Sequence[str]) -> str:
    """The lines of the plan's groups that speak of one of these nodes."""
    names = set(nodes)
    lines = groups.splitlines()
    heads = [i for i, line in enumerate(lines) if line[:1].strip()] + [len(lines)]
    for begin, end in itertools.pairwise(heads):
        text = lines[begin:end]
        if names & set(re.findall(r"\w+", " ".join(text))):
            return "\n".join(text)
    return ""


def _embedded(data: object) -> str:
    """JSON that no text in it can end early."""
    return json.dumps(data).replace("</", "<\\/").replace("<!--", "<\\!--")


def _row(number: int, step: Mapping[str, Any], seconds: Mapping[int, float]) -> str:
    time = f"{seconds[number] * 1e6:.1f}" if number in seconds else ""
    title = html.escape(step.get("kernel") or step["operator"])
    nodes = html.escape(", ".join(step["nodes"]))
    return (
        f'<tr data-step="{number}"><td>{number}</td><td>{kind(step)}</td>'
        f"<td>{title}</td><td>{nodes}</td><td>{time}</td></tr>"
    )


def page(
    record: CompiledGraphRecord,
    steps: Sequence[Mapping[str, Any]],
    stages: Mapping[str, Sequence[tuple[str, str]]],
    seconds: Mapping[int, float],
    drawing: str,
) -> str:
    """The page as one text without any reference to the outside."""
    data = {
        "steps": [
            {
                "kernel": step.get("kernel", ""),
                "operator": step["operator"],
                "group": _group_of(record.groups, step["nodes"]),
            }
            for step in steps
        ],
        "kernels": {
            name: {"source": declaration_text(record.program, name), "stages": dict(texts)}
            for name, texts in stages.items()
        },
    }
    times = "".join(
        f"<tr><td>{stage}</td><td>{clock(s)}</td></tr>" for stage, s in record.times.items()
    )
    rows = "\n".join(_row(number, step, seconds) for number, step in enumerate(steps))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{record.name}</title>
<style>{_STYLE}</style></head><body>
<header><b>{record.name}</b>: {len(steps)} steps, {len(stages)} kernels</header>
<section class="drawing">{drawing}</section>
<section><h3 id="title"></h3><pre id="group"></pre></section>
<section class="panes"><div>source<pre id="source"></pre></div>
<div><select id="stage"></select><pre id="text"></pre></div></section>
<section><table><tr><th>step</th><th>kind</th><th>what</th><th>nodes</th>
<th>microseconds</th></tr>
{rows}</table></section>
<section><table><tr><th>stage</th><th>time</th></tr>{times}</table></section>
<section><details><summary>program</summary><pre>{html.escape(record.program)}</pre></details>
<details><summary>FX graph</summary><pre>{html.escape(record.fx)}</pre></details>
<details><summary>plan</summary><pre>{html.escape(record.plan)}</pre></details></section>
<script type="application/json" id="data">{_embedded(data)}</script>
<script>{_SCRIPT}</script></body></html>
"""
