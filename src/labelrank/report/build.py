"""Build a report on a model from its predictions for test data."""

from __future__ import annotations

import importlib
from typing import Any

from sklearn.utils.validation import check_is_fitted

from labelrank.report.page import Report, render


def build_report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    leaderboard: Any = None,
    title: str | None = None,
    random_state: Any = None,
    learning_curve: bool | None = None,
) -> Report:
    """Build a report on a fitted model: its accuracy, errors, confidence and explanations.

    Expensive parts are computed on a random sample of the rows; each section of the report states its size.

    Parameters
    ----------
    model : fitted ranker
        A ranker, or a pipeline, a search or another meta-estimator around one.
    X : data frame, sparse matrix or array-like of shape (n_samples, n_features), optional
        Instances that the model was not fitted on. Without `X` and `y`, only the leaderboard is shown.
    y : rank matrix, data frame or PreferenceGraphs of shape (n_samples, n_labels), optional
        Observed preferences.
    leaderboard : data frame or list of dict, optional
        Candidates with their scores: "name", "mean", "std" or "standard_error", and other columns. By default the
        ``leaderboard_`` of the model, if any.
    title : str, optional
        Heading; by default the name of the model.
    random_state : int or RandomState, optional
        Seed for the samples of the rows and for permutations.
    learning_curve : bool, optional
        Whether to fit copies of the model on subsets of at most 1,000 rows of `X` and `y`. By default if there are up
        to 50 features and 30 labels.

    Returns
    -------
    Report
        The report; `save` writes it to a file, notebooks display it.

    See Also
    --------
    labelrank.plots : The figures of the report.

    Examples
    --------
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.datasets import load_wine_rankings
    >>> from labelrank.report import build_report
    >>> X, y = load_wine_rankings(return_X_y=True)
    >>> model = LogLinearRanker().fit(X[::2], y[::2])
    >>> report = build_report(model, X[1::2], y[1::2], learning_curve=False, random_state=0)
    >>> report.title
    'LogLinearRanker'
    >>> report.save("wine.html")  # doctest: +SKIP
    """
    _require("jinja2", "matplotlib")
    from labelrank.plots._inputs import name_of
    from labelrank.report.leaderboard import leaderboard_section
    from labelrank.report.parts import Code

    check_is_fitted(model)
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both, or neither for a report on the leaderboard alone")
    given = getattr(model, "leaderboard_", None) if leaderboard is None else leaderboard
    board = leaderboard_section(given, getattr(model, "weights_", None))
    if X is None:
        if given is None:
            raise ValueError(
                f"a report on {name_of(model)} needs X and y, instances that it was not fitted on; they are optional "
                "only for a model with a leaderboard_, such as AutoRanker"
            )
        sections = [board]
    else:
        sections = _sections(model, X, y, random_state, learning_curve, board)
    name = name_of(model) if type(model).__name__ == "Pipeline" else type(model).__name__
    return render(name if title is None else title, name, sections, Code("The model and its parameters", repr(model)))


def _sections(model: Any, X: Any, y: Any, random_state: Any, learning_curve: bool | None, board: Any) -> list[Any]:
    from labelrank.report import cases, certainty, data, labels, learning, quality
    from labelrank.report.evidence import gather

    evidence = gather(model, X, y, random_state)
    return [
        quality.quality_section(evidence),
        board,
        data.data_section(evidence),
        labels.labels_section(evidence),
        labels.pairs_section(evidence),
        certainty.calibration_section(evidence),
        certainty.coverage_section(evidence),
        certainty.rejection_section(evidence),
        learning.curve_section(evidence, learning_curve),
        learning.importance_section(evidence),
        cases.cases_section(evidence),
    ]


def _require(*libraries: str) -> None:
    for library in libraries:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ImportError(
                f'build_report needs {library}; install it with: pip install "labelrank[plot]"'
            ) from error
