"""Language models with battles: which model should answer a prompt, learned from "a beat b" and ties.

The file has a row per battle: the prompt, its text, two models and the winner, as in chat arenas. It is made of
``llm/llm_routerdc7.csv`` in the folder named by LABELRANK_DATA (graded answers of seven models, of which two at random
meet on each prompt, three times over), or made up. Prompts of the test are new to the ranker.

    python examples/language_models.py [battles.csv]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from labelrank import DummyRanker, LogLinearRanker, PreferenceGraphs, predict_frame
from labelrank.metrics import disagreement_error


def rank_models(path: Path) -> None:
    battles = pd.read_csv(path)
    prompts = battles.drop_duplicates("prompt").set_index("prompt")["text"]
    old, new = train_test_split(prompts, random_state=0)
    columns = {"a": "model_a", "b": "model_b", "winner": "winner", "instance": "prompt"}
    y = PreferenceGraphs.from_battles(battles[battles["prompt"].isin(old.index)], instances=old.index, **columns)
    decided = battles[battles["prompt"].isin(new.index) & (battles["winner"] != "tie")]
    truth = PreferenceGraphs.from_battles(decided, instances=new.index, labels=y.labels, **columns)
    print(y)
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogLinearRanker("disagreement", alpha=3.0)).fit(old, y)
    print(predict_frame(model, new[:5], kind="order", k=2))
    for name, ranker in {"by prompt": model, "same order for all": DummyRanker().fit(old, y)}.items():
        won = 1 - disagreement_error(truth[truth.has_pairs()], predict_frame(ranker, new[truth.has_pairs()]))
        print(f"{name}: the winner is ranked before the loser in {won:.1%} of {len(decided)} decided battles")


def make_battles(path: Path, n_prompts: int) -> None:
    """Three battles of each prompt between models whose answers were graded, or are made up by topic."""
    rng = np.random.default_rng(0)
    real = Path(os.environ.get("LABELRANK_DATA", "."), "llm", "llm_routerdc7.csv")
    if real.exists():
        table = pd.read_csv(real).sample(n_prompts, random_state=0)
        texts, grades = table["question"].to_numpy(), table.iloc[:, 4:]
    else:
        topic, skill = rng.integers(4, size=n_prompts), rng.random((4, 5))
        words = [[f"{name}{i}" for i in range(20)] for name in ("code", "math", "poem", "law")]
        texts = np.array([" ".join(rng.choice(words[t], 6)) for t in topic])
        grades = pd.DataFrame(rng.random((n_prompts, 5)) < skill[topic], columns=[f"model {i}" for i in "ABCDE"])
    rows = []
    for prompt, (text, row) in enumerate(zip(texts, grades.to_numpy(dtype=float), strict=True)):
        for _ in range(3):
            a, b = rng.choice(len(row), 2, replace=False)
            winner = "tie" if row[a] == row[b] else "model_a" if row[a] > row[b] else "model_b"
            rows.append([f"p{prompt}", text, grades.columns[a], grades.columns[b], winner])
    pd.DataFrame(rows, columns=["prompt", "text", "model_a", "model_b", "winner"]).to_csv(path, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a CSV file of battles (default: one is made)")
    parser.add_argument("--quick", action="store_true", help="400 prompts only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "battles.csv")
        make_battles(made, 400 if options.quick else 10_000)
        rank_models(options.path or made)


if __name__ == "__main__":
    main()
