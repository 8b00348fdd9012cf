"""Learners on a device: objectives, losses and least squares of tensors, by PyTorch (the extra ``labelrank[torch]``).

Data go to the device once and stay there, and so do the coefficients between the iterations of a solver; a fitted
estimator holds NumPy arrays. Data and scores are float32 numbers, coefficients and sums of losses float64 ones.
"""

from __future__ import annotations

import sys
from typing import Any

from sklearn.utils.validation import validate_data

from labelrank._arrays import as_tensor, canonical
from labelrank._compat import check_feature_names, check_n_features
from labelrank.torch.device import find_device

__all__ = ["as_numpy", "device_features", "find_device", "on_device", "validate_features"]


def on_device(objective: Any, solver: Any, device: str | None) -> tuple[Any, Any]:
    """Return an objective and a solver for a device; unchanged for None, or where ``"auto"`` falls back.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    solver : Solver
        How it is minimized.
    device : {"cpu", "cuda", "auto"} or None
        Where.
    """
    if (found := find_device(device)) is None:
        return objective, solver
    from labelrank.torch.objective import TorchObjective, problem_with
    from labelrank.torch.solvers import solver_on_device

    if (problem := problem_with(objective, solver)) is None:
        return TorchObjective(objective, found), solver_on_device(solver)
    if device == "auto":
        if hasattr(objective.model.X, "as_tensor"):
            objective.model = type(objective.model)(
                objective.model.X.numpy(), objective.model.n_labels, fit_intercept=objective.model.fit_intercept
            )
        return objective, solver
    raise ValueError(f"device={device!r} does not support {problem}; use device=None or 'auto'")


def as_numpy(values: Any) -> Any:
    """Return a tensor as a NumPy array, anything else as it is."""
    return values.cpu().numpy() if hasattr(values, "cpu") else values


def validate_features(estimator: Any, X: Any, *, reset: bool = True, **checks: Any) -> Any:
    """Validate X as :func:`sklearn.utils.validation.validate_data` does; tensors on the device of a learner stay there.

    Parameters
    ----------
    estimator : estimator
        With ``_keeps_tensors``, it takes tensors that are on its `device`.
    X : array-like, sparse matrix or Tensor of shape (n_samples, n_features)
        Instances.
    reset : bool, default=True
        Whether to set ``n_features_in_``, in ``fit``, and not to compare it, in a prediction.
    **checks
        For ``validate_data``.

    Returns
    -------
    ndarray, CSR matrix or DeviceFeatures of shape (n_samples, n_features)
    """
    features = device_features(estimator, X, reset)
    return validate_data(estimator, canonical(X), reset=reset, **checks) if features is None else features


def device_features(estimator: Any, X: Any, reset: bool = True) -> Any:
    """Validate a tensor that is on the device of a learner, and return it as DeviceFeatures; None for all else.

    Predictions are made where the tensor is, if that is the processor or a GPU, which have float64.
    """
    if getattr(estimator, "device", None) is None or not getattr(estimator, "_keeps_tensors", False):
        return None
    X = as_tensor(X)
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(X, torch.Tensor):
        return None
    device = find_device(estimator.device) if reset else X.device  # predictions do not need the GPU of `fit`
    if device is None or X.device.type != device.type or device.type not in ("cpu", "cuda"):
        return None
    from labelrank.torch.features import check_tensor

    features = check_tensor(X, type(estimator).__name__, device)
    check_feature_names(estimator, X, reset=reset)
    check_n_features(estimator, features, reset=reset)
    return features
