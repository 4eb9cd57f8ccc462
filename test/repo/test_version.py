"""The version stands in several files; it is the same in all of them."""

from __future__ import annotations

import json
import re
import tomllib

from tree import ROOT


def stated() -> dict[str, str]:
    cmake = re.search(r"project\(Quern VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    package = re.search(
        r'__version__ = "([\d.]+)"', (ROOT / "python/quern/__init__.py").read_text()
    )
    change = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    editor = json.loads((ROOT / "docs/editors/vscode/package.json").read_text())
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert cmake
    assert package
    assert change
    return {
        "CMakeLists.txt": cmake.group(1),
        "python/quern/__init__.py": package.group(1),
        "CHANGELOG.md": change.group(1),
        "docs/editors/vscode/package.json": editor["version"],
        "pyproject.toml": wheel["project"]["version"],
    }


def test_versions_agree() -> None:
    versions = stated()
    assert len(set(versions.values())) == 1, versions


def test_pins_agree() -> None:
    """What the wheel is built with is what the environment is pinned to."""
    pins = set((ROOT / "python/requirements.txt").read_text().splitlines())
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(wheel["build-system"]["requires"]) <= pins
