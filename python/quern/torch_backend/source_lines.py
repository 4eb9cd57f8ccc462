"""The user's own line that a node comes from."""

from __future__ import annotations

import re

from torch.fx.node import Node

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def source_line(node: Node) -> str:
    """The user's own line that a node comes from: "model.py:12"."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return ""
    path, line = frames[-1]
    return f"{path}:{line}"
