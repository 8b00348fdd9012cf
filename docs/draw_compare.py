"""Draw docs/_static/compare.svg: what ``labelrank compare iris`` prints. Run it when that changes."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 72

printed = subprocess.run(
    [sys.executable, "-m", "labelrank", "compare", "iris"],
    env={**os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1"},
    check=True,
    capture_output=True,
    text=True,
).stdout
console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
console.print(Text("$ labelrank compare iris", style="bold"))
console.print(Text.from_ansi(printed.rstrip()))
svg = console.export_svg(title="labelrank compare iris")
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # no fonts from the net
svg = svg.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
lines = [line.rstrip() for line in svg.splitlines()]
Path(__file__).with_name("_static").joinpath("compare.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")
