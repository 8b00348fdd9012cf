"""Losses: functions of the scores of the labels, summed over instances."""

from labelrank.losses.base import Loss
from labelrank.losses.covering import CoveringLoss
from labelrank.losses.log_linear import LogLinearLoss
from labelrank.losses.plackett_luce import PlackettLuceLoss
from labelrank.losses.soft_margin import SoftMarginLoss
from labelrank.losses.squared import SquaredLoss

__all__ = [
    "LOSSES",
    "CoveringLoss",
    "LogLinearLoss",
    "Loss",
    "PlackettLuceLoss",
    "SoftMarginLoss",
    "SquaredLoss",
    "get_loss",
]

# The losses that GraphRanker knows by name.
LOSSES: dict[str, type[Loss]] = {
    LogLinearLoss.name: LogLinearLoss,
    PlackettLuceLoss.name: PlackettLuceLoss,
    SoftMarginLoss.name: SoftMarginLoss,
    SquaredLoss.name: SquaredLoss,
}


def get_loss(loss: str | type[Loss]) -> type[Loss]:
    """Return the loss class for a name; a class is returned unchanged.

    Examples
    --------
    >>> from labelrank.losses import get_loss
    >>> get_loss("plackett_luce")
    <class 'labelrank.losses.plackett_luce.PlackettLuceLoss'>
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"loss {loss!r} is not known; choose one of {sorted(LOSSES)}, or pass a subclass of Loss")
        return LOSSES[loss]
    if not issubclass(loss, Loss):
        raise ValueError(f"loss must be a name or a subclass of Loss, got {loss.__name__}")
    return loss
