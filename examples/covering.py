"""
A multilabel classifier for your own error
==========================================

Which errors are costly in your multilabel problem: every wrong label, missed labels, additional labels, or *groups* of
labels that are not exactly right? A covering defines the error, and the classifier minimizes a loss for it. The music
data ``multilabel/emotions`` are read from the folder given by `LABELRANK_DATA`, or data are generated.
"""

import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from labelrank import LabelCoveringClassifier
from labelrank.datasets import read_mulan
from labelrank.metrics import covering_error

folder = Path(os.environ.get("LABELRANK_DATA", "."), "multilabel", "emotions")
if folder.exists():
    parts = [read_mulan(folder / f"emotions-{part}.arff") for part in ("train", "test")]
    X, Y = (np.vstack([part[key] for part in parts]) for key in ("data", "target"))
else:
    n = 600 if "--quick" in sys.argv else 4000
    X, Y = make_multilabel_classification(n, n_classes=6, n_labels=2, random_state=0)
print(f"{len(X)} examples, {'emotions' if folder.exists() else 'generated'}")


def by_group(relevant):
    """Return a covering with an element for each group of labels: 0 to 2 and 3 to 5."""
    return [[0, 1, 2], [3, 4, 5]]


# %%
# Train for each error, and measure all errors on held-out examples.
X_train, X_test, Y_train, Y_test = train_test_split(StandardScaler().fit_transform(X), Y, random_state=0)
names = ["hamming", "weighted_positive", "weighted_negative"]
coverings = dict(zip(names, names, strict=True)) | {"by group": by_group}
errors = np.empty((4, 4))
for row, covering in enumerate(coverings.values()):
    scores = LabelCoveringClassifier(covering, alpha=3.0).fit(X_train, Y_train).decision_function(X_test)
    errors[row] = [covering_error(Y_test, scores, measured) for measured in coverings.values()]

# %%
# Errors relative to the best of each column. On the diagonal, the classifier was trained for the measured error.
# *Positive*: missing any relevant label costs as much as predicting six irrelevant ones. *Negative*: predicting any
# irrelevant label costs as much as missing four relevant ones.
relative = errors / errors.min(axis=0)
figure, ax = plt.subplots(layout="constrained")
ax.imshow(relative, cmap="Blues")
for (row, column), value in np.ndenumerate(relative):
    color = "white" if value > relative.mean() + relative.std() else "black"
    ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=color)
short = [name.replace("weighted_", "") for name in coverings]
ax.set(xticks=range(4), yticks=range(4), xticklabels=short, yticklabels=short)
ax.set(xlabel="measured", ylabel="trained for")
plt.show()
