"""Ticket routing: rank the teams for each new ticket, with names of teams as input and output.

A CSV file, by default a generated one, has one row per ticket: the text, the product, and a rank for each team that was
asked, 1 for the team that solved it. The newest quarter of the tickets is predicted from the older ones.

    python examples/users/ticket_routing.py [tickets.csv]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from labelrank import DummyRanker, LogLinearRanker, predict_frame
from labelrank.metrics import get_scorers

WORDS = {
    "network": "wifi vpn slow connection router offline cable ping",
    "billing": "invoice refund price charged card contract tax twice",
    "hardware": "screen battery keyboard broken fan noise charger dead",
    "accounts": "password login locked reset user email role name",
    "security": "phishing virus suspicious link leaked access alarm spam",
}


def route(path: Path) -> None:
    tickets = pd.read_csv(path, index_col="ticket").sort_index()
    teams = tickets.filter(like="rank_").rename(columns=lambda name: name.removeprefix("rank_"))
    n_old = len(tickets) * 3 // 4
    features = make_column_transformer(
        (TfidfVectorizer(), "text"), (OneHotEncoder(handle_unknown="ignore"), ["product"])
    )
    model = make_pipeline(features, LogLinearRanker()).fit(tickets[:n_old], teams[:n_old])
    print(predict_frame(model, tickets[n_old:], kind="order", k=3).head())
    same_for_all = DummyRanker().fit(tickets[:n_old], teams[:n_old])
    for name, scorer in get_scorers("top_1", "kendall_tau").items():
        scores = [scorer(ranker, tickets[n_old:], teams[n_old:]) for ranker in (model, same_for_all)]
        print(f"{name} on {len(tickets) - n_old} newer tickets: {scores[0]:.2f}; same order for all: {scores[1]:.2f}")


def make_tickets(path: Path, n_tickets: int) -> None:
    """Generate tickets with words of the team that solves them and of another one, and ranks of the teams asked."""
    rng = np.random.default_rng(0)
    names = list(WORDS)
    affinity = rng.normal(size=(3, len(names)))  # of each product to each team
    rows = []
    for ticket in range(n_tickets):
        product = rng.integers(3)
        order = np.argsort(rng.gumbel(size=len(names)) + affinity[product])[::-1]
        topics = rng.choice(order[:3], size=8, p=[0.6, 0.3, 0.1])
        text = " ".join(rng.choice(WORDS[names[topic]].split()) for topic in topics)
        asked = order[: rng.integers(2, len(names) + 1)]
        ranks = {f"rank_{names[team]}": place for place, team in enumerate(asked, start=1)}
        rows.append({"ticket": f"T{ticket:05}", "text": text, "product": f"product {product}", **ranks})
    columns = ["ticket", "text", "product", *(f"rank_{name}" for name in names)]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", type=Path, help="a CSV file of tickets (default: a generated one)")
    parser.add_argument("--quick", action="store_true", help="200 generated tickets only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder, "tickets.csv")
        make_tickets(generated, 200 if options.quick else 2000)
        route(options.path or generated)


if __name__ == "__main__":
    main()
