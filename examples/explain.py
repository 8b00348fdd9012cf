"""
Explain one decision
====================

Why was this ticket sent to *hardware* and not to *billing*? The difference of the two scores is the sum of the
contributions of the words of the text and the columns of the table. The tickets are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import labelrank

WORDS = {
    "hardware": "screen battery keyboard broken fan noise charger dead",
    "billing": "invoice refund price charged card contract tax twice",
    "accounts": "password login locked reset user email role name",
}
rng = np.random.default_rng(0)
rows = []
for _ in range(300):
    order = rng.permutation(list(WORDS))
    text = " ".join(rng.choice(WORDS[team].split()) for team in rng.choice(order, size=7, p=[0.5, 0.3, 0.2]))
    product = rng.choice(["laptop", "phone", "app"], p=[0.5, 0.4, 0.1] if order[0] == "hardware" else [0.2, 0.2, 0.6])
    rows.append({"text": text, "product": product, "age": rng.gamma(3, 1 + (order[0] == "hardware")), "order": order})
tickets = pd.DataFrame(rows)
y = labelrank.ranks_from_orders(tickets.pop("order").tolist(), labels=list(WORDS))
columns = make_column_transformer(
    (TfidfVectorizer(), "text"), (OneHotEncoder(), ["product"]), (StandardScaler(), ["age"])
)
model = make_pipeline(columns, labelrank.LogLinearRanker()).fit(tickets, pd.DataFrame(y, columns=list(WORDS)))

# %%
# A new ticket, and the reasons for its first two teams.
new = pd.DataFrame({"text": ["laptop dead, charger broken, charged twice"], "product": ["laptop"], "age": [6.0]})
best, next_best = labelrank.predict_frame(model, new, kind="order").iloc[0, :2]
why = labelrank.explain(model, new, better=best, worse=next_best)
print(why)
why.plot()
plt.show()
