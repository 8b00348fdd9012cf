"""Made-up tickets with hostile names, and what is written on a page."""

import re
from html import unescape

import numpy as np
import pandas as pd

from labelrank import KernelRidgeRanker
from labelrank.report import build_report

HOSTILE = '<script>fail("label")</script>'
LABELS = [HOSTILE, '"><img src=x onerror=fail(1)>', "$a_b$", "tea & milk", "water"]


def make_tickets(n, seed):
    rng = np.random.default_rng(seed)
    words = np.array(["router", "invoice", "screen", "login", "virus"])
    utility = rng.gumbel(size=(n, 5))
    text = [" ".join(words[np.argsort(-row)[rng.integers(0, 2, 6)]]) for row in utility]
    index = [f"T{i:04}" for i in range(n)]
    X = pd.DataFrame(
        {
            "text": text,
            "product": pd.Categorical(rng.choice(["desk", "cloud", "phone"], n)),
            "<script>fail('column')</script>": np.where(rng.random(n) < 0.25, np.nan, rng.normal(size=n)),
        },
        index=index,
    )
    ranks = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0
    ranks[rng.random(ranks.shape) < 0.3] = np.nan
    return X, pd.DataFrame(ranks, columns=LABELS, index=index)


def ridge_report():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.argsort(np.argsort(X @ rng.normal(size=(3, 4)), axis=1), axis=1) + 1
    model = KernelRidgeRanker(kernel="rbf").fit(X[:30], y[:30])
    return build_report(model, X[30:], y[30:], random_state=0, learning_curve=False)


def section(report, key):
    """HTML of a section."""
    return re.search(f'<section id="{key}".*?</section>', report.html, flags=re.DOTALL)[0]


def text_of(html):
    """Text without tags, all spaces alike."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


def cells(html, caption):
    """Texts of the cells of the table with a caption, row by row."""
    table = re.search(f"<caption>{re.escape(caption)}</caption>.*?<tbody>(.*?)</tbody>", html, flags=re.DOTALL)[1]
    rows = re.findall("<tr>(.*?)</tr>", table, flags=re.DOTALL)
    return [[text_of(cell) for cell in re.findall("<t[dh].*?</t[dh]>", row, flags=re.DOTALL)] for row in rows]
