"""Writes docs/performance.md and its plots from records of `./dev bench models --json FILE`.

`./dev bench performance FILE… [--folder FOLDER]`
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parents[2] / "docs"
COLOURS = {"quern": "#1b6ca8", "own": "#7fb2d6", "inductor": "#b9b9b9"}

Record = dict[str, Any]


def title(record: Record) -> str:
    return f"{record['what']}, {record['dtype']}"


def name(record: Record) -> str:
    return f"performance-{record['what'].replace(' ', '-')}-{record['dtype']}"


def backends(record: Record) -> list[str]:
    return list(record["rows"][0]["ratio"])


def geomean(record: Record, backend: str) -> float:
    return statistics.geometric_mean(row["ratio"][backend] for row in record["rows"])


def table(record: Record) -> list[str]:
    """Milliseconds of eager, and of each backend its ratio and its first call."""
    others = backends(record)
    head = ["model", "eager ms", *(f"{b} x (quartiles)" for b in others)]
    head += [f"{b} first s" for b in others]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in record["rows"]:
        cells = [row["model"], f"{row['ms']['eager']:.1f}"]
        for b in others:
            low, high = row["quartiles"][b]
            cells.append(f"{row['ratio'][b]:.2f} ({low:.2f} to {high:.2f})")
        cells += [f"{row['first_s'][b]:.1f}" for b in others]
        lines.append("| " + " | ".join(cells) + " |")
    means = [f"**{geomean(record, b):.2f}**" for b in others]
    lines.append("| geometric mean | | " + " | ".join(means) + " |" + " |" * len(others))
    lines.append("")
    for b in others:
        lowest = min(record["rows"], key=lambda row: row["ratio"][b])
        lines.append(f"Lowest of {b}: {lowest['model']}, {lowest['ratio'][b]:.2f}.")
    return lines


def plot(record: Record) -> str:
    """Bars of the ratios to eager, which is the line at 1."""
    others, rows = backends(record), record["rows"]
    left, width, bar = 110, 520, 9
    step = bar * len(others) + 8
    height = step * len(rows) + 46
    most = max(1.0, *(row["ratio"][b] for row in rows for b in others))
    scale = width / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}">',
        "<style>text {font: 11px sans-serif}</style>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, b in enumerate(others):
        x = left + 110 * i
        parts.append(f'<rect x="{x}" y="6" width="9" height="9" fill="{COLOURS[b]}"/>')
        parts.append(f'<text x="{x + 14}" y="15">{escape(b)}</text>')
    for k, row in enumerate(rows):
        y = 28 + k * step
        parts.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{row["model"]}</text>')
        for i, b in enumerate(others):
            ratio, top = row["ratio"][b], y + i * bar
            size = f'width="{ratio * scale:.1f}" height="{bar - 1}"'
            parts.append(f'<rect x="{left}" y="{top}" {size} fill="{COLOURS[b]}"/>')
            end = left + ratio * scale + 4
            parts.append(f'<text x="{end:.1f}" y="{top + 8}">{ratio:.2f}</text>')
    one = left + scale
    parts.append(f'<path d="M{one:.1f} 24V{height - 14}" stroke="black" stroke-dasharray="3 3"/>')
    parts.append(f'<text x="{one:.1f}" y="{height - 2}" text-anchor="middle">eager</text></svg>')
    return "\n".join(parts) + "\n"


def page(records: list[Record]) -> str:
    lines = [
        "# Performance",
        "",
        "`./dev bench performance` writes this page from records of `./dev bench models`.",
        "The models are those of `test/models`. A ratio is eager's time divided by the backend's:",
        "the median of paired rounds in one process, with the backends in turn. The time of the",
        "first call includes compilation, with the caches that existed.",
    ]
    if any("own" in backends(record) for record in records):
        lines.append("`own` is Quern without ATen's products, convolutions and attention.")
    lines.append("")
    machines = [record["machine"] for record in records]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in machines[0].items()]
    for record in records:
        lines += ["", f"## {title(record).capitalize()}", ""]
        lines.append(f"{record['threads']} threads, {record['rounds']} rounds.")
        if record["machine"] != machines[0]:
            facts = ", ".join(f"{key} {value}" for key, value in record["machine"].items())
            lines.append(f"On another machine: {facts}.")
        lines += ["", f"![{title(record)}]({name(record)}.svg)", "", *table(record)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--folder", type=Path, default=DOCS)
    options = parser.parse_args()
    records = [json.loads(path.read_text()) for path in options.records]
    for record in records:
        (options.folder / f"{name(record)}.svg").write_text(plot(record))
    (options.folder / "performance.md").write_text(page(records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
