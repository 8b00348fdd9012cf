"""Tables of texts in the forms they are printed in."""

from __future__ import annotations

import pytest
from docutils.core import publish_doctree

from labelrank.cli.table import TextReport, TextTable

TABLE = TextTable(
    "errors",
    ["trained", "0-1", "dis"],
    [["a", "0.60 ± 0.14", "2.0"], ["b", "0.30 ± 0.00", "–"]],
    [[False, False, True], [True, True, False]],
)


def test_markdown():
    assert TextReport([], [TABLE]).render("markdown").splitlines() == [
        "**errors**",
        "",
        "| trained | 0-1 | dis |",
        "|---|---:|---:|",
        "| a | 0.60 ± 0.14 | **2.0** |",
        "| **b** | **0.30 ± 0.00** | – |",
    ]


def test_text():
    report = TextReport(["how it was run"], [TABLE], ["b is best"], "two folds")
    lines = report.render().splitlines()
    assert lines[0] == "how it was run"
    assert lines[2] == "errors"
    assert lines[3].split() == ["trained", "0-1", "dis"]
    assert lines[5].split() == ["a", "0.60", "±", "0.14", "*", "2.0"]
    assert lines[6].split() == ["b", "*", "0.30", "±", "0.00", "–"]  # the first column has a color but no star
    assert lines[-2:] == ["- b is best", "two folds"]


def test_rst_is_valid():
    report = TextReport(["how it was run", "on what"], [TABLE, TABLE], ["a is best", "b is not"], "two folds")
    tree = publish_doctree(report.render("rst"), settings_overrides={"report_level": 2, "halt_level": 2})
    for text in ("how it was run", "0.60 ± 0.14", "b is not", "two folds"):
        assert text in tree.astext()


@pytest.mark.parametrize("how", ["table", "markdown", "rst"])
def test_print(capsys, how):
    report = TextReport(["protocol"], [TABLE], ["finding"])
    report.print(how)
    assert capsys.readouterr().out.rstrip("\n") == report.render(how)
