"""Sections on feature importances and the learning curve."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, LearningCurveDisplay, learning_curve

from labelrank._arrays import FloatArray, row_blocks
from labelrank.metrics import get_scorer, kendall_tau
from labelrank.plots._inputs import name_of
from labelrank.report.evidence import Evidence, Rows
from labelrank.report.parts import Cell, Section, Table, bars, number, plus_minus
from labelrank.report.svg import draw
from labelrank.supervision.names import labels_of, unwrapped
from labelrank.trust.mixing import row_mixer

_MOST_FEATURES, _MOST_PREDICTIONS, _AT_ONCE, _REPEATS = 200, 200_000, 20_000, 5
_FEWEST_ROWS = 10
_CURVE_ROWS, _CURVE_FOLDS, _CURVE_SIZES = 1000, 3, (0.2, 0.4, 0.7, 1.0)
_CHEAP_FEATURES, _CHEAP_LABELS = 50, 30


def importance_section(evidence: Evidence) -> Section:
    """Decrease of the score if a feature is permuted."""
    title, names = "Which features matter", evidence.feature_names
    if names is None:
        return Section("importance", title, "Instances are texts, not rows of features.")
    if not 0 < len(names) <= _MOST_FEATURES:
        reason = f"Features are permuted one by one, for up to {_MOST_FEATURES} of them; there are {len(names):,}."
        return Section("importance", title, reason)
    most = max(_MOST_PREDICTIONS / (len(names) * _REPEATS), 50)
    rows = evidence.sample(min(most, 1000))
    if len(rows) < _FEWEST_ROWS:
        return Section("importance", title, f"At least {_FEWEST_ROWS} rows with an observed pair are needed.")
    falls = _falls(evidence, rows, len(names))
    mean, deviation = falls.mean(axis=1), falls.std(axis=1)
    order = np.argsort(-mean, kind="stable")
    drawn = bars(mean[order].tolist(), deviation[order].tolist())
    table = [
        [Cell(names[i]), Cell(f"{number(mean[i])} {plus_minus(deviation[i])}", float(mean[i]), bar)]
        for i, bar in zip(order.tolist(), drawn, strict=True)
    ]
    lead = (
        f"Decrease of Kendall's tau when the values of a feature are permuted: mean ± standard deviation of "
        f"{_REPEATS} permutations, on {evidence.on(rows)}. Redundant features share their importance."
    )
    best = order[0]
    finding = f"“{names[best]}” matters most: permuting it decreases Kendall's tau by {number(mean[best])}."
    columns = ["feature", "decrease of Kendall's tau"]
    return Section("importance", title, lead, [Table("Features", columns, table)], finding if mean[best] > 0 else "")


def _falls(evidence: Evidence, rows: Rows, d: int) -> FloatArray:
    """Decrease of tau for each permutation of each feature, of shape (d, n_repeats).

    Unlike scikit-learn's function, this predicts many permutations at once, because calls of ensembles have a large
    overhead, and supports sparse matrices and frames other than those of pandas.
    """
    rng = np.random.default_rng(evidence.seed)
    mixed, graphs, m = row_mixer(evidence.rows(rows)), evidence.graphs[rows], len(rows)
    tau = np.empty((d, _REPEATS))
    for part in row_blocks(d, m * _REPEATS, _AT_ONCE):
        columns = np.repeat(np.arange(d)[part], _REPEATS)
        sources = np.tile(np.arange(m)[:, np.newaxis], (len(columns), d)).reshape(len(columns), m, d)
        for source, column in zip(sources, columns, strict=True):
            source[:, column] = rng.permutation(m)
        predicted = np.asarray(evidence.model.predict(mixed(sources.reshape(-1, d))), dtype=np.float64)
        ranks = predicted[:, evidence.columns].reshape(len(columns), m, -1)
        tau[part] = np.reshape([kendall_tau(graphs, each) for each in ranks], (-1, _REPEATS))
    return kendall_tau(graphs, evidence.ranks[rows]) - tau


def curve_section(evidence: Evidence, wanted: bool | None) -> Section:
    """Scores of the model fitted to fewer rows."""
    title = "Would more rows help?"
    n_features = len(evidence.feature_names or [])
    cheap = 0 < n_features <= _CHEAP_FEATURES and evidence.graphs.shape[1] <= _CHEAP_LABELS
    if wanted is False or (wanted is None and not cheap):
        return Section("curve", title, "Not computed: the model would have to be fitted again, several times.")
    rows = evidence.sample(_CURVE_ROWS)
    if len(rows) < _CURVE_FOLDS * _FEWEST_ROWS:
        reason = f"At least {_CURVE_FOLDS * _FEWEST_ROWS} rows with an observed pair are needed."
        return Section("curve", title, reason)
    model = _refitted(evidence.model)
    folds = KFold(_CURVE_FOLDS, shuffle=True, random_state=evidence.seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about few rows are not about the model of the report
            sizes, on_train, on_test = learning_curve(
                clone(model),
                evidence.rows(rows),
                evidence.graphs[rows],
                train_sizes=_CURVE_SIZES,
                cv=folds,
                scoring=get_scorer("kendall_tau"),
                error_score="raise",
            )
    except Exception as error:  # any estimator may fail on few rows
        return Section("curve", title, f"{name_of(model)} could not be fitted on fewer rows: {error}")

    def curve(ax: Any) -> None:
        display = LearningCurveDisplay(train_sizes=sizes, train_scores=on_train, test_scores=on_test)
        display.plot(ax=ax, score_name="Kendall's tau", line_kw={"marker": "o"}, fill_between_kw={"alpha": 0.15})
        ax.set_xlabel("training rows")
        ax.legend(["on training rows", "on other rows"])

    last, before = on_test[-1].mean(), on_test[-2].mean()
    finding = (
        f"From {sizes[-2]:,} to {sizes[-1]:,} rows, Kendall's tau goes from {number(before)} to {number(last)}"
        f"{': it still rises' if last - before > on_test[-1].std() else ''}."
    )
    figure = draw(
        "curve",
        curve,
        (6.0, 3.8),
        alt="Kendall's tau of the model by the number of training rows, on training rows and on others.",
        caption=f"Mean and standard deviation over {_CURVE_FOLDS} folds.",
    )
    lead = (
        f"Copies of the model ({name_of(model)}) with the same parameters, fitted to subsets of {evidence.on(rows)} of "
        f"this report, and scored on the others. {finding}"
    )
    return Section("curve", title, lead, [figure], finding)


def _refitted(model: Any) -> Any:
    """The best candidate of a search, or the ranker inside a meta-estimator."""
    while not getattr(model, "steps", None):
        inner = unwrapped(model)[1]
        if inner is None or labels_of(inner) is None:
            return model
        model = inner
    return model
