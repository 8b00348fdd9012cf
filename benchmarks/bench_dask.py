"""The log-linear ranker on a Dask cluster of one machine against the local fit.

Claims, on sparse documents with 6,270 terms, 75 of them in each, and 103 labels, ten iterations of L-BFGS:

1. 500,000 documents in the memory of 2 worker processes of one thread: at most 1.25 times the local fit with
   ``n_jobs=2`` of the same documents in memory; coefficients differ by at most 1e-8 of the largest. The time of a fit
   that reads them from shards is reported;
2. from 1 to 2 workers the fit is at least 1.6 times faster. Both are medians of three rounds, in which the fits
   alternate;
3. 3 GiB of shards train with one worker limited to 1 GiB, of which Python, its libraries and compiled code take 0.4;
   coefficients differ from those of the local fit in memory by at most 1e-8 of the largest. Peak resident memory of the
   worker is reported.

4. reports the CPU seconds and the bytes on the network of an iteration for several numbers of documents and workers, a
   model fitted to them, and what that model says about 100 million documents. Bytes are those of the loopback device,
   of all programs on the machine.

Exit status 1 when a claim does not hold; ``--quick`` takes small sizes and only reports.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_dask.py [--quick] [--only 2] [--rst docs/results]
"""

import argparse
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
from distributed import Client, LocalCluster, wait
from scipy import sparse

import labelrank.dask
from labelrank import LogLinearRanker, PreferenceGraphs

N_TERMS, N_LABELS, PER_DOCUMENT = 6270, 103, 75
MIB, GIB = 2**20, 2**30
FAN_IN = 8  # of the reduction over workers
COEF_BYTES = 8 * (N_TERMS + 1) * N_LABELS


def documents(seed, n):
    """Documents and their topics, which two of their terms name, now and then wrongly."""
    rng = np.random.default_rng(seed)
    terms = (N_TERMS * rng.random((n, PER_DOCUMENT)) ** 2).astype(np.int32)  # some terms are frequent
    data = 1 + np.log(1 + rng.exponential(size=terms.size))
    ends = np.arange(0, terms.size + 1, PER_DOCUMENT, dtype=np.int32)
    X = sparse.csr_array((data, terms.ravel(), ends), shape=(n, N_TERMS))
    X.sum_duplicates()
    topics = terms[:, :2] % N_LABELS
    noisy = rng.random(topics.shape) < 0.2
    topics[noisy] = rng.integers(0, N_LABELS, noisy.sum())
    relevant = np.zeros((n, N_LABELS), dtype=np.int8)
    np.put_along_axis(relevant, topics, 1, axis=1)
    return X, PreferenceGraphs.from_multilabel(relevant)


def write_shards(folder, n, per_shard):
    """Documents in files; returns their size."""
    folder.mkdir()
    for i, first in enumerate(range(0, n, per_shard)):
        labelrank.dask.save_shard(folder / f"{i:05d}.npz", *documents(i, min(per_shard, n - first)))
    return sum(file.stat().st_size for file in folder.iterdir())


def in_memory(n, per_shard):
    """The documents of all shards, here."""
    parts = [documents(i, min(per_shard, n - first)) for i, first in enumerate(range(0, n, per_shard))]
    X = sparse.vstack([X for X, _ in parts], format="csr")
    return X, PreferenceGraphs.concatenate([graphs for _, graphs in parts])


