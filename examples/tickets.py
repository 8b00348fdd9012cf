"""
Ticket routing with a human fallback
====================================

Which team should get a ticket? The model ranks the teams by the text of the ticket. A ticket is routed automatically if
the first team is better than the second with high confidence, and by a person otherwise. The tickets are generated,
with words of the team that solves them and of other teams, and ranks of the teams that were asked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import labelrank

WORDS = {
    "network": "wifi vpn slow connection router offline cable ping",
    "billing": "invoice refund price charged card contract tax twice",
    "hardware": "screen battery keyboard broken fan noise charger dead",
    "accounts": "password login locked reset user email role name",
    "security": "phishing virus suspicious link leaked access alarm spam",
}
rng = np.random.default_rng(0)
texts, orders = [], []
for _ in range(4000):
    order = rng.permutation(list(WORDS))
    teams = rng.choice(order[:3], size=8, p=[0.5, 0.3, 0.2])
    texts.append(" ".join(rng.choice(WORDS[team].split()) for team in teams))
    orders.append(order[: rng.integers(2, 6)].tolist())  # the teams that were asked, best first
y = labelrank.ranks_from_orders(orders, labels=list(WORDS))
half = len(texts) // 2
model = make_pipeline(TfidfVectorizer(), labelrank.LogLinearRanker()).fit(texts[:half], y[:half])

# %%
# How sure is the model that its first team is better than its second?
first, second = np.argsort(model.predict(texts[half:]), axis=1)[:, :2].T
sure = labelrank.pairwise_proba(model, texts[half:])[np.arange(len(first)), first, second]
right = (y[half:][np.arange(len(first)), first] == 1)[np.argsort(-sure)]
kept = np.arange(1, len(right) + 1)
plt.plot(kept / len(right), np.cumsum(right) / kept)
plt.axhline(right.mean(), color="gray", linestyle=":", label="all tickets")
plt.xlabel("share of tickets routed without a person, the surest first")
plt.ylabel("share of them with the right team")
plt.legend()
plt.show()
