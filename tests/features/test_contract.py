"""What all transformers of text owe to scikit-learn: its checks, names, pipelines, sparse in and sparse out."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import LogLinearRanker, PreferenceGraphs
from labelrank.features import BoostingSelector, LogCountTransformer, PivotedTfidfTransformer, RocchioSelector

WEIGHTS = [LogCountTransformer(), PivotedTfidfTransformer()]
SELECTORS = [RocchioSelector(1), BoostingSelector(1)]
every_transformer = pytest.mark.parametrize("transformer", [*WEIGHTS, *SELECTORS], ids=lambda t: type(t).__name__)
every_format = pytest.mark.parametrize(
    "container",
    [
        getattr(sparse, f"{kind}_{api}")
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")
        for api in ("array", "matrix")
    ],
)

COUNTS = np.array([[3, 0, 1, 0], [0, 2, 0, 0], [0, 0, 0, 0], [1, 1, 5, 0], [3, 0, 1, 0]])
Y = PreferenceGraphs.from_multilabel([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 0], [1, 0, 0]])


class TfidfOfRoundedCounts(PivotedTfidfTransformer):
    """For checks that draw numbers between 0 and 1, which the formula has no value for."""

    def fit(self, X, y=None):
        return super().fit(_rounded_up(X))

    def transform(self, X):
        return super().transform(_rounded_up(X))


def _rounded_up(X):
    if sparse.issparse(X):
        return X
    if isinstance(X, pd.DataFrame):
        return np.ceil(X)
    values = np.asarray(X)
    try:
        return np.ceil(values.astype(float) if values.dtype.kind == "O" else values)
    except (TypeError, ValueError):  # what is no number is for the transformer to refuse
        return X


class BoostingSelectorOfClasses(BoostingSelector):
    """For checks that pass a vector for y whatever the tags say; with classes the scores are not all 0 either."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        if y is not None and np.asarray(y).dtype.kind != "c":
            y = PreferenceGraphs.from_multiclass(np.ravel(np.asarray(y)))
        return super().fit(X, y, sample_weight)


def not_for_it(estimator):
    """Checks whose data are not what an estimator is for; the classes above pass them."""
    if type(estimator) is BoostingSelector:
        names = ("transformer_data_not_an_array", "transformer_general", "transformer_preserve_dtypes")
        return {f"check_{name}": "passes a vector for y" for name in names}
    if type(estimator) is PivotedTfidfTransformer:
        names = (
            "dtype_object",
            "estimators_pickle",
            "fit_score_takes_y",
            "pipeline_consistency",
            "transformer_data_not_an_array",
            "transformer_general",
            "transformer_preserve_dtypes",
        )
        return {f"check_{name}": "draws shares, not counts" for name in names}
    return {}


@pytest.mark.filterwarnings("ignore:y has no observed pair:UserWarning")
@parametrize_with_checks(
    [
        LogCountTransformer(),
        PivotedTfidfTransformer(),
        TfidfOfRoundedCounts(),
        RocchioSelector(),
        RocchioSelector(k_per_label=1),
        BoostingSelector(n_features=1),
        BoostingSelectorOfClasses(n_features=2, decomposition="zero_one"),
    ],
    expected_failed_checks=not_for_it,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_transformer
@every_format
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
def test_every_format_gives_csr_of_the_same_numbers(transformer, container, dtype):
    X = container(COUNTS.astype(dtype))
    before = X.toarray()
    fitted = clone(transformer).fit(X, Y)
    found = fitted.transform(X)
    assert sparse.issparse(found)
    assert found.format == "csr"
    dense = clone(transformer).fit(COUNTS.astype(dtype), Y).transform(COUNTS.astype(dtype))
    assert isinstance(dense, np.ndarray)
    assert found.dtype == dense.dtype
    assert_array_equal(found.toarray(), dense)
    assert_array_equal(X.toarray(), before)
    assert_array_equal(clone(transformer).fit_transform(X, Y).toarray(), dense)


@every_transformer
def test_explicit_zeros_duplicates_and_the_order_of_entries_do_not_matter(transformer):
    # Row 0: 3 = 1 + 2 at column 0, an explicit zero at 1, the columns in any order.
    data = [1, 1, 0, 2, 2, 1, 5, 1, 3, 1, 0]
    indices = [2, 0, 1, 0, 1, 0, 2, 1, 0, 2, 3]
    X = sparse.csr_array((np.array(data), np.array(indices), np.array([0, 4, 5, 5, 8, 11])), shape=COUNTS.shape)
    assert_array_equal(X.toarray(), COUNTS)
    copy = [array.copy() for array in (X.data, X.indices, X.indptr)]
    X.data.flags.writeable = X.indices.flags.writeable = X.indptr.flags.writeable = False
    expected = clone(transformer).fit_transform(COUNTS, Y)
    assert_array_equal(clone(transformer).fit_transform(X, Y).toarray(), expected)
    for array, kept in zip((X.data, X.indices, X.indptr), copy, strict=True):
        assert_array_equal(array, kept)


def test_small_integers_do_not_overflow_when_entries_are_added():
    X = sparse.coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [0, 0])), shape=(1, 1))
    np.testing.assert_allclose(LogCountTransformer().fit_transform(X).toarray(), [[np.log(200) + 1]])


