"""Names of groups."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from labelrank.supervision.groups import group_codes


@pytest.mark.parametrize(
    "names", [["x", "y", "x", "z"], [(1, 2), "y", (1, 2), "z"], [1, "1", 1, "a"], np.array([0.5, 1.5, 0.5, 2.5])]
)
def test_any_names(names):
    codes = group_codes(names, 4)
    expected = np.array([0, 1, 0, 2])
    assert_array_equal(codes[:, None] == codes, expected[:, None] == expected)


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None],
        [1.0, float("nan")],
        np.array(["a", None], dtype=object),
        ["a", pd.NA],
        pd.array(["a", pd.NA], dtype="string"),
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([[0.0, 1.0], [0.0, np.nan]]),
        [(0,), (float("nan"),)],
        np.array([1, complex(0, np.nan)]),
    ],
)
def test_missing_names(groups):
    with pytest.raises(ValueError, match=r"groups has .*first: row 1"):
        group_codes(groups, 2)


def test_groups_that_are_not_a_list_of_names():
    with pytest.raises(ValueError, match="masked"):
        group_codes(np.ma.array([1, 2], mask=[False, True]), 2)
    for groups in (np.array(3), {"a": 1, "b": 2, "c": 3}, {1, 2, 3}, b"abc"):
        with pytest.raises(ValueError, match="each of the 3 items, got"):
            group_codes(groups, 3)
    with pytest.raises(ValueError, match="each of the 3 items, got 2 entries"):
        group_codes(["a", "b"], 3)
    with pytest.raises(ValueError, match="got 'a'"):
        group_codes("a", 3)
    with pytest.raises(TypeError, match="numbers, strings or tuples; row 0 is a list"):
        group_codes([[1, 2], [1, 3]], 2)
