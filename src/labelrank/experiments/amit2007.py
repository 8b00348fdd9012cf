"""Amit, Dekel, Singer, "A boosting algorithm for label covering in multilabel problems" (AISTATS, 2007), Figures 3, 4.

A classifier is trained with each of five coverings and measured with all five covering errors, and with one-error,
coverage and average precision. The claim is that the diagonal wins: for each covering error, the classifier that was
trained with this covering is the best::

    labelrank reproduce amit2007                  Reuters-21578, in the folder named by LABELRANK_DATA
    labelrank reproduce amit2007 --data yeast     or emotions, scene, enron, flags: the files of Mulan
    labelrank reproduce amit2007 --data all       all of these, one line each
    labelrank reproduce amit2007 --data rcv1      RCV1, by scikit-learn
    labelrank reproduce amit2007 --quick          generated documents, in seconds

The paper boosts. Its steps are small where examples have many features, and a table after a fixed number of rounds says
how far these led as much as what the losses are good for. So the loss is minimised by L-BFGS, with a penalty chosen for
each covering on a part of the training data, and with one small penalty for all; a third table is what boosting gives.
Whether the diagonal is better than another row is tested over the examples, by the paired t-test: the paired Wald test
of the paper with Student's distribution in the place of the normal.
"""

from __future__ import annotations

import base64
import os
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrank.experiments.cache import Cell, Numbers, ResultCache, fingerprint
from labelrank.experiments.command import command
from labelrank.experiments.paired import paired_comparison
from labelrank.experiments.runner import fold_of, run_cells
from labelrank.experiments.table import Report, Table

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Parts = Mapping[str, tuple[Any, Any]]  # examples and relevant labels, to train on and to test on

NAME = "amit2007"
VERSION = 1  # of everything that determines a number and is not in a cell: raise it when `compute` changes
MULAN = ("emotions", "scene", "yeast", "enron", "flags")
DATA = ("reuters", *MULAN, "rcv1", "all")

COVERINGS = {
    "zero_one": "ZO",
    "hamming": "HM",
    "two_sets": "TS",
    "weighted_positive": "WP",
    "weighted_negative": "WN",
}
MEASURES = {**COVERINGS, "one_error": "OneErr", "coverage": "Coverage", "average_precision": "AvgP"}
SHORT = list(COVERINGS.values())
WAYS = {"chosen": "L-BFGS, chosen penalty", "same": "L-BFGS, one penalty", "boosting": "boosting"}
PARTS = {"train": "training data", "test": "test data"}
SIGNIFICANT = 0.01  # the level of the paper

PRINTED = (
    ("0.567", "1.587", "0.759", "3.300", "2.407", "0.100", "4.493", "0.865"),
    ("0.579", "1.492", "0.757", "3.297", "2.365", "0.091", "4.378", "0.870"),
    ("0.574", "1.599", "0.747", "3.209", "2.356", "0.094", "4.376", "0.870"),
    ("0.652", "1.792", "0.857", "3.022", "2.403", "0.094", "4.177", "0.872"),
    ("0.610", "1.614", "0.817", "3.051", "2.314", "0.094", "4.227", "0.872"),
)


@dataclass(frozen=True)
class Protocol:
    """How a table is made."""

    terms_per_topic: int = 100
    min_documents: int = 10  # in the training data, for a topic of Reuters-21578 to be a label
    train_share: float = 0.733  # of RCV1: 590,000 of 804,414
    rounds: int = 200
    smoothing: float = 0.0
    alphas: tuple[float, ...] = (100.0, 10.0, 1.0, 0.1)  # largest first: each fit starts from the one before
    max_iter: int = 200
    tol: float = 1e-5
    seed: int = 0


TEXT = Protocol(alphas=(10.0, 1.0, 0.1), max_iter=60)  # an iteration is dear there
QUICK = Protocol(terms_per_topic=15, rounds=30, alphas=(1.0, 0.1), max_iter=20, tol=1e-4)


