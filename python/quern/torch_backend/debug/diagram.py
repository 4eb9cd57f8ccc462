"""A graph's steps as an SVG drawing: boxes in layers, arrows for values."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import torch

_COLOURS = {"kernel": "#cfe8cf", "aten": "#f3d9b8", "view": "#eeeeee", "input": "#d5e3f5"}
_HEIGHT, _GAP_X, _GAP_Y = 34, 14, 30


def _title(step: Mapping[str, Any]) -> str:
    return str(step.get("kernel") or step["operator"].removeprefix("aten::"))


def kind(step: Mapping[str, Any]) -> str:
    """`kernel`, `aten` or `view`."""
    if "kernel" in step:
        return "kernel"
    return "view" if step["view"] else "aten"


def _edges(module: torch.fx.GraphModule, owner: Mapping[str, int]) -> set[tuple[int, int]]:
    """Pairs of steps where one reads what the other made; through nodes without
    a step of their own (views that a kernel reads through)."""
    sources: dict[str, set[int]] = {}
    edges = set()
    for node in module.graph.nodes:
        read = set().union(*(sources.get(n.name, set()) for n in node.all_input_nodes))
        step = owner.get(node.name)
        if step is None:
            sources[node.name] = read
            continue
        edges |= {(source, step) for source in read if source != step}
        sources[node.name] = {step}
    return edges


def _layers(count: int, edges: set[tuple[int, int]]) -> list[int]:
    """How far each step is from the inputs; steps come in order of execution."""
    depth = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        depth[target] = max(depth[target], depth[source] + 1)
    return depth


def _text_width(text: str) -> float:
    return 7.0 * len(text) + 18


def _places(titles: Sequence[str], depth: Sequence[int]) -> list[tuple[float, float, float]]:
    """Left, top and width of every box."""
    fill: dict[int, float] = {}
    places = []
    for title, layer in zip(titles, depth, strict=True):
        left = fill.get(layer, 10.0)
        width = _text_width(title)
        fill[layer] = left + width + _GAP_X
        places.append((left, 10.0 + layer * (_HEIGHT + _GAP_Y), width))
    return places


def diagram(
    module: torch.fx.GraphModule, steps: Sequence[Mapping[str, Any]], seconds: Mapping[int, float]
) -> str:
    """The drawing as one SVG text; a box names its step for scripts (`data-step`)."""
    owner = {name: number for number, step in enumerate(steps) for name in step["nodes"]}
    edges = _edges(module, owner)
    titles = [_title(step) for step in steps]
    places = _places(titles, _layers(len(steps), edges))
    width = max((left + w for left, _, w in places), default=0) + 10
    height = max((top for _, top, _ in places), default=0) + _HEIGHT + 10
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="monospace" font-size="11">'
    )
    parts = [head]
    for source, target in sorted(edges):
        (x0, y0, w0), (x1, y1, w1) = places[source], places[target]
        parts.append(
            f'<path d="M{x0 + w0 / 2:.0f} {y0 + _HEIGHT:.0f} C {x0 + w0 / 2:.0f} '
            f"{y0 + _HEIGHT + 20:.0f}, {x1 + w1 / 2:.0f} {y1 - 20:.0f}, "
            f'{x1 + w1 / 2:.0f} {y1:.0f}" fill="none" stroke="#999"/>'
        )
    for number, (step, title, (left, top, w)) in enumerate(zip(steps, titles, places, strict=True)):
        time = f"{seconds[number] * 1e6:.1f} us" if number in seconds else ""
        parts.append(
            f'<g data-step="{number}"><title>{html.escape(", ".join(step["nodes"]))}</title>'
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{w:.0f}" height="{_HEIGHT}" rx="4" '
            f'fill="{_COLOURS[kind(step)]}" stroke="#666"/>'
            f'<text x="{left + 8:.0f}" y="{top + 14:.0f}">{html.escape(title)}</text>'
            f'<text x="{left + 8:.0f}" y="{top + 28:.0f}" fill="#666">{time}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])