@pytest.mark.parametrize("transformer", WEIGHTS, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_negative_counts_are_refused_where_they_are(transformer, container):
    X = COUNTS.copy()
    X[3, 1] = -2
    message = rf"Negative values in data passed to {type(transformer).__name__}: X holds -2.0 in row 3, column 1"
    with pytest.raises(ValueError, match=message):
        clone(transformer).fit(container(X))
    with pytest.raises(ValueError, match=message):
        clone(transformer).fit(COUNTS).transform(container(X))


@every_transformer
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(transformer, bad):
    X = COUNTS.astype(float)
    X[1, 1] = bad
    for given in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            clone(transformer).fit(given, Y)
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            clone(transformer).fit(COUNTS, Y).transform(given)


@every_transformer
def test_another_number_of_features_is_refused(transformer):
    with pytest.raises(ValueError, match="X has 3 features, but"):
        clone(transformer).fit(COUNTS, Y).transform(sparse.csr_array(COUNTS[:, :3]))


@pytest.mark.parametrize("transformer", [PivotedTfidfTransformer(), *SELECTORS], ids=lambda t: type(t).__name__)
def test_not_fitted(transformer):
    with pytest.raises(NotFittedError):
        clone(transformer).transform(COUNTS)


def test_log_counts_need_no_fit():
    np.testing.assert_allclose(LogCountTransformer().transform([[1, 0]]), [[1, 0]])


@every_transformer
def test_names_and_data_frames(transformer):
    names = ["tax", "law", "goal", "the"]
    frame = pd.DataFrame(COUNTS, columns=names)
    fitted = clone(transformer).set_output(transform="pandas").fit(frame, Y)
    found = fitted.transform(frame)
    assert found.columns.tolist() == fitted.get_feature_names_out().tolist()
    kept = fitted.get_support() if hasattr(fitted, "get_support") else slice(None)
    assert found.columns.tolist() == np.array(names)[kept].tolist()
    assert_array_equal(found.to_numpy(), clone(transformer).fit_transform(COUNTS, Y))


@every_transformer
def test_pickle_keeps_everything(transformer):
    fitted = clone(transformer).fit(COUNTS, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(COUNTS), fitted.transform(COUNTS))


TEXTS = [
    "tax on income and tax on land",
    "the court and the law of the land",
    "a goal in the last minute",
    "the law on tax",
    "a court case on a goal",
    "income tax law",
] * 3
TOPICS = [{"tax"}, {"law"}, {"sport"}, {"tax", "law"}, {"law", "sport"}, {"tax", "law"}] * 3


@pytest.mark.parametrize(
    "steps",
    [
        [LogCountTransformer(), BoostingSelector(8)],
        [PivotedTfidfTransformer(), RocchioSelector(3)],
        [LogCountTransformer(), RocchioSelector(3), BoostingSelector(4)],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
def test_from_texts_to_rankings(steps):
    graphs = PreferenceGraphs.from_multilabel(TOPICS)
    model = make_pipeline(CountVectorizer(), *steps, LogLinearRanker(solver="lbfgs", alpha=0.1, max_iter=200))
    assert model.fit(TEXTS, graphs).score(TEXTS, graphs) == 1
    names = model[:-1].get_feature_names_out()
    assert len(names) == model[-1].n_features_in_ < len(model[0].vocabulary_)
    assert {"tax", "law", "goal"} <= set(names)
    assert cross_val_score(model, TEXTS, graphs, cv=3).mean() > 0.9


def test_parameters_are_searched():
    model = make_pipeline(
        CountVectorizer(), LogCountTransformer(), RocchioSelector(), LogLinearRanker(max_iter=5, tol=1)
    )
    search = GridSearchCV(model, {"rocchioselector__k_per_label": [1, 3]}, cv=3)
    search.fit(TEXTS, PreferenceGraphs.from_multilabel(TOPICS))
    assert search.best_params_["rocchioselector__k_per_label"] in (1, 3)


@every_transformer
def test_memory_stays_far_below_a_dense_matrix(transformer):
    n, d, labels = 4000, 20_000, 10
    rng = np.random.default_rng(0)
    X = sparse.random_array(
        (n, d), density=1e-3, rng=rng, format="csr", data_sampler=lambda size: rng.integers(1, 9, size)
    )
    graphs = PreferenceGraphs.from_multilabel(rng.random((n, labels)) < 0.2)
    clone(transformer).fit(COUNTS, Y)  # compiles
    tracemalloc.start()
    clone(transformer).fit_transform(X, graphs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 25e6 < n * d * 8 / 20
