"""Train with each of five coverings and measure each of the five errors, to see which classifier wins which error.

Every row of the table is a classifier, every column an error on held-out examples; the best of a column is marked. The
diagonal is what the classifier of the row was trained for.

    python examples/label_covering.py
    python examples/label_covering.py --quick
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import maxabs_scale

from labelrank import LabelCoveringClassifier
from labelrank.metrics import covering_error

COVERINGS = ["zero_one", "hamming", "two_sets", "weighted_positive", "weighted_negative"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few examples")
    options = parser.parse_args()

    n_samples = 2000 if options.quick else 8000
    X, Y = make_multilabel_classification(n_samples, n_classes=8, n_labels=3, random_state=0)
    X_train, X_test, Y_train, Y_test = train_test_split(maxabs_scale(X), Y, random_state=0)

    errors = np.empty((len(COVERINGS), len(COVERINGS)))
    for row, trained in enumerate(COVERINGS):
        model = LabelCoveringClassifier(trained).fit(X_train, Y_train)
        scores = model.decision_function(X_test)
        errors[row] = [covering_error(Y_test, scores, measured) for measured in COVERINGS]

    print(f"{'trained for':18}", *(f"{name:>18}" for name in COVERINGS))
    best = errors == errors.min(axis=0)
    for trained, values, marks in zip(COVERINGS, errors, best, strict=True):
        print(
            f"{trained:18}",
            *(f"{value:17.3f}{'*' if mark else ' '}" for value, mark in zip(values, marks, strict=True)),
        )
    print(f"\nbest for the error it was trained for: {int(np.diag(best).sum())} of {len(COVERINGS)}")


if __name__ == "__main__":
    main()
