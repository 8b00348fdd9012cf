"""Run the commands that the pages show."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from labelrank.cli.app import app

# Before a line of bash that is more than a command: `tail -f` ends with its file.
SHELL = """
set -eo pipefail
python() { "$PYTHON" "$@"; }
labelrank() { python -m labelrank "$@"; }
tail() { cat "${@: -1}"; }
"""


def _run(command: list[str], folder: str | None = None) -> tuple[int, str]:
    """Run a program as on a terminal of 90 columns; return its status and what it prints."""
    environment = {"COLUMNS": "90", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHON": sys.executable}
    found = subprocess.run(
        command,
        env=os.environ | environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return found.returncode, found.stdout


def sh(command: str) -> None:
    """Run a labelrank command, and print what it prints."""
    program, *arguments = shlex.split(command)
    assert program == "labelrank", program
    status, output = _run([sys.executable, "-m", "labelrank", *arguments])
    print(output, end="")
    if status:
        print(f"exit status {status}")


def bash(block: str) -> None:
    """Run a block of commands on small files, and print what a command prints if it fails.

    An AutoRanker gets a second and a comparison two folds. Nothing is installed, since CI begins with that.
    """
    for line in filter(None, block.splitlines()):
        program, *arguments = shlex.split(line, comments=True)
        if program == "pip":
            continue
        if program == "labelrank" and not {"|", ">", "&&"} & set(arguments):
            if arguments[0] == "fit" and "--ranker" not in arguments:
                arguments = [*arguments, "--budget", "1"]  # the last one counts
            elif arguments[0] == "compare":
                arguments += ["--folds", "2", "--repeats", "1"]
            with contextlib.chdir(files()):
                found = CliRunner().invoke(app, arguments, env={"NO_COLOR": "1"})
            status, output = found.exit_code, found.output
        else:
            status, output = _run(["bash", "-c", SHELL + line], files())
        if status:
            print(f"{line}\nexit status {status}\n{output}")


@functools.cache
def files() -> str:
    """Return a folder with the files that the blocks of bash read."""
    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(0)
    labels, n = ["tea", "milk", "cola"], 40
    ranks = rng.permuted(np.tile([1, 2, 3], (n, 1)), axis=1)
    rows = pd.DataFrame({"id": range(n), "age": rng.integers(18, 80, n)})
    rows["subject"] = rng.choice(["the printer is on fire", "a lost password", "an invoice for nothing"], n)
    drinks = rows.join(pd.DataFrame(ranks, columns=labels).add_prefix("rank_"))
    for name in ("drinks.csv", "test.csv"):
        drinks.to_csv(folder / name, index=False)
    drinks.join(pd.DataFrame(9 - ranks, columns=labels).add_prefix("team_")).to_csv(folder / "teams.csv", index=False)
    for name in ("tickets.csv", "new.csv"):
        drinks.to_csv(folder / name, index=False)
    rows.to_parquet(folder / "new.parquet")
    rows.to_json(folder / "events.jsonl", orient="records", lines=True)
    seconds = pd.DataFrame(np.where(ranks == 3, np.nan, 10.0 * ranks), columns=labels)
    rows[["age"]].join(seconds.add_prefix("perf|")).to_csv(folder / "runs.csv.gz", index=False)
    rows[["age"]].join(seconds.add_prefix("time_")).to_csv(folder / "runs.csv", index=False)
    a, b = np.array(labels)[rng.permuted(np.tile([0, 1, 2], (n, 1)), axis=1)[:, :2].T]
    chats = pd.DataFrame({"prompt": rows["subject"], "model_a": a, "model_b": b, "winner": np.where(a < b, a, b)})
    chats.to_json(folder / "chats.jsonl", orient="records", lines=True)
    votes = ["# NUMBER ALTERNATIVES: 3", *(f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(labels, 1))]
    (folder / "votes.soc").write_text("\n".join([*votes, "5: 1,2,3", "2: 3,1,2", ""]), encoding="utf-8")
    return str(folder)
