"""
The best parse of a sentence
============================

A parser proposes several parses of each sentence. These are items in groups, not a fixed set of labels. `RankRLS`
compares only parses of the same sentence. 500 sentences with up to 20 parses are read from
``parse/pud_linkgrammar_parses_1-500.jsonl`` in the folder given by `LABELRANK_DATA`, or generated.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import MaxAbsScaler

from labelrank import RankRLS

n = 150 if "--quick" in sys.argv else 500
path = Path(os.environ.get("LABELRANK_DATA", "."), "parse", "pud_linkgrammar_parses_1-500.jsonl")
if path.exists():
    sentences = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:n]]
    rows = [(i, parse["f1"], parse) for i, sentence in enumerate(sentences) for parse in sentence["parses"]]
    links = [Counter(link[2] for link in parse["links"]) for _, _, parse in rows]
    features = [{"unused": p["unused"], "cost": p["disjunct"], **c} for (_, _, p), c in zip(rows, links, strict=True)]
    X = MaxAbsScaler().fit_transform(DictVectorizer(sparse=False).fit_transform(features))
    items = pd.DataFrame({"sentence": [row[0] for row in rows], "f1": [row[1] for row in rows]})
else:
    rng = np.random.default_rng(0)
    items, X = pd.DataFrame({"sentence": np.repeat(np.arange(n), 10)}), rng.normal(size=(10 * n, 5))
    level = rng.normal(size=n)[items["sentence"]]  # some sentences are easier than others
    items["f1"] = 1 / (1 + np.exp(-level - X @ [0.6, -0.4, 0.2, 0, 0] - rng.normal(size=10 * n)))
print(f"{len(items)} parses of {n} sentences, {'read' if path.exists() else 'generated'}")
old = items["sentence"] < n // 2
ranker = RankRLS(alpha=1.0).fit(X[old], items["f1"][old], groups=items["sentence"][old])

# %%
# F1 on new sentences: the first parse of the parser, the mean of all parses, the parse ranked first, and the best one.
new = items[~old].assign(score=ranker.predict(X[~old])).groupby("sentence")
found = {"parser's first": new["f1"].first(), "mean of the parses": new["f1"].mean()}
found["ranked first"] = new[["f1", "score"]].apply(lambda parses: parses["f1"][parses["score"].idxmax()])
found["best"] = new["f1"].max()
plt.boxplot(list(found.values()), tick_labels=[f"{k}\n{v.mean():.3f}" for k, v in found.items()], showmeans=True)
plt.ylabel(f"F1 on {len(new)} new sentences")
plt.show()
