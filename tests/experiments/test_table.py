"""Tables: numbers, marks, and the forms they are printed in."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from scipy import stats

from labelrank.experiments import Report, Table, paired_comparison, plot_table

VALUES = np.array([[[0.5, 0.7], [1.0, 3.0]], [[0.3, 0.3], [2.0, np.nan]]])
PRINTED = [["0.63", ""], ["", ""]]


@pytest.fixture
def table():
    return Table("errors", "trained", ["a", "b"], ["0-1", "dis"], VALUES, PRINTED, digits=(2, 1))


def test_mean_and_spread(table):
    np.testing.assert_allclose(table.mean(), [[0.6, 2.0], [0.3, 2.0]])
    np.testing.assert_allclose(table.std(), [[np.std([0.5, 0.7], ddof=1), np.sqrt(2)], [0, np.nan]])
    np.testing.assert_array_equal(table.is_best(), [[False, True], [True, True]])


def test_which_is_best():
    largest = Table("t", "", ["a", "b"], ["tau"], [[[0.5]], [[0.6]]], best="largest")
    assert largest.is_best().ravel().tolist() == [False, True]
    assert not Table("t", "", ["a", "b"], ["tau"], [[[0.5]], [[0.6]]], best=None).is_best().any()
    nothing = Table("t", "", ["a", "b"], ["tau"], [[[np.nan]], [[np.nan]]])
    assert not nothing.is_best().any()
    assert "| a | – |" in nothing.render("markdown")


def test_markdown(table):
    assert table.render("markdown").splitlines()[2:] == [
        "| trained | 0-1 | paper | dis |",  # no column of printed numbers where none are printed
        "|---|---:|---:|---:|",
        "| a | 0.60 ± 0.14 | 0.63 | **2.0 ± 1.4** |",
        "| b | **0.30 ± 0.00** | – | **2.0** |",
    ]


def test_text(table):
    lines = table.render("table").splitlines()
    assert lines[1] == "errors"
    assert lines[2].split() == ["trained", "0-1", "paper", "dis"]
    assert lines[-1].split() == ["b", "*", "0.30", "±", "0.00", "–", "*", "2.0"]


def test_csv(table):
    rows = list(csv.DictReader(io.StringIO(table.render("csv"))))
    assert len(rows) == 4
    assert rows[0] == {
        "table": "errors",
        "row": "a",
        "column": "0-1",
        "mean": "0.6",
        "std": repr(float(table.std()[0, 0])),
        "runs": "2",
        "printed": "0.63",
    }
    assert rows[3]["std"] == ""
    assert rows[3]["runs"] == "1"


def test_rst_is_valid(table):
    report = Report(["how it was run", "on what"], [table, table], ["a is best", "b is not"])
    docutils = pytest.importorskip("docutils.core")  # of the docs
    tree = docutils.publish_doctree(report.render("rst"), settings_overrides={"report_level": 2, "halt_level": 2})
    text = tree.astext()
    assert "0.60 ± 0.14" in text
    assert "how it was run" in text
    assert "b is not" in text


def test_print(table, capsys):
    report = Report(["protocol"], [table], ["finding"])
    report.print()
    assert capsys.readouterr().out.rstrip("\n") == report.render("table")
    report.print("csv")
    assert capsys.readouterr().out == report.render("csv") + "\n"
    with pytest.raises(ValueError, match="no format 'html'; known: table, csv, markdown, rst"):
        report.render("html")


def test_wrong_shape():
    with pytest.raises(ValueError, match=r"values has shape \(1, 1\), expected \(1, 2, n_runs\)"):
        Table("t", "", ["a"], ["x", "y"], [[1.0]])


def test_paired_comparison():
    rng = np.random.RandomState(0)
    a, b = rng.normal(size=10), rng.normal(size=10)
    result = paired_comparison(a, b, test_share=0.1)
    differences = a - b
    t = differences.mean() / np.sqrt((1 / 10 + 0.1 / 0.9) * differences.var(ddof=1))
    assert result.p == pytest.approx(2 * stats.t.cdf(-abs(t), 9))
    assert result.p > stats.ttest_rel(a, b).pvalue
    assert (result.wins, result.losses) == ((differences < 0).sum(), (differences > 0).sum())
    assert result.difference == pytest.approx(differences.mean())
    assert np.isnan(paired_comparison(a, a, test_share=0.1).p)
    assert np.isnan(paired_comparison([1.0], [2.0], test_share=0.5).std)


def test_plot(table):
    axes = plot_table(table)
    assert [axis.get_title() for axis in axes] == ["0-1", "dis"]
    assert axes[0].lines[-1].get_xdata()[0] == 0.63  # the printed number
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["a", "b"]
    with pytest.raises(ValueError, match="axes has 1 entries, but the table has 2 columns"):
        plot_table(table, axes=axes[:1])
