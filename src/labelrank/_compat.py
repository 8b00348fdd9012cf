"""Private helpers of scikit-learn that we depend on, all in one place."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context as fit_context
from sklearn.utils import _param_validation
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_feature_names",
    "check_n_features",
    "check_sample_weight",
    "fit_context",
    "num_samples",
    "safe_indexing",
    "scorer_class",
    "tree_class",
    "validate_parameter_constraints",
    "validate_params",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def validate_params(**constraints: Any) -> Callable[[Function], Function]:
    """Check the arguments of a function as ``_parameter_constraints`` check those of an estimator."""
    decorator: Callable[[Function], Function]
    decorator = _param_validation.validate_params(constraints, prefer_skip_nested_validation=True)
    return decorator


def scorer_class() -> Any:
    """Return the class of the scorers that :func:`sklearn.metrics.make_scorer` makes; slow to load, so not above."""
    from sklearn.metrics._scorer import _Scorer

    return _Scorer


def tree_class() -> Any:
    """Return the class of the compiled trees of scikit-learn; slow to load, so not above."""
    from sklearn.tree._tree import Tree

    return Tree
