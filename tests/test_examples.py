"""Scripts of the gallery are short, end in a picture, and run where the data folder is not."""

import ast
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_a_short_page_that_ends_in_a_picture(name):
    tree = ast.parse(SCRIPTS[name])
    title, underline, blank = ast.get_docstring(tree).splitlines()[:3]
    assert (len(underline), set(underline), blank) == (len(title), {"="}, "")
    lines = [line.strip() for line in SCRIPTS[name].splitlines()[tree.body[0].end_lineno :]]
    assert len([line for line in lines if line and not line.startswith("#")]) < 40
    assert lines[-1] == "plt.show()"


@pytest.mark.parametrize("name", [name for name, source in SCRIPTS.items() if "LABELRANK_DATA" in source])
def test_script_generates_data_where_there_are_none(name, monkeypatch, tmp_path, capsys):
    shown = []
    monkeypatch.delenv("LABELRANK_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.gcf().axes))
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    plt.close("all")
    assert any(ax.has_data() for ax in shown)
    printed = capsys.readouterr().out
    assert "generated" in printed or "made up" in printed
