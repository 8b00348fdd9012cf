from __future__ import annotations

import subprocess
import sys

import labelrank.datasets


def test_public_names_exist_and_are_documented():
    for name in labelrank.datasets.__all__:
        doc = getattr(labelrank.datasets, name).__doc__
        assert ">>>" in doc, name


def test_import_is_light():
    code = (
        "import sys, labelrank.supervision\nbefore = set(sys.modules)\nimport labelrank.datasets\n"
        "heavy = {'polars', 'pandas', 'sklearn.datasets', 'scipy.stats', 'sklearn.naive_bayes'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_names_come_out_of_every_loader():
    for name in ("iris", "wine", "digits"):
        load = getattr(labelrank.datasets, f"load_{name}_rankings")
        bunch = load(as_frame=True)
        assert bunch.target.columns == bunch.label_names.tolist()
        assert bunch.data.columns == bunch.feature_names
    X, y = labelrank.datasets.load_fried(20, return_X_y=True, as_frame=True)
    assert (X.shape, y.columns) == ((20, 9), ["f0", "f1", "f2", "f3", "f4"])


def test_names_come_out_of_every_reader(write):
    toi = write("v.toi", "# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n1: 2\n")
    assert labelrank.datasets.read_preflib(toi, as_frame=True).target.to_dict(as_series=False) == {
        "tea": [None],
        "milk": [1],
    }
    svm = labelrank.datasets.read_svmlight_multilabel(write("t.svm", "7,2 1:0.5 3:1\n2 2:1\n"), as_frame=True)
    assert svm.target.to_dict(as_series=False) == {"2": [1, 1], "7": [1, 0]}
    assert svm.data.columns == ["x0", "x1", "x2"]
    header = "@relation r\n@attribute x numeric\n@attribute L ranking {tea,milk}\n@data\n"
    ranks = labelrank.datasets.read_xarff(write("r.xarff", header + "1,tea>milk\n2,milk\n"), as_frame=True)
    assert ranks.target.to_dict(as_series=False) == {"tea": [1, None], "milk": [2, 1]}
    graphs = labelrank.datasets.read_xarff(write("g.xarff", header + "1,tea>milk|milk\n"), as_frame=True)
    assert graphs.target.labels.tolist() == ["tea", "milk"]
