"""Save figures so that the same numbers give the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl


def save(figure: Any, name: str) -> None:
    """Save a figure in docs/_static, without a date and without trailing spaces."""
    mpl.rcParams["svg.hashsalt"] = "labelrank"
    path = Path(__file__).with_name("_static") / name
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
