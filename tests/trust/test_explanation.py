"""Explanations: contributions add up, in the features that went in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, PolynomialFeatures, StandardScaler

from labelrank import (
    ConformalRanker,
    ConstraintClassificationRanker,
    DecisionTreeRanker,
    ExtraTreesRanker,
    GradientBoostingRanker,
    GraphRanker,
    KernelRidgeRanker,
    KNeighborsRanker,
    LogLinearRanker,
    PairwiseRanker,
    PreferenceGraphs,
    RandomForestRanker,
    SoftProjectionRanker,
    explain,
)
from labelrank.auto import WeightedRanker, pipeline_for
from labelrank.datasets import make_label_ranking
from labelrank.trust.origins import origins

X, Y = make_label_ranking(300, 4, n_labels=4, random_state=0)
NAMES = ["north", "south", "east", "west"]
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(color=np.where(X[:, 0] > 0, "red", "blue"))
RANKS = pd.DataFrame(Y, columns=NAMES)


def adds_up(explanation, model, x, a, b):
    scores = model.decision_function(x)[0]
    assert explanation.difference == pytest.approx(scores[a] - scores[b])
    return explanation.base + explanation.contributions.sum() == pytest.approx(explanation.difference, abs=1e-8)


@pytest.mark.parametrize(
    ("ranker", "method"),
    [
        (LogLinearRanker(), "linear"),
        (GraphRanker(), "linear"),
        (SoftProjectionRanker(), "linear"),
        (ConstraintClassificationRanker(), "linear"),
        (DecisionTreeRanker(), "path"),
        (RandomForestRanker(10, random_state=0), "path"),
        (ExtraTreesRanker(10, random_state=0), "path"),
        (GradientBoostingRanker(max_iter=10), "path"),
    ],
)
def test_contributions_add_up(ranker, method):
    ranker.fit(X, RANKS)
    for row in (0, 7):
        found = explain(ranker, X[row], "west", "north")
        assert found.method == method
        assert adds_up(found, ranker, X[[row]], 3, 0)


def test_in_the_features_before_a_scaler_and_one_hot_columns():
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c", "d"]), (OneHotEncoder(), ["color"])
    )
    model = make_pipeline(columns, VarianceThreshold(), LogLinearRanker()).fit(FRAME, RANKS)
    found = explain(model, FRAME.iloc[[5]], "north", "east")
    assert found.items == ["a", "b", "c", "d", "color"]
    assert found.values[4] == FRAME.color[5]
    assert adds_up(found, model, FRAME.iloc[[5]], 0, 2)
    weights = model[-1].coef_[0] - model[-1].coef_[2]
    assert found.contributions[1] == pytest.approx(weights[1] * (FRAME.b[5] - FRAME.b.mean()) / FRAME.b.std(ddof=0))


def test_through_searches_and_conformal_rankers():
    pipeline = make_pipeline(MinMaxScaler(), LogLinearRanker())
    search = GridSearchCV(ConformalRanker(pipeline, random_state=0), {"alpha": [0.1]}, cv=2).fit(X, RANKS)
    found = explain(search, X[0], "north", "south")
    assert found.items == ["x0", "x1", "x2", "x3"]
    assert adds_up(found, search, X[[0]], 0, 1)


def test_transformed_features_where_columns_are_mixed():
    model = make_pipeline(StandardScaler(), PCA(3, random_state=0), LogLinearRanker()).fit(X, RANKS)
    found = explain(model, X[0], "north", "south")
    assert found.items == ["pca0", "pca1", "pca2"]
    assert adds_up(found, model, X[[0]], 0, 1)


def test_sparse_rows():
    S = sparse.csr_array(np.where(X > 0, X, 0))
    model = LogLinearRanker().fit(S, RANKS)
    assert adds_up(explain(model, S[[3]], "north", "south"), model, S[[3]], 0, 1)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_permutations_add_up_from_a_background(kind):
    model = make_pipeline(StandardScaler(), KernelRidgeRanker(kernel="rbf")).fit(X, Y)
    model.set_output(transform="default")
    frame = kind(X) if kind is np.asarray else kind({name: X[:, i] for i, name in enumerate("abcd")})
    model.fit(frame, Y)
    with pytest.raises(ValueError, match="KernelRidgeRanker has no exact explanation; pass background"):
        explain(model, frame[:1], 0, 1)
    found = explain(model, frame[:1], 0, 1, background=frame[:50], n_permutations=20)
    assert found.method == "permutation"
    assert adds_up(found, model, frame[:1], 0, 1)
    assert "estimated" in str(found)


def test_pairwise_rankers_are_explained_by_permutations():
    model = PairwiseRanker(LogisticRegression()).fit(X, Y)
    found = explain(model, X[0], 0, 1, background=X[:20], n_permutations=5)
    assert adds_up(found, model, X[[0]], 0, 1)


def test_permutations_estimate_the_shapley_values_of_linear_models():
    model = LogLinearRanker().fit(X, Y)
    background = X[:1]  # with one row and a linear model every permutation gives the Shapley values
    found = explain(model, X[1], 0, 1, background=background, n_permutations=3)
    assert found.contributions == pytest.approx((model.coef_[0] - model.coef_[1]) * (X[1] - X[0]))


def test_neighbors_are_listed_with_their_votes():
    model = KNeighborsRanker(5).fit(X, RANKS)
    found = explain(model, X[0] + 0.01, "north", "south")
    distance = np.linalg.norm(X - X[0] - 0.01, axis=1)
    nearest = np.argsort(distance)[:5]
    assert found.items == [f"row {row}" for row in nearest]
    assert found.values == pytest.approx(np.sort(distance)[:5])
    assert found.contributions == pytest.approx(np.sign(Y[nearest, 1] - Y[nearest, 0]) / 5)
    assert found.to_frame().shape == (5, 3)
    battles = PreferenceGraphs.from_pairs(
        np.arange(300), np.where(Y[:, 0] < Y[:, 1], 0, 1), np.where(Y[:, 0] < Y[:, 1], 1, 0)
    )
    assert explain(KNeighborsRanker(5).fit(X, battles), X[0] + 0.01, 0, 1).contributions == pytest.approx(
        found.contributions
    )


def test_text_frame_and_picture():
    model = LogLinearRanker().fit(FRAME.drop(columns="color"), RANKS)
    found = explain(model, FRAME.drop(columns="color").iloc[[0]], "north", "south")
    lines = str(found).splitlines()
    assert lines[0].startswith(f"north {'before' if found.difference > 0 else 'after'} south: {found.difference:+.4g}")
    assert len(lines) == 5
    frame = found.to_frame()
    assert list(frame.columns) == ["item", "value", "contribution"]
    assert (np.diff(np.abs(frame["contribution"])) <= 0).all()
    ax = found.plot(max_items=2)
    assert [text.get_text().split(" ")[0] for text in ax.get_yticklabels()][-2:] == ["2", "base"]
    drawn = sum(bar.get_width() for bar in ax.patches)
    assert drawn == pytest.approx(found.difference)


@pytest.mark.parametrize(
    ("transformer", "expected"),
    [
        (StandardScaler(), [0, 1, 2]),
        (OneHotEncoder(drop="if_binary"), [0, 1, 1, 1, 2]),
        (make_union(StandardScaler(), OneHotEncoder()), [0, 1, 2, 0, 0, 1, 1, 1, 2, 2]),
        (make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough"), [1, 1, 1, 0, 2]),
        (make_column_transformer((StandardScaler(), slice(0, 2)), remainder="drop"), [0, 1]),
        (SimpleImputer(missing_values=6, add_indicator=True), [0, 1, 2, 2]),  # the indicator is of the last column
        (PCA(2), None),
    ],
)
def test_origins(transformer, expected):
    data = np.array([[0, 1, 5], [1, 2, 6], [0, 3, 5], [1, 1, 6]])
    found = origins(transformer.fit(data), 3)
    assert found is None if expected is None else found.tolist() == expected


def test_columns_in_another_order_and_more_of_them():
    columns = make_column_transformer((StandardScaler(), ["d", "b", "a"]), (OneHotEncoder(), ["color"]))
    model = make_pipeline(columns, LogLinearRanker()).fit(FRAME, RANKS)
    first = explain(model, FRAME[:1], "north", "east")
    expected = dict(zip(first.items, first.contributions, strict=True))
    for x in (FRAME[["color", "d", "c", "b", "a"]][:1], FRAME.assign(z=1)[["z", *FRAME.columns]][:1], FRAME.iloc[0]):
        found = explain(model, x, "north", "east")
        assert dict(zip(found.items, found.contributions, strict=True)) == pytest.approx(expected)
    assert isinstance(found.to_frame(), pd.DataFrame)


def test_texts():
    texts = ["printer crash", "screen dark", "printer slow", "network down"] * 10
    y = np.tile([[1, 2], [2, 1], [1, 2], [2, 1]], (10, 1))
    model = make_pipeline(TfidfVectorizer(), LogLinearRanker()).fit(texts, y)
    for x in (["printer crash"], "printer crash"):
        found = explain(model, x, 0, 1)
        assert found.items[int(np.argmax(found.contributions))] == "printer"
        assert found.base + found.contributions.sum() == pytest.approx(found.difference)


def test_names_of_mixed_columns():
    model = make_pipeline(PolynomialFeatures(2), StandardScaler(), LogLinearRanker()).fit(X, RANKS)
    assert explain(model, X[0], "north", "south").items[:3] == ["1", "x0", "x1"]
    assert origins(Normalizer().fit(X), 4) is None


def test_the_order_is_that_of_the_prediction():
    model = KNeighborsRanker(4).fit(X, RANKS)
    ranks = model.predict(X)
    for row in range(30):
        found = explain(model, X[row], "north", "south")
        assert found.order == ("before" if ranks[row, 0] < ranks[row, 1] else "after")


def test_columns_may_have_numbers_for_names():
    frame = pd.DataFrame(X)
    model = KernelRidgeRanker(kernel="rbf").fit(frame, Y)
    found = explain(model, frame[:1], 0, 1, background=frame[:5], n_permutations=3)
    assert found.items == ["0", "1", "2", "3"]
    assert found.values == X[0].tolist()
    assert adds_up(found, model, frame[:1], 0, 1)


class Ensemble(LogLinearRanker):
    """Its scores are not those of its best member."""

    def decision_function(self, X):
        return super().decision_function(X) + self.best_estimator_.decision_function(X)


def test_one_member_does_not_explain_an_ensemble():
    model = Ensemble().fit(X, Y)
    model.best_estimator_ = LogLinearRanker(alpha=100.0).fit(X, Y)
    with pytest.raises(ValueError, match="Ensemble has no exact explanation; pass background"):
        explain(model, X[0], 0, 1)
    assert adds_up(explain(model, X[0], 0, 1, background=X[:20]), model, X[:1], 0, 1)


def test_bad_arguments():
    model = LogLinearRanker().fit(X, RANKS)
    with pytest.raises(ValueError, match=r"'nort' is not a label of the model; its labels are \['north'"):
        explain(model, X[0], "nort", "south")
    with pytest.raises(ValueError, match="n_permutations must be at least 1"):
        explain(model, X[0], "north", "south", background=X, n_permutations=0)
    with pytest.raises(ValueError, match="background must have at least one row"):
        explain(model, X[0], "north", "south", background=X[:0])
    with pytest.raises(ValueError, match="background has 3 features, and x has 4"):
        explain(model, X[0], "north", "south", background=X[:, :3])
    with pytest.raises(ValueError, match="same label"):
        explain(model, X[0], "north", "north")
    with pytest.raises(ValueError, match="x must be one instance, got 2 rows"):
        explain(model, X[:2], "north", "south")


@pytest.mark.parametrize("ranker", [LogLinearRanker(), DecisionTreeRanker(random_state=0)])
def test_columns_and_words_of_a_pipeline(ranker):
    texts = ["printer crash", "salary late", "printer slow", "salary slip"] * 10
    X = pl.DataFrame({"age": [float(i % 7) if i % 5 else None for i in range(40)], "subject": texts})
    y = np.array([[1, 2], [2, 1]] * 20)
    model = pipeline_for(ranker, X, text_columns=["subject"]).fit(X, y)
    why = explain(model, X[:1], better=0, worse=1)
    assert why.base + why.contributions.sum() == pytest.approx(why.difference)
    assert "age" in why.items
    assert {'subject: "printer"', 'subject: no "salary"'} & set(why.items)
    assert all(name == "age" or name.startswith("subject: ") for name in why.items)
    if isinstance(ranker, LogLinearRanker):
        assert "age                = missing" in str(why)


def test_ensembles_of_linear_models_and_trees_are_explained_exactly():
    words = ["printer on fire", "invoice not paid", "printer is slow", "invoice is wrong"]
    frame = pl.DataFrame({"age": [None, *range(39)], "subject": [f"{words[i % 4]} {i}" for i in range(40)]})
    ranks = [[1, 2, 3] if i % 2 else [3, 1, 2] for i in range(40)]
    members = [LogLinearRanker(), RandomForestRanker(5, random_state=0), GradientBoostingRanker(max_iter=3)]
    models = [pipeline_for(member, frame, text_columns=["subject"]) for member in members]
    ensemble = WeightedRanker(models, [0.5, 0.2, 0.3]).fit(frame, ranks)
    found = explain(ensemble, frame[:1], 0, 1)
    assert found.method == "ensemble"
    assert "exact, summed over the members" in str(found)
    assert {'subject: "printer"', "age"} <= set(found.items)
    assert adds_up(found, ensemble, frame[:1], 0, 1)
    linear = ensemble.rankers_[0]
    own, spread = explain(linear, frame[:1], 0, 1), linear.decision_function(frame[:1]).std()
    alone = WeightedRanker(models[:1], [0.5]).fit(frame, ranks)
    np.testing.assert_allclose(explain(alone, frame[:1], 0, 1).contributions, own.contributions * 0.5 / spread)
    with_neighbors = WeightedRanker([LogLinearRanker(), KNeighborsRanker()], [0.5, 0.5]).fit(X, Y)
    with pytest.raises(ValueError, match="WeightedRanker has no exact explanation; pass background"):
        explain(with_neighbors, X[0], 0, 1)
