from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from labelrank.datasets import DataFileError, read_aslib
from labelrank.metrics import mean_cost

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


def test_failures_must_be_explained(write):
    with pytest.raises(
        DataFileError, match=r'^SAT.csv, line 2: nothing for the label .c., one of 4 .*unsolved="last" if'
    ):
        read_aslib(write("SAT.csv", SAT), maximize=False)
    assert read_aslib(write("ALL.csv", "f,perf|a,perf|b\n0,7,5\n"), maximize=False).target.tolist() == [[2, 1]]


def test_cutoff_from_the_index(write):
    write("INDEX.csv", "scenario,maximize,cutoff\nOTHER,false,0\nSAT,false,5000\n")
    assert read_aslib(write("SAT.csv", SAT), unsolved="last").cutoff == 5000
    other = read_aslib(write("OTHER.csv", SAT), unsolved="last")
    assert (other.cutoff, other.folds) == (None, None)


# --- The official folder

DESCRIPTION = """scenario_id: SAT
performance_measures:
    - runtime
    - memory
maximize:
- false  # smaller is better
- true
algorithm_cutoff_time: 600  # seconds
algorithm_cutoff_memory: ?
metainfo_algorithms:
  fast:
    deterministic: true
features_deterministic:
- n
- m
"""
RUNS = """@RELATION runs
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, crash}
@DATA
'i, 1',1,fast,3,ok
'i, 1',1,slow,90,ok
'i, 1',2,fast,5,ok
i2,1,fast,600,timeout
i2,1,slow,20,ok
i3,1,fast,?,crash
i3,1,slow,600,memout
i4,1,fast,1,ok
"""
FEATURES = """@RELATION features
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE n NUMERIC
@ATTRIBUTE m NUMERIC
@DATA
i2,1,2,20
'i, 1',1,1,?
'i, 1',2,3,10
i3,1,?,30
"""
CV = """@RELATION cv
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE fold NUMERIC
@DATA
i4,1,2
i2,1,1
'i, 1',1,1
i3,1,2
"""


@pytest.fixture
def folder(tmp_path, write):
    for name, text in (("algorithm_runs", RUNS), ("feature_values", FEATURES), ("cv", CV)):
        write(f"{name}.arff", text)
    write("description.txt", DESCRIPTION)
    return tmp_path


def test_folder(folder):
    bunch = read_aslib(folder, unsolved="last")
    assert bunch.label_names.tolist() == ["fast", "slow"]
    assert bunch.instance_names == ["i, 1", "i2", "i3", "i4"]
    np.testing.assert_array_equal(bunch.performance, [[4, 90], [NAN, 20], [NAN, NAN], [1, NAN]])
    np.testing.assert_array_equal(bunch.target, [[1, 2], [2, 1], [1, 1], [1, NAN]])  # there is no run of slow on i4
    np.testing.assert_array_equal(bunch.data, [[2, 10], [2, 20], [NAN, 30], [NAN, NAN]])
    assert (bunch.feature_names, bunch.maximize, bunch.cutoff) == (["n", "m"], False, 600)
    assert bunch.folds.tolist() == [1, 1, 2, 2]
    missing = read_aslib(folder, unsolved="missing", as_frame=True)
    assert missing.target.rows() == [(1, 2), (None, 1), (None, None), (1, None)]
    assert missing.data.columns == ["n", "m"]
    assert missing.performance.columns == ["fast", "slow"]
    # PAR10 of the algorithm that is ranked first: 4, 20, neither solves i3, 1
    last = read_aslib(folder, unsolved="last")
    assert mean_cost(last.performance[:3], last.target[:3], cutoff=last.cutoff) == (4 + 20 + 6000) / 3
    with pytest.raises(DataFileError, match="one of 4 missing costs; pass unsolved="):
        read_aslib(folder)


def test_folder_without_folds_or_with_several(folder):
    (folder / "cv.arff").write_text(CV + "".join(f"{i},2,{i[-1]}\n" for i in ("i2", "i3", "i4")) + "'i, 1',2,7\n")
    assert read_aslib(folder, unsolved="last").folds.tolist() == [[1, 7], [1, 2], [2, 3], [2, 4]]
    (folder / "cv.arff").unlink()
    assert read_aslib(folder, unsolved="last").folds is None


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("description.txt", "maximize:\n- false", "maximize:\n- up", "line 5: expected true or false for maximize"),
        ("description.txt", "performance_measures", "measures", "expected a line performance_measures: with a value"),
        ("description.txt", "600", "soon", "line 8: expected a number for algorithm_cutoff_time, or ?, found 'soon'"),
        ("algorithm_runs.arff", "runtime", "time", "expected a numeric attribute 'runtime'"),
        ("algorithm_runs.arff", "20,ok", "?,ok", "line 12: expected a finite runtime of a run that is ok, found nan"),
        ("algorithm_runs.arff", "i2,1,fast", "?,1,fast", "line 11: expected a value of 'instance_id'"),
        ("feature_values.arff", "i3", "i9", "line 10: expected an instance of algorithm_runs.arff, found 'i9'"),
        ("cv.arff", "i3,1,2", "i3,1,2.5", "expected a fold for each instance, an integer, found 2.5 for 'i3'"),
        ("cv.arff", "i3,1,2\n", "", "found nan for 'i3'"),
        ("cv.arff", "i3,1,2\n", "i3,1,2\ni3,1,1\n", "line 10: expected one fold of an instance in each repetition"),
        ("algorithm_runs.arff", "i4,1,fast", "i3,1,slow", "line 15: expected one run of an algorithm in each"),
    ],
)
def test_malformed_folder(folder, name, old, new, message):
    path = folder / name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DataFileError, match=f"^{name}.*{re.escape(message)}"):
        read_aslib(folder, unsolved="last")


def test_folder_that_lacks_a_file(folder):
    (folder / "algorithm_runs.arff").unlink()
    with pytest.raises(FileNotFoundError, match=r"algorithm_runs\.arff"):
        read_aslib(folder)


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
