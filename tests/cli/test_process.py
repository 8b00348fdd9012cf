"""``labelrank`` as a process: help, pipes, terminals, signals and exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time

import pytest
import rich.progress
from cli.conftest import LABELS, invoke

import labelrank
from labelrank.cli.progress import progress_bar

QUICK = ["--folds", "3", "--repeats", "2", "--rankers", "dummy-borda,dummy-random"]
COMMANDS = ["fit", "predict", "evaluate", "explain", "compare", "inspect", "convert", "warmup"]
LINE = [sys.executable, "-m", "labelrank"]


def command(*arguments, **options):
    return subprocess.run([*LINE, *map(str, arguments)], capture_output=True, check=False, **options)


def test_version_and_help():
    assert invoke("--version").stdout == f"labelrank {labelrank.__version__}\n"
    overview = invoke("--help").stdout
    for name in COMMANDS:
        assert name in overview
        assert f"Example: labelrank {name}" in " ".join(invoke(name, "--help").stdout.split())


def test_help_imports_nothing_heavy():
    heavy = {"numba", "numpy", "polars", "scipy", "sklearn"}
    code = f"import sys, labelrank.cli.app; sys.exit(' '.join({heavy} & set(sys.modules)) or None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_extra_that_is_missing():
    code = "import sys; sys.modules['rich'] = None; from labelrank.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "needs rich" in done.stderr
    assert 'pip install "labelrank[cli]"' in done.stderr


def test_skops_that_is_missing(monkeypatch, model, folder, tmp_path):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for arguments in (["predict", model, folder / "new.csv"], ["fit", folder / "train.csv", "-o", tmp_path / "m.lrk"]):
        assert "labelrank[cli]" in invoke(*arguments, status=2).stderr


def test_warmup():
    rankers = json.loads(invoke("warmup", "--json").stdout)["rankers"]
    assert {"LogLinearRanker", "GradientBoostingRanker", "dummy-borda"} <= set(rankers)


def test_a_pipe_gets_plain_text():
    environment = {**os.environ, "COLUMNS": "30", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    environment.pop("FORCE_COLOR", None)
    done = command("compare", "iris", *QUICK, "--metric", "tau,tau_b,rho,ndcg,top1,zero_one", env=environment)
    assert done.returncode == 0
    assert done.stderr == b""  # no progress bar
    text = done.stdout.decode("ascii")
    assert "\x1b" not in text
    assert "150 instances x 4 features" in text
    rows = [line for line in text.splitlines() if line.startswith("dummy-")]
    assert len(rows) == 2
    assert all(row.count("+-") == 6 for row in rows)  # nothing cut off, nothing wrapped


@pytest.mark.parametrize(
    ("where", "message"),
    [(">&-", b"standard output is closed"), ("> /dev/full", b"cannot write to standard output")],
)
def test_standard_output_that_cannot_be_written_to(where, message):
    done = subprocess.run(f"{shlex.join([*LINE, '--version'])} {where}", shell=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"labelrank: error: " + message)
    assert done.stderr.count(b"\n") == 1


def test_closed_standard_error():
    done = subprocess.run(f"{shlex.join([*LINE, 'fit'])} 2>&-", shell=True, capture_output=True, check=False)
    assert done.returncode == 2  # its arguments are missing, and nobody can be told


def test_a_line_in_is_a_line_out_and_control_c_ends_quietly(model):
    process = subprocess.Popen(
        [*LINE, "predict", model, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for age in (1.0, None):
        process.stdin.write(json.dumps({"age": age, "size": 1, "weight": 2, "city": "Ulm"}).encode() + b"\n")
        process.stdin.flush()
        assert sorted(json.loads(process.stdout.readline())["labels"]) == sorted(LABELS)  # before the next line comes
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == b""


def test_a_reader_that_goes_away(model, folder):
    line = shlex.join([*LINE, "predict", str(model), str(folder / "new.csv")])
    done = subprocess.run(
        f"set -o pipefail; {line} | true", shell=True, executable="/bin/bash", capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == b""


def on_a_terminal(columns, *arguments):
    """What a terminal of this width is sent."""
    primary, secondary = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [*LINE, *arguments], stdin=secondary, stdout=secondary, stderr=secondary, env=environment
    )
    os.close(secondary)
    shown = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([primary], [], [], 1)[0]:
            try:
                part = os.read(primary, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        elif process.poll() is not None:
            break
    os.close(primary)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def test_a_narrow_terminal_gets_a_progress_bar_and_everything_else():
    text = on_a_terminal(30, "compare", "iris", *QUICK, "--metric", "tau,zero_one,ndcg,top1")
    assert re.search(r"/12\b", text)  # folds done of all
    assert "\x1b[" in text
    table = text.split("ranker")[-1]
    assert "…" not in table
    for part in ("dummy-borda", "dummy-random", "predict", "* 0.333"):
        assert part in table or part in text


@pytest.mark.parametrize(("stdout", "stderr"), [(True, True), (True, False), (False, True), (False, False)])
def test_the_progress_bar_needs_a_terminal_on_both_sides(monkeypatch, stdout, stderr):
    shown = []

    class Bar(rich.progress.Progress):
        def start(self):
            shown.append(True)

    monkeypatch.setattr(rich.progress, "Progress", Bar)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: stdout)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: stderr)
    with progress_bar("folds", 3) as advance:
        advance()
    assert bool(shown) is (stdout and stderr)


def test_control_c_ends_a_command_that_has_lost_the_exception():
    """As an import can, which is interrupted in a callback and leaves its lock behind."""
    code = """
import os, signal, time
import labelrank.cli
import labelrank.cli.app

def lost(**_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except SystemExit:
        time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)  # wherever the tests run
labelrank.cli._PATIENCE = 0.1
labelrank.cli.app.app = lost
labelrank.cli.main()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=50).returncode == 130
