"""`labelrank predict` on five million rows of 20 features stays below 1 GiB of memory, for all formats.

The rows are written to Parquet and to CSV, and ranked by the command in a separate process, whose peak resident memory
and CPU time are reported, next to those of the bare `decision_function` of the same model on the same rows, in memory
and in blocks of the same size. The exit status is 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

LIMIT = 2**30
N_FEATURES, N_LABELS, BLOCK = 20, 5, 20_000
LINE = [sys.executable, "-m", "labelrank"]


def features(n_rows: int, seed: int) -> Any:
    import numpy as np
    import polars as pl

    values = np.random.default_rng(seed).normal(size=(n_rows, N_FEATURES)).round(6)
    return pl.DataFrame(values, schema=[f"x{i}" for i in range(N_FEATURES)])


def train(folder: Path) -> Path:
    import polars as pl

    from labelrank.datasets import make_label_ranking

    X, y = make_label_ranking(500, N_FEATURES, n_labels=N_LABELS, random_state=0)
    columns = {f"x{i}": X[:, i] for i in range(N_FEATURES)} | {f"rank_{j}": y[:, j] for j in range(N_LABELS)}
    pl.DataFrame(columns).write_csv(folder / "train.csv")
    model = folder / "model.lrk"
    command = [*LINE, "fit", str(folder / "train.csv"), "-o", str(model), "--ranker", "LogLinearRanker"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return model


def write(folder: Path, n_rows: int) -> dict[str, Path]:
    """Write the same rows as Parquet and as CSV."""
    import polars as pl

    parts = folder / "parts"
    parts.mkdir()
    part = min(n_rows, 500_000)
    with open(folder / "rows.csv", "wb") as file:
        for i in range(n_rows // part):
            frame = features(part, i)
            frame.write_csv(file, include_header=i == 0)
            frame.write_parquet(parts / f"{i:04}.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(folder / "rows.parquet")
    return {"Parquet": folder / "rows.parquet", "CSV": folder / "rows.csv"}


def measured(command: list[str]) -> tuple[float, float, int]:
    """Wall time and CPU time of a process, and its peak resident memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with status {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def bare(model: Path, n_rows: int) -> float:
    """Rows per second of CPU time of `decision_function`, on blocks in memory."""
    from labelrank import load

    ranker, frame = load(model), features(min(n_rows, 500_000), 0)
    ranker.decision_function(frame[:BLOCK])
    start = time.process_time()
    for first in range(0, len(frame), BLOCK):
        ranker.decision_function(frame[first : first + BLOCK])
    return len(frame) / (time.process_time() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="40,000 rows")
    n_rows = 40_000 if parser.parse_args().quick else 5_000_000
    worst = 0
    # The peak memory of a child process includes that of this one when it starts, so this one must stay small.
    apart = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    with tempfile.TemporaryDirectory() as name, apart:
        folder = Path(name)
        model = apart.submit(train, folder).result()
        files = apart.submit(write, folder, n_rows).result()
        print(f"{n_rows:,} rows × {N_FEATURES} features, {N_LABELS} labels, log-linear; rows per second of CPU time")
        print(f"decision_function alone, in memory: {apart.submit(bare, model, n_rows).result():12,.0f}")
        for title, path in files.items():
            for suffix in ("csv", "parquet"):
                command = [*LINE, "predict", str(model), str(path), "-o", str(folder / f"out.{suffix}")]
                wall, cpu, memory = measured(command)
                worst = max(worst, memory)
                print(
                    f"{title:>7} → {suffix:7} {n_rows / cpu:12,.0f}   {wall:6.1f} s   {memory / 2**20:6.0f} MiB at most"
                )
    print(f"largest memory {worst / 2**20:.0f} MiB (at most {LIMIT / 2**20:.0f})")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
