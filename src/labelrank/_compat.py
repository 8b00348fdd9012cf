"""Private helpers of scikit-learn that we depend on, all in one place."""

from sklearn.base import _fit_context as fit_context
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
    "validate_parameter_constraints",
]
