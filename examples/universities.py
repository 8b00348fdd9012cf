"""
University choice from paired comparisons: who beats whom
=========================================================

Students compared pairs of universities. Their answers are incomplete and contradictory, so they are represented by
`PreferenceGraphs` instead of rankings. Answers of 303 students on six universities are read from
``pairwise/CEMSChoice.csv`` in the folder given by `LABELRANK_DATA`, or similar answers are generated.
"""

import itertools
import os
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from labelrank import LogLinearRanker, PreferenceGraphs, orders_from_ranks
from labelrank.aggregation import kemeny
from labelrank.plots import PairMatrixDisplay

path = Path(os.environ.get("LABELRANK_DATA", "."), "pairwise", "CEMSChoice.csv")
if path.exists():
    table = pd.read_csv(path)
else:
    rng, n = np.random.default_rng(0), 150 if "--quick" in sys.argv else 600
    schools = ["London", "Paris", "Milano", "StGallen", "Barcelona", "Stockholm"]
    table = pd.DataFrame({"french": rng.choice(["good", "poor"], n), "spanish": rng.choice(["good", "poor"], n)})
    liking = np.linspace(1.5, 0, 6) + rng.normal(size=(n, 6))
    liking[:, 1] += table["french"] == "good"
    liking[:, 4] += 2 * (table["spanish"] == "good")
    for a, b in itertools.combinations(range(6), 2):
        answers = np.sign(liking[:, a] - liking[:, b] + rng.logistic(scale=0.4, size=n))
        table[f"{schools[a]}:{schools[b]}"] = np.where(rng.random(n) < 0.1, np.nan, answers)
pairs = [column for column in table if ":" in column]
graphs = PreferenceGraphs.from_pair_table(table[pairs])
X = table.drop(columns=pairs).astype(str)
ranker = make_pipeline(OneHotEncoder(), LogLinearRanker("disagreement", on_empty="ignore")).fit(X[::2], graphs[::2])
print(f"{graphs}, {'from a survey' if path.exists() else 'generated'}")
print("Kemeny consensus:", *orders_from_ranks([kemeny(graphs)], labels=graphs.labels)[0])

# %%
# For students whom the ranker has not seen: the share who prefer the university of the row to that of the column, as
# observed and as predicted from their studies and languages.
PairMatrixDisplay.from_estimator(ranker, X[1::2], graphs[1::2])
plt.show()
