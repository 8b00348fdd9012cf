"""Multilabel classification of texts: sets of label names as input and output, and training for a given error.

In this example a text with a missed label costs six times as much as an additional label.

    python examples/users/multilabel.py [texts.csv]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from labelrank import LabelCoveringClassifier
from labelrank.metrics import covering_error

WORDS = {
    "delivery": "late parcel courier lost address track",
    "quality": "broken cheap scratched loose color smell",
    "service": "rude phone waiting helpful answer email",
    "price": "expensive refund discount invoice worth charge",
}


def tag(path: Path) -> None:
    texts = pd.read_csv(path)
    labels = [set(names.split("|")) for names in texts["labels"].fillna("none")]
    old, new, y, y_new = train_test_split(texts["text"], labels, random_state=0)
    words = TfidfVectorizer().fit(old)
    for covering in ("weighted_positive", "hamming"):
        model = LabelCoveringClassifier(covering, alpha=0.1).fit(words.transform(old), y)
        truth = [[label in names for label in model.classes_] for names in y_new]
        error = covering_error(truth, model.decision_function(words.transform(new)), "weighted_positive")
        print(f"trained for {covering}: weighted_positive error {error:.2f} on {len(new)} new texts")
        for text, names in zip(new[:3], model.predict_sets(words.transform(new[:3])), strict=True):
            print(f"  {text}: {', '.join(sorted(names)) or '-'}")


def make_texts(path: Path, n_texts: int) -> None:
    """Generate texts with words of their labels, and some words of others."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(n_texts):
        chosen = rng.permutation(list(WORDS))[: rng.integers(1, 3)]
        topics = [rng.choice(chosen if rng.random() < 0.8 else list(WORDS)) for _ in range(7)]
        rows.append(
            {"text": " ".join(rng.choice(WORDS[topic].split()) for topic in topics), "labels": "|".join(chosen)}
        )
    pd.DataFrame(rows).to_csv(path, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a CSV file with the columns text and labels, a|b")
    parser.add_argument("--quick", action="store_true", help="300 generated texts only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder, "texts.csv")
        make_texts(generated, 300 if options.quick else 2000)
        tag(options.path or generated)


if __name__ == "__main__":
    main()
