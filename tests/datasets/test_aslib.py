from __future__ import annotations

import gzip

import numpy as np
import pytest

from labelrank.datasets import read_aslib

SAT = "instance_id,n,m,perf|a,perf|b/2,perf|c\ni1,1,2,3.5,1.5,\ni2,,4,,,\ni3,5,6,2,2,9\n"
NAN = np.nan


def test_failures_are_tied_last(write):
    bunch = read_aslib(write("SAT.csv", SAT), maximize=False, unsolved="last")
    np.testing.assert_array_equal(bunch.target, [[2, 1, 3], [1, 1, 1], [1, 1, 3]])
    np.testing.assert_array_equal(bunch.data, [[1, 2], [NAN, 4], [5, 6]])
    np.testing.assert_array_equal(bunch.performance, [[3.5, 1.5, NAN], [NAN, NAN, NAN], [2, 2, 9]])
    assert bunch.label_names.tolist() == ["a", "b/2", "c"]
    assert bunch.feature_names == ["n", "m"]
    assert bunch.instance_names == ["i1", "i2", "i3"]
    assert bunch.maximize is False


def test_several_failures_share_the_last_place(write):
    bunch = read_aslib(write("S.csv", "f,perf|a,perf|b,perf|c,perf|d\n0,,7,,5\n"), maximize=False, unsolved="last")
    np.testing.assert_array_equal(bunch.target, [[3, 2, 3, 1]])
    assert bunch.instance_names is None


def test_failures_not_observed_and_maximize(write):
    bunch = read_aslib(write("SAT.csv", SAT), maximize=True, unsolved="missing")
    np.testing.assert_array_equal(bunch.target, [[1, 2, NAN], [NAN, NAN, NAN], [2, 2, 1]])


@pytest.mark.parametrize(("text", "direction"), [("true", True), ("False", False)])
def test_direction_from_the_index(write, text, direction):
    write("INDEX.csv", f"scenario,instances,maximize\nOTHER,1,{not direction}\nSAT,3,{text}\n")
    path = write("SAT.csv.gz", gzip.compress(SAT.encode()))
    assert read_aslib(path, unsolved="last").maximize is direction
    assert read_aslib(path, maximize=not direction, unsolved="last").maximize is (not direction)


def test_direction_unknown(write):
    path = write("SAT.csv", SAT)
    with pytest.raises(ValueError, match=r"no INDEX.csv beside SAT.csv .* pass maximize=True or maximize=False"):
        read_aslib(path)
    write("INDEX.csv", "scenario,maximize\nOTHER,true\n")
    with pytest.raises(ValueError, match=r"no line for the scenario 'SAT' says"):
        read_aslib(path)
    write("INDEX.csv", "scenario,maximize\nOTHER,true\nSAT,up\n")
    with pytest.raises(
        ValueError, match=r"INDEX.csv, line 3: expected true or false in the column 'maximize', found 'up'"
    ):
        read_aslib(path)
    write("INDEX.csv", "scenario,direction\nSAT,up\n")
    with pytest.raises(ValueError, match=r"INDEX.csv, line 1: expected a header with the column 'maximize'"):
        read_aslib(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,2\n", r"bad.csv, line 1: expected columns named perf\|algorithm"),
        ("x,perf|a\n1,2\n1,timeout\n", r"bad.csv, line 3: expected a number in the column 'perf\|a', found 'timeout'"),
        ("x,perf|a\nred,2\n", r"bad.csv, line 2: expected a number in the column 'x', found 'red'"),
        ("x,perf|a\n1,2\n1\n", r"bad.csv, line 3: expected 2 values"),
        ("x,perf|a\n1,2\n1,inf\n", r"bad.csv, line 3: expected a finite performance"),
    ],
)
def test_malformed(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_aslib(write("bad.csv", content), maximize=False)


def test_bad_arguments(write):
    with pytest.raises(ValueError, match="'unsolved' parameter of read_aslib must be"):
        read_aslib(write("SAT.csv", SAT), maximize=False, unsolved="first")
    with pytest.raises(FileNotFoundError):
        read_aslib("nowhere.csv", maximize=False)


@pytest.mark.data
def test_real_scenarios(data_dir):
    for path in sorted((data_dir / "aslib").glob("*.csv.gz")):
        bunch = read_aslib(path, unsolved="last")
        assert bunch.maximize is path.name.startswith("OPENML")
        assert not np.isnan(bunch.target).any()
        best = np.nanargmax if bunch.maximize else np.nanargmin
        solved = ~np.isnan(bunch.performance).all(axis=1)
        winners = best(bunch.performance[solved], axis=1)
        assert (bunch.target[solved, winners] == 1).all()
