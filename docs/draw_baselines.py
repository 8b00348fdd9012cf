"""Write the table of docs/baselines.rst: tau of three linear learners on the sets in the folder ``LABELRANK_DATA``."""

from __future__ import annotations

import os
from pathlib import Path

from sklearn.model_selection import KFold, cross_val_score

from labelrank import ConstraintClassificationRanker, LogLinearRanker, PairwiseRanker
from labelrank.datasets import read_csv

SETS = ["bodyfat", "glass", "housing", "iris", "stock", "vehicle", "vowel", "wine", "wisconsin"]
RANKERS = {
    "constraint classification": ConstraintClassificationRanker(random_state=0),
    "log-linear": LogLinearRanker("disagreement", alpha=1.0),
    "pairwise": PairwiseRanker(),
}


def main() -> None:
    out = [".. csv-table::", "   :class: best-max", f"   :header: set, {', '.join(RANKERS)}", ""]
    for name in SETS:
        data = read_csv(Path(os.environ["LABELRANK_DATA"]) / "lr16" / f"{name}.csv")
        folds = KFold(10, shuffle=True, random_state=0)
        tau = [cross_val_score(ranker, data.data, data.target, cv=folds).mean() for ranker in RANKERS.values()]
        out.append("   " + ", ".join([name, *(f"{value:.3f}" for value in tau)]))
    (Path(__file__).parent / "results" / "baselines.inc").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