@dataclass(frozen=True)
class Problem:
    """Examples and their relevant labels, to train on and to test on."""

    name: str
    X: Any
    Y: npt.NDArray[np.uint8]
    X_test: Any
    Y_test: npt.NDArray[np.uint8]

    @property
    def size(self) -> str:
        """The size in words."""
        return (
            f"{self.name}: {len(self.Y):,} examples to train on, {len(self.Y_test):,} to test on, "
            f"{self.X.shape[1]:,} features, {self.Y.shape[1]} labels, {self.Y.sum(axis=1).mean():.2f} of them relevant"
        )


def run(
    data: str = "reuters",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Report:
    """Make the tables.

    Parameters
    ----------
    data : {"reuters", "emotions", "scene", "yeast", "enron", "flags", "rcv1", "all"}, default="reuters"
        Reuters-21578, a data set of Mulan, or RCV1 as :func:`sklearn.datasets.fetch_rcv1` loads it. ``"all"`` is all
        but RCV1, with one line each on how often the diagonal wins.
    folder : str or path-like, optional
        The files of the data set, by default found through the environment variable ``LABELRANK_DATA`` (in ``text``
        and in ``multilabel/NAME`` there); for RCV1 the `data_home` of scikit-learn, for ``"all"`` a folder like that of
        ``LABELRANK_DATA``.
    quick : bool, default=False
        A small generated problem instead, which needs no files.
    n_jobs : int, optional
        Processes.
    cache : str or path-like, optional
        Where results are kept; :func:`~labelrank.experiments.default_folder` by default. A quick run without it keeps
        nothing.
    protocol : Protocol, optional
        Another protocol.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> table = amit2007.run(quick=True).tables[0]
    >>> table.rows
    ['ZO', 'HM', 'TS', 'WP', 'WN']
    >>> table.columns
    ['ZO', 'HM', 'TS', 'WP', 'WN', 'OneErr', 'Coverage', 'AvgP']
    """
    options: dict[str, Any] = {"n_jobs": n_jobs, "cache": cache, "protocol": protocol}
    if data == "all" and not quick:
        home = _home(folder)
        folders = {"reuters": home / "text", **{name: home / "multilabel" / name for name in MULAN}}
        return summary([outcome(name, folder=folders[name], **options) for name in folders])
    found = outcome(data, folder=folder, quick=quick, **options)
    return report(found, printed=found.problem.name in ("reuters", "rcv1"))


def outcome(
    data: str = "reuters",
    *,
    folder: str | os.PathLike[str] | None = None,
    quick: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    protocol: Protocol | None = None,
) -> Outcome:
    """Compute what the tables are made of, or read it from the cache; the parameters are those of :func:`run`.

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> found = amit2007.outcome(quick=True)
    >>> found.errors("boosting", "test").shape  # trained with, measured with, example
    (5, 5, 100)
    """
    protocol = protocol or (QUICK if quick else TEXT if data in ("reuters", "rcv1") else Protocol())
    problem = generated_problem(protocol) if quick else load_problem(data, folder, protocol)
    cells = cells_of(problem, protocol)
    kept = None if quick and cache is None else ResultCache(cache)
    parts = (problem.X, problem.Y, problem.X_test, problem.Y_test)
    results = run_cells(compute, cells, *parts, cache=kept, n_jobs=n_jobs, title=f"{NAME} {problem.name}")
    return Outcome(problem, protocol, cells, results)


# --- The data


def load_problem(data: str, folder: str | os.PathLike[str] | None, protocol: Protocol) -> Problem:
    """A data set, its features ready."""
    if data not in DATA or data == "all":
        raise ValueError(f"there is no data set {data!r}; known: {', '.join(DATA)}")
    if data == "rcv1":
        return _rcv1(folder, protocol)
    if data == "reuters":
        return _reuters(_home(None) / "text" if folder is None else Path(folder), protocol)
    return _mulan(data, _home(None) / "multilabel" / data if folder is None else Path(folder))


def _home(folder: str | os.PathLike[str] | None) -> Path:
    home = folder or os.environ.get("LABELRANK_DATA")
    if not home:
        raise ValueError(
            "the data sets do not come with the library: give the folder of the files (folder=, --folder), or set "
            "LABELRANK_DATA; a quick run (quick=True, --quick) needs no files"
        )
    return Path(home)


def _reuters(folder: Path, protocol: Protocol) -> Problem:
    """Pivoted tf-idf and Rocchio selection, fitted on the training documents."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    from labelrank.datasets import read_reuters21578
    from labelrank.features import PivotedTfidfTransformer, RocchioSelector

    reuters = read_reuters21578(folder)
    Y = reuters.target.toarray()
    train, test = reuters.split == "train", reuters.split == "test"
    Y = Y[:, Y[train].sum(axis=0) >= protocol.min_documents]
    train, test = (np.flatnonzero(rows & Y.any(axis=1)) for rows in (train, test))
    # Lower case, words of two and more letters or digits, in at least three documents; no list of stop words.
    features = make_pipeline(
        CountVectorizer(min_df=3), PivotedTfidfTransformer(), RocchioSelector(protocol.terms_per_topic)
    )
    X = features.fit_transform([reuters.data[i] for i in train], Y[train])
    return Problem("reuters", X, Y[train], features.transform([reuters.data[i] for i in test]), Y[test])


def _rcv1(folder: str | os.PathLike[str] | None, protocol: Protocol) -> Problem:
    from labelrank.datasets import fetch_rcv1_topics

    return problem_of_rcv1(fetch_rcv1_topics(data_home=folder), protocol)


def problem_of_rcv1(rcv1: Any, protocol: Protocol) -> Problem:
    """RCV1 as a problem: the older documents to train on, by their numbers, which grow with the date.

    The files hold normalised tf-idf and no counts, so the weights are taken as they are and only the selection of the
    terms is that of the paper.

    Parameters
    ----------
    rcv1 : Bunch
        What :func:`~labelrank.datasets.topics_of_rcv1` returns.
    protocol : Protocol
        Share of the documents to train on, and number of terms per topic.

    Returns
    -------
    Problem
    """
    from labelrank.features import RocchioSelector

    order = np.argsort(rcv1.sample_id, kind="stable")
    train, test = np.split(order, [round(protocol.train_share * len(order))])
    X, Y = sparse.csr_array(rcv1.data), rcv1.target
    selector = RocchioSelector(protocol.terms_per_topic).fit(X[train], Y[train])
    return Problem(
        "rcv1", selector.transform(X[train]), Y[train].toarray(), selector.transform(X[test]), Y[test].toarray()
    )


def _mulan(name: str, folder: Path) -> Problem:
    """Sparse features divided by their largest value, dense ones standardised, as the training data have them."""
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from labelrank.datasets import read_mulan

    train, test = (read_mulan(folder / f"{name}-{part}.arff") for part in ("train", "test"))
    scaler = (MaxAbsScaler() if sparse.issparse(train.data) else StandardScaler()).fit(train.data)
    return Problem(
        name, scaler.transform(train.data), _dense(train.target), scaler.transform(test.data), _dense(test.target)
    )


def _dense(Y: Any) -> npt.NDArray[np.uint8]:
    return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=np.uint8)


def generated_problem(protocol: Protocol) -> Problem:
    """Documents for a quick run."""
    from labelrank.datasets import make_multilabel_hierarchy
    from labelrank.features import RocchioSelector

    X, Y, _ = make_multilabel_hierarchy(400, 200, n_labels=10, random_state=protocol.seed)
    selector = RocchioSelector(protocol.terms_per_topic).fit(X[:300], Y[:300])
    return Problem(
        "generated", selector.transform(X[:300]), _dense(Y[:300]), selector.transform(X[300:]), _dense(Y[300:])
    )


# --- The cells


def cells_of(problem: Problem, protocol: Protocol) -> list[dict[str, Any]]:
    """One cell per way of minimising and covering."""
    boosting = {"solver": "boosting", "max_iter": protocol.rounds, "smoothing": protocol.smoothing, "tol": 0.0}
    lbfgs = {"solver": "lbfgs", "max_iter": protocol.max_iter, "tol": protocol.tol}
    alphas = {"boosting": [0.0], "lbfgs": list(protocol.alphas)}
    parts = (problem.X, problem.Y, problem.X_test, problem.Y_test)
    common = {
        "experiment": NAME,
        "version": VERSION,
        "data": [problem.name, fingerprint(*parts)],
        "seed": protocol.seed,
    }
    return [
        {**common, "learner": {"covering": covering, **solver}, "alphas": alphas[str(solver["solver"])]}
        for solver in (boosting, lbfgs)
        for covering in COVERINGS
    ]


def compute(cell: Cell, X: Any, Y: Any, X_test: Any, Y_test: Any) -> Numbers:
    """Train with one covering, with each penalty, and measure everything on the training data and on the test data.

    So that one penalty can be chosen, each is tried on a fifth of the training data, trained on the rest.
    """
    start = time.perf_counter()
    numbers: Numbers = {}
    learner = cell["learner"]
    parts = {"train": (X, Y), "test": (X_test, Y_test)}
    if learner["solver"] == "boosting":
        watch = Watch(parts)
        numbers["curves"] = watch.curves
        models = iter([_fit(_classifier(learner).set_callbacks(watch), X, Y)])
    else:
        numbers["held_out"] = _held_out_errors(cell, X, Y)
        models = _path(learner, cell["alphas"], X, Y)
    numbers["path"] = [_measured(model, parts) for model in models]
    return {**numbers, "seconds": time.perf_counter() - start}


def _measured(model: Any, parts: Parts) -> Numbers:
    numbers: Numbers = {
        "alpha": float(model.alpha),
        "n_iter": int(model.n_iter_),
        "gap": float(model.gap_),
        "loss": float(model.loss_curve_[-1]),
    }
    for part, (X, Y) in parts.items():
        scores = model.decision_function(X)
        missed, added = mistakes(Y, scores)
        numbers[part] = {"measures": measures(Y, scores), "missed": _pack(missed), "added": _pack(added)}
    return numbers


def _classifier(learner: Cell, **options: Any) -> Any:
    from labelrank.rankers import LabelCoveringClassifier

    return LabelCoveringClassifier(**learner, **options)


def _fit(model: Any, X: Any, Y: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap it reached is among the numbers
        return model.fit(X, Y)


def _path(learner: Cell, alphas: Sequence[float], X: Any, Y: Any) -> Iterator[Any]:
    """The classifier after training with each penalty, each time starting from what the last one left."""
    model = _classifier(learner, warm_start=True)
    for alpha in alphas:
        yield _fit(model.set_params(alpha=alpha), X, Y)


def _held_out_errors(cell: Cell, X: Any, Y: Any) -> list[float]:
    """The error with each penalty on a fifth of the examples."""
    covering = cell["learner"]["covering"]
    fit, rest = fold_of(len(Y), n_folds=5, fold=0, seed=cell["seed"])
    path = _path(cell["learner"], cell["alphas"], X[fit], Y[fit])
    return [float(covering_errors(*mistakes(Y[rest], m.decision_function(X[rest])))[covering].mean()) for m in path]


class Watch:
    """Callback that notes the five covering errors before the first round and after each."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.curves: dict[str, dict[str, list[float]]] = {part: {name: [] for name in COVERINGS} for part in parts}
        for part, (_, Y) in parts.items():
            self._note(part, np.zeros(Y.shape))

    def _note(self, part: str, scores: Any) -> None:
        for name, errors in covering_errors(*mistakes(self.parts[part][1], scores)).items():
            self.curves[part][name].append(float(errors.mean()))

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clean up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to note yet."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Note the errors after a round."""
        if "iteration" in context.task_name:
            for part, (X, _) in self.parts.items():
                self._note(part, fitted_estimator.decision_function(X))


def mistakes(Y: Any, scores: Any) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """For each example, how many relevant labels are missed and how many others are added.

    Examples
    --------
    >>> from labelrank.experiments.amit2007 import mistakes
    >>> mistakes([[1, 1, 0], [0, 0, 1]], [[1.0, -1.0, -2.0], [3.0, 1.0, 0.0]])
    (array([1, 1]), array([0, 2]))
    """
    relevant, predicted = np.asarray(Y) > 0, np.asarray(scores) > 0
    return (relevant & ~predicted).sum(axis=1), (predicted & ~relevant).sum(axis=1)


def covering_errors(missed: Any, added: Any) -> dict[str, FloatArray]:
    """The five covering errors of each example, from the numbers of missed and of added labels.

    The five coverings treat all relevant labels alike, and all others, so these two numbers are enough. The means are
    those of :func:`labelrank.metrics.covering_error`.

    Examples
    --------
    >>> from labelrank.experiments.amit2007 import covering_errors
    >>> {name: errors.tolist() for name, errors in covering_errors([2, 0], [1, 0]).items()}
    {'zero_one': [1.0, 0.0], 'hamming': [3.0, 0.0], 'two_sets': [2.0, 0.0], 'weighted_positive': [7.0, 0.0],
     'weighted_negative': [6.0, 0.0]}
    """
    from labelrank.decompositions import get_covering

    errors = {}
    for name in COVERINGS:
        covering: Any = get_covering(name)
        sides = []
        for how, weight, wrong in (
            (covering.positive, covering.positive_weight, missed),
            (covering.negative, covering.negative_weight, added),
        ):
            sides.append(weight * np.minimum(wrong, 1 if how == "together" else np.inf))
        errors[name] = np.maximum(*sides) if covering.joined else sides[0] + sides[1]
    return errors


def measures(Y: Any, scores: Any) -> dict[str, float]:
    """The eight numbers of a row: covering errors, one-error, coverage (counted from 1), average precision."""
    from labelrank.metrics import average_precision, coverage, one_error

    numbers = {name: float(errors.mean()) for name, errors in covering_errors(*mistakes(Y, scores)).items()}
    numbers |= {metric.__name__: float(metric(Y, scores)) for metric in (one_error, coverage, average_precision)}
    return numbers


def _pack(counts: Any) -> str:
    """Small numbers as a short text."""
    return base64.b64encode(zlib.compress(np.asarray(counts, dtype="<u2").tobytes(), 9)).decode()


def _unpack(text: str) -> npt.NDArray[np.uint16]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u2")


# --- What came out


@dataclass(frozen=True)
class Outcome:
    """The numbers of all cells of one problem."""

    problem: Problem
    protocol: Protocol
    cells: Sequence[Cell]
    results: Sequence[Numbers]

    def of(self, way: str) -> list[Numbers]:
        """What one of the `WAYS` of minimising gave, for each covering."""
        solver = "boosting" if way == "boosting" else "lbfgs"
        found = {}
        for cell, numbers in zip(self.cells, self.results, strict=True):
            if cell["learner"]["solver"] == solver:
                # Of equals the larger penalty, which comes first; the smallest where all coverings get the same.
                at = int(np.argmin(numbers["held_out"])) if way == "chosen" else -1
                found[cell["learner"]["covering"]] = {**numbers, **numbers["path"][at]}
        return [found[covering] for covering in COVERINGS]

    def measures(self, way: str, part: str) -> FloatArray:
        """Array of shape (trained with, the eight measures)."""
        return np.array([[numbers[part]["measures"][name] for name in MEASURES] for numbers in self.of(way)])

    def errors(self, way: str, part: str) -> FloatArray:
        """The covering errors, of shape (trained with, measured with, example)."""
        counts = [(_unpack(numbers[part]["missed"]), _unpack(numbers[part]["added"])) for numbers in self.of(way)]
        return np.array([list(covering_errors(*each).values()) for each in counts])

    def curves(self, part: str = "train") -> FloatArray:
        """The errors as boosting goes on, of shape (trained with, measured with, 1 + rounds)."""
        return np.array([[numbers["curves"][part][name] for name in COVERINGS] for numbers in self.of("boosting")])

    def diagonal(self, way: str, part: str) -> Diagonal:
        """Where the diagonal wins."""
        return compare_diagonal(self.errors(way, part))


@dataclass(frozen=True)
class Diagonal:
    """The diagonal of a table against the other rows, column by column."""

    difference: FloatArray  #: error of the diagonal minus that of the row, of shape (row, column)
    p: FloatArray  #: of this difference, two-sided; NaN on the diagonal and where all examples agree

    @property
    def best(self) -> BoolArray:
        """Columns in which the diagonal is smaller than all other rows."""
        return np.asarray(((self.difference < 0) | self._itself).all(axis=0))

    @property
    def clearly_best(self) -> BoolArray:
        """Columns in which it is smaller than all other rows, with p < 0.01 for each."""
        return np.asarray(((self.difference < 0) & (self.p < SIGNIFICANT) | self._itself).all(axis=0))

    @property
    def clearly_beaten(self) -> BoolArray:
        """Columns in which another row is smaller with p < 0.01."""
        return np.asarray(((self.difference > 0) & (self.p < SIGNIFICANT)).any(axis=0))

    @property
    def _itself(self) -> BoolArray:
        return np.eye(len(self.p), dtype=bool)


def compare_diagonal(errors: Any) -> Diagonal:
    """Compare the diagonal of a table with the other rows of each column.

    Parameters
    ----------
    errors : array-like of shape (n, n, n_examples)
        Row: what was trained with; column: what is measured; for each example.

    Returns
    -------
    Diagonal

    Examples
    --------
    >>> from labelrank.experiments.amit2007 import compare_diagonal
    >>> errors = [[[0, 0, 0, 1], [1, 0, 1, 0]], [[1, 1, 1, 1], [1, 0, 0, 1]]]
    >>> diagonal = compare_diagonal(errors)
    >>> diagonal.best, diagonal.clearly_best
    (array([ True, False]), array([False, False]))
    >>> diagonal.p.round(3)
    array([[  nan, 1.   ],
           [0.058,   nan]])
    """
    errors = np.asarray(errors, dtype=np.float64)
    n = len(errors)
    difference, p = np.zeros((n, n)), np.full((n, n), np.nan)
    for row, column in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
        # The examples are independent, so nothing is to be corrected for shared training data.
        paired = paired_comparison(errors[column, column], errors[row, column], test_share=0.0)
        difference[row, column], p[row, column] = paired.difference, paired.p
    return Diagonal(difference, p)


# --- The tables


class MeasureTable(Table):
    """A table whose last column, average precision, is best when it is largest."""

    def is_best(self) -> BoolArray:
        """Which means are the best of their column."""
        last = self.mean()[:, -1]
        best = super().is_best()
        best[:, -1] = last == last.max()
        return best


def report(found: Outcome, *, printed: bool = True) -> Report:
    """The table of the paper, the comparison behind its claim, and how far the loss was minimised."""
    tables: list[Table] = []
    for way, title in _titles(found.protocol).items():
        tables += [
            _table(f"{title}: test data", found.measures(way, "test"), printed),
            _p_values(f"{title}: p of the diagonal against the row, test data", found, way, "test"),
            _table(f"{title}: training data", found.measures(way, "train"), False),
            _p_values(f"{title}: p of the diagonal against the row, training data", found, way, "train"),
            _solving(f"{title}: how far it was minimised", found, way),
        ]
    return Report(_protocol([found], printed), [*tables, _counts([found])], _findings(found))


def summary(outcomes: Sequence[Outcome]) -> Report:
    """How often the diagonal wins, on several data sets, and their tables on test data."""
    tables = [
        _table(f"{each.problem.name}, {title}: test data", each.measures(way, "test"), False)
        for each in outcomes
        for way, title in _titles(each.protocol).items()
    ]
    findings = [f"{each.problem.name}, {line}" for each in outcomes for line in _findings(each)]
    return Report(_protocol(outcomes, False), [_counts(outcomes), *tables], findings)


def _titles(protocol: Protocol) -> dict[str, str]:
    details = {"boosting": f", {protocol.rounds} rounds", "same": f" of {protocol.alphas[-1]:g}"}
    return {way: words + details.get(way, "") for way, words in WAYS.items()}


def _protocol(outcomes: Sequence[Outcome], printed: bool) -> list[str]:
    return [
        *[f"{each.problem.size}; {_solvers(each.protocol)}" for each in outcomes],
        "boosting with the parallel template; of the penalties, the one with the smallest error, of the covering "
        "that is trained with, on a fifth of the training data, or the smallest for all",
        "rows: the covering that was trained with, columns: the error; best of each column marked; coverage is counted "
        "from 1" + (", in the paper from 0" if printed else ""),
        "p: paired t-test over the examples, two-sided, not corrected for the number of tests",
    ]


def _solvers(protocol: Protocol) -> str:
    penalties = ", ".join(format(alpha, "g") for alpha in protocol.alphas)
    smoothing = f" with smoothing {protocol.smoothing:g}" if protocol.smoothing else ""
    return (
        f"{protocol.rounds} rounds of boosting{smoothing}; {protocol.max_iter} iterations of L-BFGS for each of the "
        f"penalties {penalties}"
    )


def _table(title: str, values: FloatArray, printed: bool) -> Table:
    columns = list(MEASURES.values())
    return MeasureTable(title, "trained", SHORT, columns, values[:, :, None], PRINTED if printed else None)


def _p_values(title: str, found: Outcome, way: str, part: str) -> Table:
    return Table(title, "trained", SHORT, SHORT, found.diagonal(way, part).p[:, :, None], best=None)


def _solving(title: str, found: Outcome, way: str) -> Table:
    """Seconds are those of the whole cell: all penalties, twice; for boosting the errors after every round."""
    columns = {"alpha": "penalty", "n_iter": "iterations", "gap": "gap", "loss": "mean loss", "seconds": "seconds"}
    values = [[[numbers[name]] for name in columns] for numbers in found.of(way)]
    return Table(title, "trained", SHORT, list(columns.values()), values, digits=(1, 0, 5, 4, 0), best=None)


def _counts(outcomes: Sequence[Outcome]) -> Table:
    """For how many of the five errors the diagonal is best, is so significantly, and is beaten significantly."""
    rows, values = [], []
    for each in outcomes:
        for way, words in WAYS.items():
            rows.append(f"{each.problem.name}, {words}")
            both = [each.diagonal(way, part) for part in PARTS]
            values.append([[int(c.sum())] for d in both for c in (d.best, d.clearly_best, d.clearly_beaten)])
    columns = [f"{part}: {what}" for part in PARTS for what in ("best", "p < 0.01", "beaten")]
    title = "for how many of the five errors the diagonal is best, is best with p < 0.01, is beaten with p < 0.01"
    return Table(title, "data", rows, columns, values, digits=0, best=None)


def _findings(found: Outcome) -> list[str]:
    lines = []
    for way, words in WAYS.items():
        for part, where in PARTS.items():
            diagonal = found.diagonal(way, part)
            said = [
                f"{what} {int(columns.sum())}{_named(columns)}"
                for what, columns in (
                    ("best on", diagonal.best),
                    ("with p < 0.01 against each other row on", diagonal.clearly_best),
                    ("beaten by another row with p < 0.01 on", diagonal.clearly_beaten),
                )
            ]
            lines.append(f"{words}, {where}, of five errors the diagonal is " + "; ".join(said))
    return [*lines, *_against_hamming(found), *_over_rounds(found)]


def _against_hamming(found: Outcome) -> list[str]:
    """What training with the covering of the error brings, compared with training with the Hamming covering."""
    lines = []
    hamming = list(COVERINGS).index("hamming")
    for way, words in WAYS.items():
        diagonal, errors = found.diagonal(way, "test"), found.measures(way, "test")
        changes = [
            f"{name} {100 * diagonal.difference[hamming, j] / errors[hamming, j]:+.1f} % (p = {p:.2g})"
            for j, (name, p) in enumerate(zip(SHORT, diagonal.p[hamming], strict=True))
            if j != hamming and errors[hamming, j] > 0
        ]
        lines.append(f"{words}, test data, the diagonal compared with HM: " + ", ".join(changes))
    return lines


def _named(columns: BoolArray) -> str:
    names = [name for name, there in zip(SHORT, columns, strict=True) if there]
    return f" ({', '.join(names)})" if names else ""


def _over_rounds(found: Outcome) -> list[str]:
    """For how many errors the diagonal is best, as boosting goes on."""
    lines = []
    for part, where in PARTS.items():
        curves = found.curves(part)
        rounds = [n for n in (5, 10, 20, 50, 100, 200, 500, 1000) if n < curves.shape[2]]
        counts = [int(compare_diagonal(curves[:, :, [n]]).best.sum()) for n in rounds]
        listed = ", ".join(f"{count} after {n}" for n, count in zip(rounds, counts, strict=True))
        lines.append(f"boosting, {where}, the diagonal is best on {listed} rounds")
    return lines


# --- The picture


def plot_training_errors(found: Outcome, *, axes: Any = None) -> Any:
    """Draw Figure 3: the covering errors on the training data by round, one panel per error, one line per covering.

    Parameters
    ----------
    found : Outcome
        What :func:`outcome` returns.
    axes : sequence of five matplotlib axes, optional
        A new figure by default.

    Returns
    -------
    ndarray of matplotlib axes

    Examples
    --------
    >>> from labelrank.experiments import amit2007
    >>> axes = amit2007.plot_training_errors(amit2007.outcome(quick=True))
    >>> [axis.get_title() for axis in axes]
    ['ZO', 'HM', 'TS', 'WP', 'WN']
    """
    from matplotlib.figure import Figure

    curves = found.curves()
    if axes is None:
        axes = Figure(figsize=(13, 3.0), layout="constrained").subplots(1, len(SHORT))
    axes = np.atleast_1d(axes)
    if len(axes) != len(SHORT):
        raise ValueError(f"axes has {len(axes)} entries; five are needed, one for each error")
    rounds = np.arange(curves.shape[2])
    for j, axis in enumerate(axes):
        for i, name in enumerate(SHORT):
            # The line that the paper says is the lowest is the thick one.
            axis.plot(rounds, curves[i, j], color=COLOURS[i], linewidth=2.4 if i == j else 1.1, label=name)
        axis.set(title=SHORT[j], xlabel="round", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("error on the training data")
    legend = axes[-1].legend(title="trained with", loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    for line in legend.get_lines():
        line.set_linewidth(1.8)
    return axes


COLOURS = ("#222222", "#0072B2", "#009E73", "#D55E00", "#CC79A7")  # Okabe and Ito


def main() -> None:
    """Run from the command line."""
    command(run, "The table of Amit, Dekel and Singer (2007).", DATA)


if __name__ == "__main__":
    main()
