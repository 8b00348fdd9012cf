"""Constraints on the arguments of generators and readers; see :func:`labelrank._compat.validate_params`."""

from numbers import Integral, Real

from labelrank._compat import Interval, StrOptions

COUNT = [Interval(Integral, 1, None, closed="left")]
NON_NEGATIVE = [Interval(Real, 0, None, closed="left")]
FRACTION = [Interval(Real, 0, 1, closed="both")]
NOMINAL = [StrOptions({"onehot", "keep"})]
