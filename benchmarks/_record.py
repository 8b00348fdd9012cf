"""Run benchmarks in full and record their claims, whether these held, the date, the machine and the versions.

    python benchmarks/_record.py bench_metrics bench_graphs

The record is ``docs/results/claims.json``, with one entry per benchmark, which is replaced by a new run; the table of
the page on claims, ``docs/results/claims.inc``, is made from it. Without names only the table is rewritten. Record
timings on an idle machine; the load average at the start is recorded too.
"""

from __future__ import annotations

import ast
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parent / "docs" / "results"
RIVALS = ("xgboost-cpu", "lightgbm", "clarabel", "piqp", "osqp", "daqp", "dask", "torch")
PACKAGES = ("numpy", "scipy", "scikit-learn", *RIVALS)
VARIABLES = ("LABELRANK_DATA", "LABELRANK_SCIKIT_LR_PYTHON")
MODULES = {"scikit-learn": "sklearn", "xgboost-cpu": "xgboost"}
# Benchmarks without a record: why, and the pages with their results.
ELSEWHERE = {
    "bench_auto": "It takes several hours. Results: :doc:`/results/accuracy`, :doc:`/auto`",
    "bench_torch": "It needs a GPU. Results, measured on an H200: :doc:`/devices`",
}


def machine() -> str:
    """Name the processor and the number of cores."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", info.read_text()) if info.exists() else []
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def mentioned(script: Path, names: Iterable[str]) -> list[str]:
    """Select the names of packages or variables that a script, or a helper that it imports, mentions."""
    text = script.read_text(encoding="utf-8")
    text += "".join(path.read_text(encoding="utf-8") for path in HERE.glob("_*.py") if f"from {path.stem}" in text)
    return [name for name in names if re.search(rf"\b{MODULES.get(name, name)}\b", text)]


def check(script: Path) -> None:
    """Exit if a rival or the data of a script are missing, because its claims would hold without a test."""
    missing = [name for name in mentioned(script, RIVALS) if not find_spec(MODULES.get(name, name))]
    missing += [name for name in mentioned(script, VARIABLES) if name not in os.environ]
    if missing:
        raise SystemExit(f"{script.stem} needs {', '.join(missing)}; see its docstring")
    if mentioned(script, ["torch"]) and not import_module("torch").cuda.is_available():
        raise SystemExit(f"{script.stem} needs a GPU")


def versions(script: Path) -> dict[str, str]:
    """Versions of Python, labelrank and the packages that a script mentions."""
    found = {"python": platform.python_version(), "labelrank": import_module("labelrank").__version__}
    return found | {name: version(name) for name in mentioned(script, PACKAGES)}


def run(name: str) -> dict[str, object]:
    """Run a benchmark in full."""
    script = HERE / f"{name}.py"
    start = datetime.datetime.now(datetime.UTC)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    return {
        "held": done.returncode == 0,
        "date": start.date().isoformat(),
        "seconds": round((datetime.datetime.now(datetime.UTC) - start).total_seconds()),
        "load": round(load, 1),
        "machine": machine(),
        "versions": versions(script),
        "output": (done.stdout + done.stderr).strip(),
    }


def claim(script: Path) -> str:
    """Claims of a benchmark: its docstring."""
    return ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""


def write(record: dict[str, dict]) -> None:
    """Write the table, and the claims and output of each benchmark."""
    rows, folded = [("benchmark", "held", "date", "versions")], []
    for script in sorted(HERE.glob("bench_*.py")):
        name, text, found = script.stem, claim(script), record.get(script.stem)
        held, date, about = "not recorded", "–", ELSEWHERE.get(name, "")
        if found:
            held, date = "yes" if found["held"] else "**no**", found["date"]
            about = ", ".join(f"{package} {number}" for package, number in sorted(found["versions"].items()))
        rows.append((f"{text.splitlines()[0]} (`{name}`)", held, date, about))
        folded += ["", f".. details:: {name}: {'claims and output' if found else 'claims'}", ""]
        if found:
            folded += [
                f"   {found['machine']}; {found['seconds']} seconds; load average at the start {found['load']}",
                "",
            ]
            text += f"\n\n{found['output']}"
        folded += ["   .. code-block:: text", "", *(f"      {line}".rstrip() for line in text.splitlines())]
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 50 10 16 24", ""]
    for row in rows:
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    (RESULTS / "claims.inc").write_text("\n".join([*lines, *folded]) + "\n", encoding="utf-8")


def main() -> None:
    path = RESULTS / "claims.json"
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = [name.removesuffix(".py") for name in sys.argv[1:]]
    for name in names:
        check(HERE / f"{name}.py")
    for name in names:
        record[name] = run(name)
        print(f"{name}: {'held' if record[name]['held'] else 'did not hold'}")
        path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    write(record)


if __name__ == "__main__":
    main()
