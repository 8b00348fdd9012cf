"""ONNX graphs give the scores of decision_function."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from labelrank import (
    AutoRanker,
    CalibratedRanker,
    ConformalRanker,
    ConstraintClassificationRanker,
    DecisionTreeRanker,
    DummyRanker,
    ExtraTreesRanker,
    GradientBoostingCoveringClassifier,
    GradientBoostingRanker,
    GraphRanker,
    KernelRidgeRanker,
    KernelRidgeRankerCV,
    KNeighborsRanker,
    LabelCoveringClassifier,
    LogLinearRanker,
    PairwiseCalibrator,
    PairwiseRanker,
    PreferenceGraphs,
    RandomForestRanker,
    RankRLS,
    SoftProjectionRanker,
    to_onnx,
)
from labelrank.datasets import make_label_ranking

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

X, Y = make_label_ranking(80, 4, n_labels=3, random_state=0)
MISSING = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
FRAME = pd.DataFrame(MISSING, columns=["a", "b", "c", "d"]).assign(
    color=np.array(["red", "blue", "green", "red"])[np.arange(80) % 4],
    size=np.array([1, 2, 3, 4, 5])[np.arange(80) % 5],
)


def run(model, X, dtype="float64"):
    """Outputs of the graph of a model."""
    graph = to_onnx(model, dtype=dtype)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {}
    for given in session.get_inputs():
        column = np.asarray(X) if given.name == "X" else X[[given.name]].to_numpy()
        inputs[given.name] = column.astype(object if "string" in given.type else dtype)
    return dict(zip((output.name for output in session.get_outputs()), session.run(None, inputs), strict=True))


def check(model, X, *, ranks=True):
    found = run(model, X)
    expected = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    np.testing.assert_allclose(found["scores"], expected, rtol=1e-5, atol=1e-5)
    if ranks:
        clear = np.abs(np.diff(np.sort(expected, axis=1), axis=1)).min(axis=1) > 1e-5
        assert clear.any() or len(np.unique(expected)) < 4
        np.testing.assert_array_equal(found["ranks"][clear], model.predict(X)[clear])


RANKERS = [
    LogLinearRanker(),
    GraphRanker(loss="plackett_luce", fit_intercept=False),
    SoftProjectionRanker(),
    SoftProjectionRanker(kernel="rbf"),
    SoftProjectionRanker(kernel="poly", degree=2),
    KernelRidgeRanker(),
    KernelRidgeRanker(kernel="rbf"),
    KernelRidgeRanker(kernel="poly"),
    KernelRidgeRanker(kernel="sigmoid", gamma=0.1),
    KernelRidgeRankerCV(),
    ConstraintClassificationRanker(random_state=0),
    DummyRanker(),
    DecisionTreeRanker(random_state=0),
    RandomForestRanker(7, random_state=0),
    RandomForestRanker(5, criterion="vote_variance", random_state=0),
    ExtraTreesRanker(7, random_state=0),
    GradientBoostingRanker(max_iter=20),
    GridSearchCV(LogLinearRanker(), {"alpha": [0.1, 1.0]}, cv=2),
    ConformalRanker(make_pipeline(StandardScaler(), LogLinearRanker()), cv=2, alpha=0.4),
    PairwiseCalibrator(ExtraTreesRanker(3, random_state=0)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", RANKERS, ids=lambda model: type(model).__name__)
def test_rankers(model):
    check(model.fit(X[:60], Y[:60]), X)


@pytest.mark.parametrize("model", [RandomForestRanker(5, random_state=0), GradientBoostingRanker(max_iter=9)])
def test_missing_values_in_trees(model):
    check(model.fit(MISSING[:60], Y[:60]), MISSING)


@pytest.mark.parametrize("categories", [["color"], ["color", "size"]])
@pytest.mark.parametrize("model", [RandomForestRanker(5, random_state=0), GradientBoostingRanker(max_iter=9)])
def test_categories_of_a_frame(model, categories):
    data = FRAME.drop(columns="size") if "size" not in categories else FRAME
    model = model.set_params(categorical_features=categories).fit(data[:60], Y[:60])
    new = data[60:].assign(color=np.array(["red", "black", "", "blue"])[np.arange(20) % 4])
    known = new.assign(color=new["color"].replace("", None))  # missing text is the empty string
    np.testing.assert_allclose(run(model, new)["scores"], model.decision_function(known), atol=1e-5)


def test_categories_by_number():
    data = np.column_stack([X, np.arange(80) % 6])
    for model in (RandomForestRanker(5, random_state=0), GradientBoostingRanker(max_iter=9)):
        model.set_params(categorical_features=[4]).fit(data[:60], Y[:60])
        unknown = np.column_stack([X, np.arange(80) % 8])
        unknown[::7, 4] = np.nan
        check(model, unknown)


NUMBERS = ["a", "b", "c", "d", "size"]
COLUMNS = make_column_transformer(
    (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), make_column_selector(dtype_include=float)),
    (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=25), ["color"]),
    (OneHotEncoder(drop="first", handle_unknown="ignore"), ["size"]),
)
TWICE = {"transformer_weights": {"b": 2}}
PREPARATIONS = [
    make_pipeline(SimpleImputer(), MinMaxScaler(clip=True)),
    make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), MaxAbsScaler()),
    make_pipeline(SimpleImputer(), RobustScaler()),
    make_pipeline(SimpleImputer(), PolynomialFeatures(3), StandardScaler()),
    make_pipeline(SimpleImputer(), StandardScaler(with_mean=False)),
    make_pipeline(
        SimpleImputer(), FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())], transformer_weights={"b": 2})
    ),
]


@pytest.mark.parametrize("preparation", PREPARATIONS, ids=range(6))
def test_preparation_of_numbers(preparation):
    check(make_pipeline(preparation, LogLinearRanker()).fit(MISSING[:60], Y[:60]), MISSING)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_preparation_of_a_frame():
    model = make_pipeline(COLUMNS, LogLinearRanker()).fit(FRAME[:60], Y[:60])
    new = FRAME[60:].assign(color=np.array(["red", "black", "", "blue"])[np.arange(20) % 4], size=np.arange(20) % 7)
    check(model, new)
    names = [given.name for given in to_onnx(model).graph.input]
    assert sorted(names) == ["a", "b", "c", "color", "d", "size"]


def test_ordinal_codes_and_imputed_text():
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=np.nan)
    text = make_pipeline(SimpleImputer(strategy="most_frequent", missing_values=None), OneHotEncoder())
    columns = make_column_transformer((encoder, ["color"]), ("passthrough", ["size"]), remainder="drop")
    ranker = GradientBoostingRanker(max_iter=9, categorical_features=[0])
    check(make_pipeline(columns, ranker).fit(FRAME[:60], Y[:60]), FRAME)
    data = FRAME[["color"]].astype(object)
    data.loc[::9, "color"] = None
    model = make_pipeline(text, LogLinearRanker()).fit(data[:60], Y[:60])
    np.testing.assert_allclose(run(model, data.fillna(""))["scores"], model.decision_function(data), atol=1e-5)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("ensemble", [True, False])
def test_auto_ranker(ensemble):
    candidates = {
        "linear": LogLinearRanker(),
        "boosted": GradientBoostingRanker(max_iter=5),
        "kernel": KernelRidgeRankerCV(),
        "forest": ExtraTreesRanker(5),
    }
    model = AutoRanker(None, candidates=candidates, ensemble=ensemble, cv=2, random_state=0).fit(FRAME[:60], Y[:60])
    check(model, FRAME)


def test_an_auto_ranker_with_neighbors():
    model = AutoRanker(None, candidates={"near": KNeighborsRanker(3)}, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="KNeighborsRanker cannot be converted"):
        to_onnx(model)


def test_classifiers_of_relevant_labels():
    relevant = Y <= 1
    check(LabelCoveringClassifier().fit(X, relevant), X, ranks=False)
    check(GradientBoostingCoveringClassifier(max_iter=5).fit(X, relevant), X, ranks=False)
    check(LabelCoveringClassifier().fit(X, relevant[:, 0]), X, ranks=False)
    check(CalibratedRanker().fit(X, PreferenceGraphs.from_multilabel(relevant)), X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rankers_of_items(kernel):
    check(RankRLS(kernel=kernel).fit(X, Y[:, 0], groups=np.arange(80) // 8), X, ranks=False)


def test_float32_takes_the_same_way_as_the_rounded_numbers():
    rounded = np.round(X, 1)  # thresholds between, and on, numbers that single precision does not have
    for model in (RandomForestRanker(5, random_state=0), GradientBoostingRanker(max_iter=9, max_bins=8)):
        model.fit(rounded, Y)
        found = run(model, rounded, "float32")["scores"]
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, model.decision_function(rounded.astype(np.float32)), atol=1e-5)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (KNeighborsRanker(), "KNeighborsRanker cannot be converted to ONNX; supported are linear models"),
        (PairwiseRanker(LogisticRegression()), "PairwiseRanker cannot be converted"),
        (DummyRanker(strategy="random"), "DummyRanker cannot be converted"),
        (make_pipeline(FunctionTransformer(np.tanh), LogLinearRanker()), "FunctionTransformer cannot be converted"),
        (KernelRidgeRanker(kernel=lambda x, z: x @ z.T), "KernelRidgeRanker.* cannot be converted"),
    ],
)
def test_what_cannot_be_converted(model, told):
    with pytest.raises(ValueError, match=told):
        to_onnx(model.fit(X, Y))


def test_names_of_the_labels():
    names = pd.DataFrame(Y, columns=["tea", "milk", "cola"])
    graph = to_onnx(make_pipeline(StandardScaler(), LogLinearRanker()).fit(X, names))
    assert {entry.key: entry.value for entry in graph.metadata_props}["labels"] == '["tea", "milk", "cola"]'
    onnx.checker.check_model(graph, full_check=True)


def test_other_types_of_numbers():
    with pytest.raises(ValueError, match="dtype must be one of"):
        to_onnx(LogLinearRanker().fit(X, Y), dtype="float16")


def test_without_onnx(monkeypatch):
    model = LogLinearRanker().fit(X, Y)
    monkeypatch.delitem(sys.modules, "labelrank.onnx.graph", raising=False)
    monkeypatch.delattr("labelrank.onnx.graph", raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "labelrank\[onnx\]"'):
        to_onnx(model)
