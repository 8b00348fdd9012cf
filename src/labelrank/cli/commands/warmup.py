"""``labelrank warmup``."""

from __future__ import annotations

import json

from labelrank.cli.options import Json

EXAMPLE = "labelrank warmup"


def warmup(as_json: Json = False) -> None:
    """Compile the kernels by fitting every ranker on a few rows, so that later commands start at once.

    The machine code is cached in the folder NUMBA_CACHE_DIR, next to the library, or in the cache folder of the user.
    """
    import time

    from scipy.sparse import csr_array

    from labelrank import AutoRanker
    from labelrank.cli.comparison import Protocol, available_rankers, compare_rankers
    from labelrank.cli.progress import progress_bar
    from labelrank.datasets import make_label_ranking

    X, y = make_label_ranking(n_samples=40, n_features=3, n_labels=3, random_state=0)
    rankers = available_rankers(X)
    start = time.perf_counter()
    with progress_bar("rankers", 2 * len(rankers) + 2) as advance:
        compare_rankers(rankers, X, y, Protocol(2, 1), advance=advance)
        for data in (X, csr_array(X)):  # compiles the ensemble as well, and what sparse data such as texts need
            AutoRanker(time_budget=None, cv=2).fit(data, y)
            advance()
    seconds = time.perf_counter() - start
    if as_json:
        print(json.dumps({"rankers": list(rankers), "seconds": seconds}, indent=2))
    else:
        print(f"{len(rankers)} rankers are compiled ({seconds:.1f} s)")
