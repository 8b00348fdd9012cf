"""What is paid: losses on the scores of one instance's labels, and objectives, which put a model under them."""

from labelrank.losses.covering import CoveringLoss
from labelrank.losses.log_linear import LogLinearLoss
from labelrank.losses.objectives import BaseRankerObjective, LinearObjective
from labelrank.losses.soft_margin import SoftMarginLoss

__all__ = ["BaseRankerObjective", "CoveringLoss", "LinearObjective", "LogLinearLoss", "SoftMarginLoss"]
