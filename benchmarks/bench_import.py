"""`import labelrank` takes at most 1.2 times as long as `import sklearn`, each in a fresh process.

All are timed in turn, so that the load of the machine affects all of them. Names are loaded on first use, so the first
use of an estimator is reported too, next to that of a scikit-learn estimator. The exit status is 1 if the claim does
not hold.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

LIMIT = 1.2
STATEMENTS = [
    "import sklearn",
    "import labelrank",
    "from sklearn.dummy import DummyClassifier",
    "from labelrank import DummyRanker",
]


def seconds(statement: str) -> float:
    """Wall time of a fresh process that only runs an import."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    runs = 5 if parser.parse_args().quick else 25
    for statement in STATEMENTS:  # compiled files and disk cache
        seconds(statement)
    times = [[seconds(statement) for statement in STATEMENTS] for _ in range(runs)]
    for statement, column in zip(STATEMENTS, zip(*times, strict=True), strict=True):
        print(f"{statement:42}{statistics.median(column):7.3f} s")
    claimed, used = (statistics.median(run[i + 1] / run[i] for run in times) for i in (0, 2))
    print(f"import labelrank / import sklearn: {claimed:.2f}, median of {runs} runs (at most {LIMIT})")
    print(f"first use of an estimator: {used:.2f}")
    return int(claimed > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
