"""Graphs of large multilabel data take one byte per label and instance, and store no edges.

Builds PreferenceGraphs from a sparse 800,000 x 103 indicator matrix (the size of RCV1) and from a tree over its labels,
and reports the time, the peak of the allocated memory, and the memory kept, next to the size of the input. The exit
status is 1 if the peak exceeds 3 bytes per label and instance.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy import sparse

from labelrank import PreferenceGraphs

N_LABELS = 103
LIMIT = 3.0
MIB = 2**20


def indicator_matrix(n_rows: int, labels_per_row: float = 3.2) -> sparse.csr_array:
    """Sets of labels, sorted by frequency."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, N_LABELS + 1)
    share *= labels_per_row / share.sum()
    columns = [np.flatnonzero(rng.random(n_rows) < p) for p in share]
    indices = np.concatenate(columns)
    indptr = np.cumsum([0] + [len(rows) for rows in columns])
    data = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array(sparse.csc_array((data, indices, indptr), shape=(n_rows, N_LABELS)))


def topic_tree() -> np.ndarray:
    """Parents in a tree of four levels: 4 topics at the top, every other below one of those before it."""
    return np.array([-1 if i < 4 else i % 4 if i < 30 else 4 + i % 26 for i in range(N_LABELS)])


def measure(build: Callable[[], PreferenceGraphs]) -> tuple[float, float, float, PreferenceGraphs]:
    """Seconds, peak bytes and bytes kept. The time is measured without tracing memory."""
    start = time.perf_counter()
    graphs = build()
    elapsed = time.perf_counter() - start
    del graphs
    gc.collect()
    tracemalloc.start()
    graphs = build()
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return elapsed, peak, left, graphs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    n_rows = 80_000 if parser.parse_args().quick else 800_000
    Y = indicator_matrix(n_rows)
    PreferenceGraphs.from_hierarchy(Y[:10], topic_tree())  # imports
    given = Y.data.nbytes + Y.indices.nbytes + Y.indptr.nbytes
    print(f"{n_rows:,} x {N_LABELS} sets of labels, {Y.nnz:,} in all; as a sparse matrix {given / MIB:.0f} MiB")
    print(f"{'':18}{'time':>9}{'peak':>11}{'stays':>11}{'peak per label':>18}{'edges':>16}")
    worst = 0.0
    builds: dict[str, Callable[[], PreferenceGraphs]] = {
        "from_multilabel": lambda: PreferenceGraphs.from_multilabel(Y),
        "from_hierarchy": lambda: PreferenceGraphs.from_hierarchy(Y, topic_tree()),
    }
    for name, build in builds.items():
        elapsed, peak, left, graphs = measure(build)
        per_label = peak / (n_rows * N_LABELS)
        worst = max(worst, per_label)
        print(
            f"{name:18}{elapsed:7.2f} s{peak / MIB:7.0f} MiB{left / MIB:7.0f} MiB{per_label:12.2f} bytes"
            f"{graphs.n_edges:16,}"
        )
    print(f"at most {LIMIT:g} bytes per label and instance: {'yes' if worst <= LIMIT else 'NO'}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
