"""Tables of numbers: means, spreads, marks, and printed numbers beside them."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from papers.frame import Report, Table

VALUES = np.array([[[0.5, 0.7], [1.0, 3.0]], [[0.3, 0.3], [2.0, np.nan]]])
PRINTED = [["0.63", ""], ["", ""]]


@pytest.fixture
def table():
    return Table("errors", "trained", ["a", "b"], ["0-1", "dis"], VALUES, PRINTED, digits=(2, 1), best="smallest")


def test_mean_and_spread(table):
    np.testing.assert_allclose(table.mean(), [[0.6, 2.0], [0.3, 2.0]])
    np.testing.assert_allclose(table.std(), [[np.std([0.5, 0.7], ddof=1), np.sqrt(2)], [0, np.nan]])
    np.testing.assert_array_equal(table.is_best(), [[False, True], [True, True]])


def test_which_is_best():
    both = Table("t", "", ["a", "b"], ["tau", "error"], [[0.5, 0.5], [0.6, 0.6]], best=["largest", "smallest"])
    assert both.is_best().tolist() == [[False, True], [True, False]]
    assert not Table("t", "", ["a", "b"], ["tau"], [[0.5], [0.6]]).is_best().any()
    nothing = Table("t", "", ["a", "b"], ["tau"], [[np.nan], [np.nan]], best="smallest")
    assert not nothing.is_best().any()
    assert nothing.texts().rows[0] == ["a", "–"]


def test_texts(table):
    texts = table.texts()
    assert texts.header == ["trained", "0-1", "paper", "dis"]  # no column of printed numbers where none are printed
    assert texts.bold() == [["a", "0.60 ± 0.14", "0.63", "**2.0 ± 1.4**"], ["b", "**0.30 ± 0.00**", "–", "**2.0**"]]
    assert Table("t", "", ["a"], ["tau"], [[0.5]], [[".63"]]).texts().rows[0][2] == "0.63"


def test_csv(table):
    rows = list(csv.DictReader(io.StringIO(Report([], [table]).render("csv"))))
    assert len(rows) == 4
    std = repr(float(table.std()[0, 0]))
    named = {"table": "errors", "row": "a", "column": "0-1"}
    assert rows[0] == {**named, "mean": "0.6", "std": std, "runs": "2", "printed": "0.63"}
    assert (rows[3]["std"], rows[3]["runs"]) == ("", "1")


@pytest.mark.parametrize("how", ["table", "csv", "markdown", "rst"])
def test_print(table, capsys, how):
    report = Report(["protocol"], [table], ["finding"])
    report.print(how)
    assert capsys.readouterr().out.rstrip("\n") == report.render(how)
    assert "0.63" in report.render(how)


def test_wrong_shape():
    with pytest.raises(ValueError, match=r"values has shape \(1, 1, 1\), expected \(1, 2, n_runs\)"):
        Table("t", "", ["a"], ["x", "y"], [[1.0]])