@contextmanager
def cluster(n_workers, memory_limit="8GiB", folder=None):
    """A client of worker processes that have compiled what they need."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, memory_limit=memory_limit,
            dashboard_address=":0", local_directory=folder,
        ) as workers,
        Client(workers) as client,
        tempfile.TemporaryDirectory() as small,
    ):  # fmt: skip
        write_shards(Path(small, "shards"), 80, 10)
        fit(client, Path(small, "shards"), 2)
        yield client


def fit(client, folder, max_iter, *, persist=False):
    """Seconds of a fit on the shards of a folder, read beforehand or during the fit, and the model."""
    X, y, _ = labelrank.dask.read_shards(folder)
    if persist:
        futures = client.compute(y.parts)
        X, y = client.persist(X), labelrank.dask.PartitionedGraphs(futures)
        wait([X, *futures])
    model = labelrank.dask.LogLinearRanker(max_iter=max_iter, tol=0, on_empty="ignore", client=client)
    return timed(lambda: model.fit(X, y)), model


def fit_local(X, y, max_iter):
    """Seconds of a local fit in two threads, and the model."""
    model = LogLinearRanker(max_iter=max_iter, tol=0, on_empty="ignore", n_jobs=2)
    timed(lambda: model.fit(X[:100], y[:100]))  # compiled before it is timed
    return timed(lambda: model.fit(X, y)), model


def timed(function):
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function()
    return time.perf_counter() - start


def difference(found, expected):
    """Largest difference of coefficients, relative to the largest of them."""
    return np.abs(found.coef_ - expected.coef_).max() / np.abs(expected.coef_).max()


def overhead(quick, folder, rst):
    """Claims 1 and 2."""
    n, per_shard, max_iter, n_rounds = (8_000, 1000, 3, 1) if quick else (500_000, 25_000, 10, 3)
    write_shards(folder / "overhead", n, per_shard)
    whole = in_memory(n, per_shard)
    ratios, speedups, differs = [], [], 0.0
    with cluster(1) as one, cluster(2) as two:
        for _ in range(n_rounds):
            local, expected = fit_local(*whole, max_iter)
            times = {}
            for name, client, persist in (("two", two, True), ("reading", two, False), ("one", one, True)):
                times[name], found = fit(client, folder / "overhead", max_iter, persist=persist)
                differs = max(differs, difference(found, expected))
            ratios.append((times["two"] / local, times["reading"] / local))
            speedups.append(times["one"] / times["two"])
            seconds = ", ".join(f"{name} {value:.1f}" for name, value in [("local", local), *times.items()])
            print(f"   round {len(ratios)}, seconds: {seconds}")
    (ratio, reading), speedup = np.median(ratios, axis=0), np.median(speedups)
    print(
        f"1. {n} documents, {max_iter} iterations: 2 workers take {ratio:.2f} times as long as local (at most 1.25);\n"
        f"   if they read the documents {reading:.2f} times; coefficients differ by {differs:.1e} (at most 1e-8)\n"
        f"2. 2 workers are {speedup:.2f} times faster than 1 (at least 1.6)"
    )
    return ratio <= 1.25 and speedup >= 1.6 and differs <= 1e-8


def out_of_core(quick, folder, rst):
    """Claim 3."""
    n, per_shard, limit, max_iter = (20_000, 2500, 700 * MIB, 2) if quick else (3_300_000, 15_000, GIB, 3)
    size = write_shards(folder / "large", n, per_shard)
    with cluster(1, limit, folder / "spill") as client:
        elapsed, found = fit(client, folder / "large", max_iter)
        (peak,) = client.run(peak_memory).values()
    local, expected = fit_local(*in_memory(n, per_shard), max_iter)
    differs = difference(found, expected)
    print(
        f"3. {size / GIB:.2f} GiB of shards, one worker limited to {limit / GIB:.2f} GiB: {elapsed:.0f} s (local, in "
        f"memory: {local:.0f} s), peak resident memory {peak / GIB:.2f} GiB;\n   coefficients differ by {differs:.1e} "
        "(at most 1e-8)"
    )
    return size >= 3 * GIB and differs <= 1e-8


def peak_memory():
    """Largest resident memory of this process; ``ru_maxrss`` begins with that of the process that started it."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status["VmHWM"].split()[0])


def cpu_seconds(client):
    """Seconds that the workers have computed."""
    return sum(client.run(lambda: sum(psutil.Process().cpu_times()[:2])).values())


