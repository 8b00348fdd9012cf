"""Explanations why one label is ranked before another: contributions of features or neighbors."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from labelrank._arrays import FloatArray
from labelrank._compat import num_samples
from labelrank.neighbors.aggregator import Aggregator
from labelrank.pairs import PairRows
from labelrank.supervision.frames import frame_like, frame_of, stacked_frames
from labelrank.supervision.names import fitted_ranker, unwrapped
from labelrank.trees.prediction import balance_of, parents_of, scores_of
from labelrank.trust.attribution import Attribution, along_paths, by_permutation, linear
from labelrank.trust.mixing import row_mixer
from labelrank.trust.origins import origins, words

Method = Literal["linear", "path", "ensemble", "neighbors", "permutation"]
HOW = {
    "linear": "exact, by coefficients",
    "path": "exact, along the paths of the trees",
    "ensemble": "exact, summed over the members",
    "neighbors": "votes of the neighbors on the two labels",
    "permutation": "estimated from sampled permutations",
}


@dataclass(frozen=True)
class Explanation:
    """Explanation why a label is ranked before another for one instance.

    Attributes
    ----------
    better, worse : object
        Names of the two labels.
    difference : float
        Score of `better` less that of `worse`. For neighbors, the share of their weights that ranks `better` first less
        the share that ranks `worse` first.
    base : float
        Part of the difference that does not depend on the instance: the intercepts of a linear model, the roots of
        trees, the mean over the background.
    contributions : ndarray of shape (n_items,)
        Contribution of each item. ``base + contributions.sum()`` is the difference.
    items : list of str
        Names of the features, or the rows of the neighbors. Text columns have an item for each word, such as
        ``subject: "printer"``, if the contributions are exact.
    values : list
        Values of the features, or the distances of the neighbors; ``""`` for words.
    method : {"linear", "path", "ensemble", "neighbors", "permutation"}
        How the contributions were computed. They always add up to the difference. Permutations estimate Shapley values
        from a sample. For an ensemble they are sums over linear models and trees, each divided by the spread of its
        scores. For neighbors they are votes on the two labels; the ranking also depends on other labels, so it may be
        reversed.
    order : {"before", "after", "tied with"}
        How the model ranks `better` relative to `worse`.
    value_name : str
        Name of the column of values in :meth:`to_frame`.
    like : data frame or None
        The instance, if it was a frame; :meth:`to_frame` returns a frame of its library.
    """

    better: Any
    worse: Any
    difference: float
    base: float
    contributions: FloatArray
    items: list[str]
    values: list[Any]
    method: Method
    order: Literal["before", "after", "tied with"] = "before"
    value_name: str = field(default="value", repr=False)
    like: Any = field(default=None, repr=False, compare=False)

    def to_frame(self) -> Any:
        """Return a data frame of the contributions, the largest first.

        Returns
        -------
        data frame
            Of the library of the instance; if it was not a data frame, of polars or pandas.
        """
        order = self._order()
        items, values = (np.array([column[i] for i in order], dtype=object) for column in (self.items, self.values))
        if all(isinstance(value, float) for value in self.values):
            values = values.astype(np.float64)
        columns = {"item": items, self.value_name: values, "contribution": self.contributions[order]}
        return frame_like(self.like, columns, rows=np.zeros(len(order), dtype=np.intp))

    def _order(self) -> npt.NDArray[np.intp]:
        return np.argsort(-np.abs(self.contributions), kind="stable")

    def __str__(self) -> str:
        total = f"{self.difference:+.4g} = base {self.base:+.4g} and ({HOW[self.method]})"
        lines = [f"{self.better} {self.order} {self.worse}: {total}"]
        shown = [i for i in self._order() if self.contributions[i] != 0][:10]
        width = max((len(self.items[i]) for i in shown), default=0)
        for i in shown:
            value = "missing" if self.values[i] is None else self.values[i]
            text = f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
            line = f"  {self.contributions[i]:+10.4g}  {self.items[i]:<{width}} = {text}"
            lines.append(line.removesuffix(" = ").rstrip())
        rest = np.delete(self.contributions, shown)
        if np.any(rest):
            lines.append(f"  {rest.sum():+10.4g}  {np.count_nonzero(rest)} others")
        return "\n".join(lines)

    def plot(self, ax: Any = None, max_items: int = 10) -> Any:
        """Draw the largest contributions as bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default in a new figure.
        max_items : int, default=10
            Number of items; the others are summed.

        Returns
        -------
        matplotlib Axes
        """
        from labelrank.plots.contributions import draw_contributions

        return draw_contributions(self, ax, max_items)


def explain(
    model: Any,
    x: Any,
    better: Any,
    worse: Any,
    *,
    background: Any = None,
    n_permutations: int = 100,
    random_state: int | None = 0,
) -> Explanation:
    """Explain why a model ranks one label before another for an instance.

    The difference of the two scores is split among the features: by the coefficients of linear models, along the paths
    of trees and forests, by both for ensembles of them by :class:`~labelrank.AutoRanker`, or, for all other models, by
    sampled permutations with a background. For :class:`~labelrank.KNeighborsRanker`, neighbors are listed instead of
    features. If scalers, imputers and one-hot encoders of a pipeline transform a column of `x`, the contributions of
    the resulting columns are summed. Each word of a text column has a separate contribution.

    Parameters
    ----------
    model : fitted ranker
        Also inside of pipelines and searches.
    x : array-like of shape (n_features,) or (1, n_features), or data frame of one row
        The instance.
    better, worse : label
        Names of labels as in ``labels_``.
    background : array-like of shape (n_rows, n_features), optional
        Typical instances. Required for models without an exact explanation; if given, permutations are used for every
        model.
    n_permutations : int, default=100
        Number of permutations.
    random_state : int or None, default=0
        Seed of the permutations.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import labelrank
    >>> from labelrank.datasets import load_iris_rankings
    >>> X, y = load_iris_rankings(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), labelrank.LogLinearRanker()).fit(X, y)
    >>> print(labelrank.explain(model, X[0], better=0, worse=2))  # doctest: +ELLIPSIS
    0 before 2: ... = base ... and (exact, by coefficients)
    ...
    """
    check_is_fitted(model)
    row = _one_row(x, model)
    steps, ranker = _ranker_inside(model)
    a, b = _position(ranker, better), _position(ranker, worse)
    if a == b:
        raise ValueError(f"better and worse are the same label, {better!r}")
    items, values = _features(row, model)
    scores = np.asarray(model.decision_function(row), dtype=np.float64)[0]
    ranks = np.asarray(model.predict(row))[0]
    found: dict[str, Any] = {
        "better": better,
        "worse": worse,
        "difference": float(scores[a] - scores[b]),
        "order": "before" if ranks[a] < ranks[b] else "after" if ranks[a] > ranks[b] else "tied with",
        "like": row if frame_of(row) is not None else None,
    }
    if n_permutations < 1:
        raise ValueError(f"n_permutations must be at least 1, got {n_permutations}")
    if background is not None:
        base, parts = _permuted(model, row, background, a, b, len(items), n_permutations, random_state)
        return Explanation(**found, base=base, contributions=parts, items=items, values=values, method="permutation")
    inner = row
    for step in steps:
        inner = step.transform(inner)
    # the best candidate of a search computes the scores of the model, a member of an ensemble does not
    whole = ranker if ranker is model or np.allclose(ranker.decision_function(inner)[0], scores) else model
    if whole is ranker and hasattr(ranker, "search_"):
        return _neighbors(ranker, inner, a, b, found)
    if whole is ranker and hasattr(ranker, "shares") and not steps:
        base, parts, items, values = _of_members(ranker, row, better, worse)
        return Explanation(**found, base=base, contributions=parts, items=items, values=values, method="ensemble")
    exact = _exact(ranker, inner, a, b) if whole is ranker else None
    if exact is None:
        raise ValueError(_no_exact(whole))
    method, (base, parts) = exact
    source = _sources(steps, items)
    if source is None:
        dense = inner.toarray() if hasattr(inner, "toarray") else np.asarray(inner)
        items, values, source = _names_out(steps, len(parts)), dense.ravel().tolist(), (np.arange(len(parts)), {})
    column, word = source
    there = inner.toarray().ravel() if hasattr(inner, "toarray") else np.ravel(inner) if word else ()
    of_text = {column[i] for i in word}
    said = [i for i in word if parts[i] != 0]
    told = [f'{items[column[i]]}: {"" if there[i] else "no "}"{word[i]}"' for i in said]
    rest = np.where(np.isin(np.arange(len(parts)), list(word)), 0.0, parts)
    by_input = np.bincount(column, weights=rest, minlength=len(items)).astype(np.float64)
    kept = [i for i in range(len(items)) if i not in of_text or by_input[i] != 0]
    return Explanation(
        **found,
        base=base,
        contributions=np.append(by_input[kept], parts[said]),
        items=[*(items[i] for i in kept), *told],
        values=[*(values[i] for i in kept), *[""] * len(said)],
        method=method,
    )


def _sources(steps: list[Any], items: list[str]) -> tuple[npt.NDArray[np.intp], dict[int, str]] | None:
    """Original feature of each column that the ranker gets, and the columns that are words of a text."""
    column: npt.NDArray[np.intp] = np.arange(len(items))
    word: dict[int, str] = {}
    for step in steps:
        ahead = origins(step, len(column))
        if ahead is None:
            return None
        column = column[ahead]
        word = {i: word[j] for i, j in enumerate(ahead) if j in word} | words(step)
    return column, word


def _one_row(x: Any, model: Any) -> Any:
    """Convert `x` to an array, sparse matrix, frame or list of one row."""
    row = x
    if isinstance(x, str):
        row = [x]
    elif frame_of(x) is None and hasattr(x, "to_frame") and hasattr(x, "index"):  # a row of a pandas frame
        row = x.to_frame().T.infer_objects()
    elif hasattr(x, "toarray"):
        row = x.reshape(1, -1) if x.ndim == 1 else x
    elif frame_of(x) is None and not _is_raw(x):
        row = np.asarray(x)
        row = row[np.newaxis] if row.ndim == 1 else row
    if num_samples(row) != 1:
        raise ValueError(f"x must be one instance, got {num_samples(row)} rows")
    frame, names = frame_of(row), getattr(model, "feature_names_in_", None)
    if frame is not None and names is not None and set(names) <= set(frame.columns):
        row = frame.select(*names).to_native()  # contributions are matched by position
    return row


def _is_raw(x: Any) -> bool:
    """Whether `x` is a list of one text or dict, as input of a vectorizer."""
    return isinstance(x, list) and len(x) == 1 and isinstance(x[0], (str, dict))


def _names_out(steps: list[Any], n_outputs: int) -> list[str]:
    """Names of the features that the ranker gets."""
    try:
        front = Pipeline([(str(i), step) for i, step in enumerate(steps)])
        return [str(name) for name in front.get_feature_names_out()]
    except (AttributeError, ValueError):
        return [f"transformed {i}" for i in range(n_outputs)]


def _ranker_inside(model: Any) -> tuple[list[Any], Any]:
    """Transformers of all pipelines around the innermost ranker, and the ranker."""
    steps: list[Any] = []
    while True:
        front, inner = unwrapped(model)
        if fitted_ranker(inner) is None:
            return steps, model
        if front is not None:
            steps += [step for _, step in front.steps if step is not None and step != "passthrough"]
        model = inner


def _position(ranker: Any, label: Any) -> int:
    place = np.flatnonzero([bool(name == label) for name in ranker.labels_.tolist()])
    if len(place) != 1:
        raise ValueError(f"{label!r} is not a label of the model; its labels are {ranker.labels_.tolist()}")
    return int(place[0])


def _features(row: Any, model: Any) -> tuple[list[str], list[Any]]:
    """Names and values of the features of an instance."""
    if _is_raw(row):
        return [], []
    frame = frame_of(row)
    if frame is not None:
        return [str(name) for name in frame.columns], [frame.get_column(name).to_list()[0] for name in frame.columns]
    dense = row.toarray() if hasattr(row, "toarray") else row
    names = getattr(model, "feature_names_in_", None)
    items = [f"x{i}" for i in range(dense.shape[1])] if names is None else [str(name) for name in names]
    return items, dense.ravel().tolist()


def _exact(ranker: Any, row: Any, a: int, b: int) -> tuple[Method, Attribution] | None:
    """Exact contributions of the columns of a transformed row; None if the ranker has no exact explanation."""
    if getattr(ranker, "coef_", np.empty(0)).shape == (len(ranker.labels_), getattr(ranker, "n_features_in_", -1)):
        return "linear", linear(ranker, row, a, b)
    if hasattr(ranker, "children_left_"):
        boosted = hasattr(ranker, "baseline_")
        scores = ranker.value_ if boosted else scores_of(balance_of(ranker), len(ranker.labels_))
        offsets = np.asarray(getattr(ranker, "tree_offsets_", [0, len(scores)]))
        bounds = list(pairwise(offsets.tolist()))
        above = [
            parents_of(ranker.children_left_[first:last], ranker.children_right_[first:last]) for first, last in bounds
        ]
        parents = np.concatenate([np.where(p >= 0, p + first, -1) for p, (first, _) in zip(above, bounds, strict=True)])
        leaves = offsets[:-1] + np.ravel(ranker.apply(row))
        values = (scores[:, a] - scores[:, b]) / (1 if boosted else len(bounds))
        base, parts = along_paths(values, offsets, parents, ranker.feature_, leaves, ranker.n_features_in_)
        return "path", (base + float(ranker.baseline_[a] - ranker.baseline_[b]) if boosted else base, parts)
    return None


def _of_members(ranker: Any, row: Any, better: Any, worse: Any) -> tuple[float, FloatArray, list[str], list[Any]]:
    """Base, contributions, items and values for a weighted sum of models with exact explanations."""
    base, sums, values = 0.0, dict[str, float](), dict[str, Any]()
    for member, share in zip(ranker.rankers_, ranker.shares(row)[:, 0], strict=True):
        own = explain(member, row, better, worse)
        if own.method == "neighbors":
            raise ValueError(_no_exact(ranker))
        base += share * own.base
        for item, value, part in zip(own.items, own.values, own.contributions, strict=True):
            values.setdefault(item, value)
            sums[item] = sums.get(item, 0.0) + share * float(part)
    return base, np.array([sums[item] for item in values]), list(values), list(values.values())


def _no_exact(model: Any) -> str:
    what = f"{type(model).__name__} has no exact explanation"
    return f"{what}; pass background, some rows of X, for an estimate by permutations"


def _neighbors(ranker: Any, row: Any, a: int, b: int, found: dict[str, Any]) -> Explanation:
    """Votes of the neighbors of an instance for one of the two labels, or for neither."""
    distances, rows, weights = (values[0] for values in ranker.kneighbors(row))
    aggregator = Aggregator(
        ranker.aggregation, PairRows(*ranker.pairs_), ranker.votes_, ranker.complete_, ranker.overall_ranks_
    )
    counts = aggregator.counts(np.searchsorted(ranker.rows_, rows)[:, np.newaxis], np.ones((len(rows), 1)))
    votes = weights * np.sign(counts[:, a, b] - counts[:, b, a]) / max(weights.sum(), np.finfo(float).tiny)
    return Explanation(
        **found | {"difference": float(votes.sum())},
        base=0.0,
        contributions=votes,
        items=[f"row {i}" for i in rows],
        values=distances.tolist(),
        method="neighbors",
        value_name="distance",
    )


def _permuted(
    model: Any, row: Any, background: Any, a: int, b: int, n_features: int, n_permutations: int, random_state: Any
) -> Attribution:
    def difference(X: Any) -> FloatArray:
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return np.asarray(scores[:, a] - scores[:, b])

    n_background = num_samples(background)
    if not n_background or not n_features:
        raise ValueError("background must have at least one row and one feature")
    frame, other = frame_of(row), frame_of(background)
    if (frame is None) != (other is None):
        raise ValueError("x and background must both be data frames, or neither")
    if frame is not None and other is not None:
        stacked: Any = stacked_frames(frame, other)
    else:
        dense = [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in (row, background)]
        if dense[0].shape[1] != dense[1].shape[-1]:
            raise ValueError(f"background has {dense[1].shape[-1]} features, and x has {dense[0].shape[1]}")
        stacked = np.vstack(dense)
    return by_permutation(difference, row_mixer(stacked), n_features, n_background, n_permutations, random_state)
