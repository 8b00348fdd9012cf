"""Types that are allowed in model files, by loader: types of labelrank, scikit-learn and NumPy."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator
from sklearn.utils import all_estimators

PRIMITIVES = frozenset(f"builtins.{name}" for name in ("bool", "float", "int", "str"))
SCALARS = frozenset(
    f"{kind.__module__}.{kind.__name__}"
    for kind in {*np.sctypeDict.values()} - {np.void, np.object_}
    if kind.__module__ == "numpy"
)
_SPARSE = frozenset(
    f"scipy.sparse._{kind}.{kind}_{what}"
    for kind in ("bsr", "coo", "csc", "csr", "dia")
    for what in ("array", "matrix")
)
_METRICS = ("Euclidean", "Manhattan", "Chebyshev", "Minkowski", "Hamming", "Canberra", "BrayCurtis")
_OTHER_OBJECTS = frozenset(  # of scikit-learn, other than estimators
    {
        "sklearn._loss.link.HalfLogitLink",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogLink",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.AbsoluteError",
        "sklearn._loss.loss.ExponentialLoss",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfGammaLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfPoissonLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn._loss.loss.HuberLoss",
        "sklearn._loss.loss.PinballLoss",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.model_selection._split.GroupKFold",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.RepeatedKFold",
        "sklearn.model_selection._split.ShuffleSplit",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in _METRICS),
    }
)
_OF_LOADER = {
    "DictNode": frozenset({"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"}),
    "ListNode": frozenset({"builtins.list"}),
    "SetNode": frozenset({"builtins.set"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "JsonNode": frozenset({"builtins.str"}),
    "NdArrayNode": SCALARS | {"numpy.ndarray"},
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}),
    "DTypeNode": frozenset({"numpy.dtype"}),
    "SparseMatrixNode": _SPARSE,
    "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
    "RandomGeneratorNode": frozenset({"numpy.random._generator.Generator"}),
    "TypeNode": PRIMITIVES | SCALARS,
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),
    "LossNode": frozenset(
        {
            *(f"sklearn._loss._loss.CyHalf{name}" for name in ("BinomialLoss", "MultinomialLoss", "SquaredError")),
            *(f"sklearn.linear_model._sgd_fast.{name}" for name in ("Hinge", "SquaredHinge", "ModifiedHuber")),
        }
    ),
}
_OUR_MODULE = re.compile(r"labelrank(\._?[a-z][a-z0-9]*(_[a-z0-9]+)*)+")


def allows(loader: str, name: str) -> bool:
    """Whether a loader may use a type."""
    if loader == "ObjectNode":
        return name in _OTHER_OBJECTS or name in _estimators() or _is_ours(name, _bases())
    if loader == "FunctionNode":
        return name in _functions()
    if loader == "TypeNode" and _is_ours(name, _losses()):
        return True
    return name in _OF_LOADER.get(loader, ())


@cache
def _estimators() -> frozenset[str]:
    return frozenset(
        f"{estimator.__module__}.{estimator.__qualname__}"
        for _, estimator in all_estimators()
        if estimator.__module__.startswith("sklearn.")
    )


@cache
def _is_ours(name: str, bases: tuple[type, ...]) -> bool:
    """Whether it is the qualified name of a class of labelrank with one of the bases."""
    module, _, attribute = name.rpartition(".")
    if not _OUR_MODULE.fullmatch(module) or module.startswith(("labelrank.cli", "labelrank.testing")):
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and issubclass(found, bases) and f"{found.__module__}.{found.__qualname__}" == name


@cache
def _bases() -> tuple[type, ...]:
    """Base classes of allowed objects of labelrank: estimators and their parameters."""
    from labelrank.decompositions import Covering, Decomposition
    from labelrank.metrics.scorers import NamedScorer
    from labelrank.solvers import Solver

    return BaseEstimator, Covering, Decomposition, NamedScorer, Solver


@cache
def _losses() -> tuple[type, ...]:
    from labelrank.losses import Loss

    return (Loss,)


@cache
def _functions() -> frozenset[str]:
    """Array functions of NumPy and SciPy, decompositions and metrics."""
    from labelrank import metrics
    from labelrank.decompositions import coverings, layered, stars

    special = ("scipy.special", *(f"scipy.special.{name}" for name in ("_ufuncs", "_special_ufuncs", "_gufuncs")))
    ours = [
        function
        for module in (coverings, layered, metrics, stars)
        for function in vars(module).values()
        if inspect.isfunction(function) and function.__module__.startswith(module.__name__)
    ]
    return frozenset(
        {f"numpy.{name}" for name, found in vars(np).items() if isinstance(found, np.ufunc)}
        | {f"{m}.{name}" for name, found in vars(scipy.special).items() if isinstance(found, np.ufunc) for m in special}
        | {f"{f.__module__}.{f.__qualname__}" for f in ours if not f.__module__.endswith(".scorers")}
    )