def model_of_costs(quick, folder, rst):
    """Measure iterations, and extrapolate."""
    sizes, per_shard, more = ((4_000, 16_000), 1000, 4) if quick else ((50_000, 200_000), 6250, 10)
    rows = []
    for n in sizes:
        write_shards(folder / f"model{n}", n, per_shard)
    for n_workers in (1, 2):
        with cluster(n_workers) as client:
            for n in sizes:
                results = []
                for max_iter in (2, 2 + more):
                    sent, seconds = psutil.net_io_counters(pernic=True)["lo"].bytes_sent, cpu_seconds(client)
                    _, model = fit(client, folder / f"model{n}", max_iter)
                    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - sent
                    results.append((model.n_iter_, (cpu_seconds(client) - seconds) / n_workers, sent))
                iterations, seconds, sent = np.subtract(results[1], results[0])
                rows.append((n_workers, n, seconds / iterations, sent / iterations))
    print("4. workers  documents  CPU seconds of a worker per iteration  MiB on the network per iteration and worker")
    for n_workers, n, seconds, sent in rows:
        print(f"   {n_workers:7d} {n:10,d} {seconds:38.3f} {sent / n_workers / MIB:46.1f}")
    workers, n, elapsed, sent = np.array(rows).T
    fixed, per_document = np.linalg.lstsq(np.column_stack([np.ones(len(n)), n / workers]), elapsed, rcond=None)[0]
    each = float(np.mean(sent / workers))
    X, graphs = documents(0, 1000)
    held = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + graphs.levels.nbytes) / 1000
    costs = Costs(fixed, per_document, each, held)
    print(f"   model: {costs}\n   100 million documents:")
    for line in costs.plan():
        print(f"   {line}")
    if rst is not None:
        (rst / "dask.inc").write_text(costs.page())
    return True


class Costs(NamedTuple):
    """The model: what an iteration costs a worker."""

    fixed: float  # CPU seconds
    per_document: float  # CPU seconds
    sent: float  # bytes on the network
    held: float  # bytes of memory per document

    def __str__(self):
        return (
            f"{self.fixed:.3f} s + {1e6 * self.per_document:.1f} us * documents / workers; {self.sent / MIB:.1f} MiB "
            f"on the network per worker; {self.held:.0f} bytes of data per document"
        )

    def plan(self, n=1e8):
        """Header and rows of the table for many documents."""
        yield "workers (one core), data per worker, memory limit, seconds per iteration, of them network, network"
        for workers in (16, 64, 256):
            # Coefficients go out and sums come back through a tree of eight branches, at 10 Gbit/s.
            network = 2 * FAN_IN * COEF_BYTES * np.ceil(np.log(workers) / np.log(FAN_IN)) / 1.25e9
            seconds, data = self.fixed + self.per_document * n / workers + network, n * self.held / workers / GIB
            limit = np.ceil(2 * (2 * data + 0.4)) / 2  # what is read beside what is kept, and Python
            sent = workers * self.sent / GIB
            yield f"{workers}, {data:.1f} GiB, {limit:.1f} GiB, {seconds:.0f}, {network:.1f}, {sent:.1f} GiB"

    def page(self):
        """What the documentation includes."""
        header, *rows = self.plan()
        return "\n".join([
            "An iteration of L-BFGS costs",
            "",
            f".. math:: {self.fixed:.2f}\\,\\text{{s}} + {1e6 * self.per_document:.0f}\\,\\text{{µs}} \\cdot "
            "\\frac{\\text{documents}}{\\text{workers}}",
            "",
            f"of a core, {self.held:.0f} bytes of memory hold a document and its labels, and {self.sent / MIB:.0f} MiB "
            f"per worker cross the network, {self.sent / COEF_BYTES:.0f} times the coefficients.",
            "",
            ".. csv-table::",
            f"   :header: {header}",
            "",
            *(f"   {row}" for row in rows),
            "",
        ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdict")
    parser.add_argument(
        "--only", type=int, choices=(1, 2, 3, 4), help="one of the claims; 1 and 2 are measured together"
    )
    parser.add_argument("--rst", type=Path, help="folder in which to write the model of 4 for the documentation")
    options = parser.parse_args()
    parts = {1: overhead, 3: out_of_core, 4: model_of_costs}
    chosen = [1 if options.only == 2 else options.only] if options.only else list(parts)
    good = []
    for number in chosen:
        with tempfile.TemporaryDirectory() as folder:
            good.append(parts[number](options.quick, Path(folder), options.rst))
    return 0 if options.quick or all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
