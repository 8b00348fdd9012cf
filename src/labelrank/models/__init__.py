"""Models, which compute scores from coefficients, and objectives: a model, a loss and a penalty."""

from labelrank.models.base import Model, Objective
from labelrank.models.gram import Kernel, KernelModel
from labelrank.models.label_features import LabelFeatureModel
from labelrank.models.linear import LinearModel

__all__ = ["Kernel", "KernelModel", "LabelFeatureModel", "LinearModel", "Model", "Objective"]
