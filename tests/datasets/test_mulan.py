from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labelrank import PreferenceGraphs
from labelrank.datasets import DataFileError, read_mulan

NAN = np.nan
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="calm"></label>
<label name="very sad"/>
</labels>
"""
HEADER = """@relation songs
@attribute calm {0,1}
@attribute tempo numeric
@attribute key {C, D, E}
@attribute live {0, 1}
@attribute 'very sad' {1,0}
@data
"""
DENSE = "1,0.5,D,1,1\n0,?,?,0,0\n"
SPARSE = "{1\t0.5, 2  D, 3 1}\n{0 1,1 2,4 0}\n{ }\n{2 ?, 3 0, 4 1}\n"


@pytest.fixture
def folder(write):
    write("songs.xml", XML)
    return write


def test_dense(folder):
    bunch = read_mulan(folder("songs-train.arff", HEADER + DENSE))
    np.testing.assert_array_equal(bunch.target, [[1, 1], [0, 0]])
    assert bunch.target.dtype == np.uint8
    np.testing.assert_array_equal(bunch.data, [[0.5, 0, 1, 0, 1], [NAN, NAN, NAN, NAN, 0]])
    assert bunch.feature_names == ["tempo", "key=C", "key=D", "key=E", "live"]
    assert bunch.label_names.tolist() == ["calm", "very sad"]
    assert bunch.parents.tolist() == [-1, -1]
    assert PreferenceGraphs.from_multilabel(bunch.target).shape == (2, 2)


def test_sparse_with_first_value_as_default(folder):
    bunch = read_mulan(folder("songs.arff", HEADER + SPARSE))
    assert isinstance(bunch.data, sparse.csr_array)
    assert isinstance(bunch.target, sparse.csr_array)
    np.testing.assert_array_equal(bunch.target.toarray(), [[0, 1], [1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(
        bunch.data.toarray(), [[0.5, 0, 1, 0, 1], [2, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, NAN, NAN, NAN, 0]]
    )
    assert bunch.data.nnz == 3 + 2 + 1 + 3  # a zero that is written down is not stored


def test_sparse_equals_dense(folder):
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (20, 6)) * rng.random_sample((20, 6)).round(3)
    Y = rng.randint(0, 2, (20, 2))
    header = "@relation r\n" + "".join(f"@attribute x{i} numeric\n" for i in range(6))
    header += "@attribute calm {0,1}\n@attribute 'very sad' {0,1}\n@data\n"
    rows = [[*(f"{v:g}" for v in x), *map(str, y)] for x, y in zip(X, Y, strict=True)]
    dense = read_mulan(folder("a.arff", header + "\n".join(",".join(r) for r in rows)), folder("a.xml", XML))
    pairs = ["{" + ",".join(f"{i} {v}" for i, v in enumerate(r) if v != "0") + "}" for r in rows]
    thin = read_mulan(folder("b.arff", header + "\n".join(pairs)), folder("b.xml", XML))
    np.testing.assert_array_equal(dense.data, X)
    np.testing.assert_array_equal(dense.target, Y)
    np.testing.assert_array_equal(thin.data.toarray(), X)
    np.testing.assert_array_equal(thin.target.toarray(), Y)


def test_nested_labels_and_other_file(folder):
    xml = folder("tree.xml", '<labels>\n<label name="very sad"><label name="calm"/></label>\n</labels>')
    bunch = read_mulan(folder("songs.arff", HEADER + DENSE), xml)
    assert bunch.label_names.tolist() == ["very sad", "calm"]
    assert bunch.parents.tolist() == [-1, 0]
    np.testing.assert_array_equal(bunch.target, [[1, 1], [0, 0]])


def test_numeric_labels_and_ignored_attributes(folder):
    text = "@relation r\n@attribute id string\n@attribute calm numeric\n@attribute 'very sad' numeric\n@data\nx,0,1\n"
    bunch = read_mulan(folder("songs.arff", text), ignore=["id"])
    assert bunch.target.tolist() == [[0, 1]]
    assert bunch.data.shape == (1, 0)
    with pytest.raises(ValueError, match="'calm', which is a label"):
        read_mulan(folder("songs.arff", text), ignore=["id", "calm"])


def test_label_file_is_looked_for(write):
    path = write("birds-test.arff", HEADER + DENSE)
    with pytest.raises(DataFileError, match=r"^birds-test.arff: expected an XML file .*, found neither; pass labels="):
        read_mulan(path)
    write("birds.xml", XML)
    assert read_mulan(path).target.shape == (2, 2)
    with pytest.raises(FileNotFoundError):
        read_mulan("nowhere.arff")


def meka(count):
    return f"@relation 'songs: -C {count} -split 3'\n" + HEADER.split("\n", 1)[1] + DENSE


def test_labels_counted_in_the_relation(write):
    last = read_mulan(write("songs.arff", meka(-2)))
    assert last.label_names.tolist() == ["live", "very sad"]
    assert last.parents.tolist() == [-1, -1]
    listed = read_mulan(write("songs.arff", meka(9)), ["very sad", "live"])
    assert listed.label_names.tolist() == ["very sad", "live"]
    np.testing.assert_array_equal(last.target, listed.target[:, ::-1])
    np.testing.assert_array_equal(last.data, listed.data)
    first = "@relation ': -C 1'\n@attribute a {0,1}\n@attribute x numeric\n@data\n1,7\n"
    bunch = read_mulan(write("first.arff", first), as_frame=True)
    assert bunch.target.to_dict(as_series=False) == {"a": [1]}
    assert bunch.data.to_dict(as_series=False) == {"x": [7.0]}
    for count in (0, 99):
        with pytest.raises(DataFileError, match=r"expected a number of labels from 1 to \d+ after -C, found 'songs"):
            read_mulan(write("songs.arff", meka(count)))


def test_list_of_labels(write):
    path = write("songs.arff", HEADER + DENSE)
    for labels, message in (
        [["joy"], "names 'joy', which is not"],
        [["calm", "calm"], "twice"],
        [[], "is empty"],
    ):
        with pytest.raises(DataFileError, match=message):
            read_mulan(path, labels)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("1,2,C,0\n", r"line 8: expected 5 values, one per attribute, found 4"),
        ("1,2,F,0,1\n", r"line 8: expected one of \['C', 'D', 'E'\] or \? for the attribute 'key', found 'F'"),
        ("1,2,C,0,1\n?,2,C,0,1\n", r"line 9: expected 0 or 1 for the label 'calm', found \?"),
        ("{0 1\n", r"line 8: expected a sparse instance that ends in \}"),
        ("{0 1}\n{1 2, 0 1}\n", r"line 9: expected an index larger than 1, found 0"),
        ("{5 1}\n", r"line 8: expected an index from 0 to 4, found 5"),
        ("{x 1}\n", r"line 8: expected pairs of index and value: an index, an integer of at least 0, found 'x'"),
        ("{1}\n", r"line 8: expected pairs of index and value, found '1'"),
        ("{1 fast}\n", r"line 8: expected a number or \? for the attribute 'tempo', found 'fast'"),
        ("{2 F}\n", r"line 8: expected one of \['C', 'D', 'E'\]"),
        ("{0 ?}\n", r"line 8: expected 0 or 1 for the label 'calm', found \?"),
        ("{0 1}\n1,2,C,0,1\n", r"line 9: expected a sparse instance in braces"),
    ],
)
def test_malformed_data(folder, data, message):
    with pytest.raises(ValueError, match=r"^songs.arff, " + message):
        read_mulan(folder("songs.arff", HEADER + data))


def test_labels_that_are_not_binary(folder):
    text = HEADER.replace("'very sad' {1,0}", "'very sad' {no,yes}")
    with pytest.raises(ValueError, match=r"songs.arff, line 6: expected the values \{0, 1\} for the label 'very sad'"):
        read_mulan(folder("songs.arff", text))
    text = HEADER.replace("calm {0,1}", "calm numeric")
    with pytest.raises(ValueError, match=r"songs.arff, line 8: expected 0 or 1 for the label 'calm', found 0.5"):
        read_mulan(folder("songs.arff", text + "0.5,1,C,0,1\n"))


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("", r"line 1: expected XML, found no element found"),
        ("<labels>\n<label name='calm'>\n</labels>", r"line 3: expected XML, found mismatched tag"),
        (
            "<labels>\n<label name='calm'/>\n<label/>\n</labels>",
            r"line 3: expected <label name=\"...\">, found a label without",
        ),
        (
            "<labels>\n<label name='calm'/>\n<label name='calm'/></labels>",
            r"line 3: expected labels of different names",
        ),
        (
            "<labels>\n\n<label name='joy'/></labels>",
            r"line 3: expected the name of an attribute of songs.arff, found 'joy'",
        ),
        ("<labels>\n<topic name='joy'/></labels>", r"line 2: expected the element <label>, found '<topic>'"),
        ("<html/>", r"line 1: expected the element <labels>, found '<html>'"),
        ("<labels></labels>", r"line 1: expected a <label>, found none"),
    ],
)
def test_malformed_xml(folder, xml, message):
    with pytest.raises(ValueError, match=r"^bad.xml, " + message):
        read_mulan(folder("songs.arff", HEADER + DENSE), folder("bad.xml", xml))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "n_labels", "n_relevant"),
    [
        ("emotions", (391, 72), 6, 709),
        ("scene", (1211, 294), 6, 1286),
        ("yeast", (1500, 103), 14, 6342),
        ("enron", (1123, 1001), 53, 3803),
        ("flags", (129, 43), 7, 441),
    ],
)
def test_real_sets(data_dir, name, shape, n_labels, n_relevant):
    bunch = read_mulan(data_dir / "multilabel" / name / f"{name}-train.arff")
    assert bunch.data.shape == shape
    assert bunch.target.shape == (shape[0], n_labels)
    assert bunch.target.sum() == n_relevant
    assert sparse.issparse(bunch.data) == (name == "enron")
    test = read_mulan(data_dir / "multilabel" / name / f"{name}-test.arff")
    assert test.feature_names == bunch.feature_names
