"""Pair probabilities, confidence, conformal guarantees and explanations for every ranker."""

from labelrank.trust.calibrator import PairwiseCalibrator
from labelrank.trust.conformal import ConformalRanker
from labelrank.trust.curves import (
    area_under_risk_coverage,
    expected_calibration_error,
    reliability_curve,
    risk_coverage_curve,
)
from labelrank.trust.delegation import confidence, pairwise_proba, predict_partial
from labelrank.trust.explanation import Explanation, explain
from labelrank.trust.failures import hardest

__all__ = [
    "ConformalRanker",
    "Explanation",
    "PairwiseCalibrator",
    "area_under_risk_coverage",
    "confidence",
    "expected_calibration_error",
    "explain",
    "hardest",
    "pairwise_proba",
    "predict_partial",
    "reliability_curve",
    "risk_coverage_curve",
]
