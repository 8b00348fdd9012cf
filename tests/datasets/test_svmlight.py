from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import sparse

from labelrank.datasets import read_svmlight_multilabel

TOPICS = "7,2 1:0.5 3:1\n# a remark\n 2:1\n10 1:2 # another\n"


@pytest.mark.parametrize("content", [TOPICS, TOPICS.replace("\n", "\r\n")], ids=["lf", "crlf"])
def test_read(write, content):
    bunch = read_svmlight_multilabel(write("t.svm", content))
    assert isinstance(bunch.data, sparse.csr_array)
    assert isinstance(bunch.target, sparse.csr_array)
    np.testing.assert_array_equal(bunch.data.toarray(), [[0.5, 0, 1], [0, 1, 0], [2, 0, 0]])
    np.testing.assert_array_equal(bunch.target.toarray(), [[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    assert bunch.target.dtype == np.uint8
    assert bunch.label_names.tolist() == [2, 7, 10]
    assert list(bunch.feature_names) == ["x0", "x1", "x2"]


def test_given_labels_and_features(write):
    path = write("t.svm.gz", gzip.compress(TOPICS.encode()))
    bunch = read_svmlight_multilabel(path, labels=[10, 3, 7, 2], n_features=5)
    np.testing.assert_array_equal(bunch.target.toarray(), [[0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]])
    assert bunch.data.shape == (3, 5)
    with pytest.raises(ValueError, match=r"t.svm.gz, line 4: expected one of the labels given in labels, found 10"):
        read_svmlight_multilabel(path, labels=range(8))
    with pytest.raises(ValueError, match="labels names the label 2 twice"):
        read_svmlight_multilabel(path, labels=[2, 2, 7, 10])


def test_repeated_label_counts_once_and_zero_based(write):
    bunch = read_svmlight_multilabel(write("t.svm", "3,3 0:1\n"))
    assert bunch.target.toarray().tolist() == [[1]]
    assert bunch.data.shape == (1, 1)


def test_no_labels_at_all(write):
    assert read_svmlight_multilabel(write("t.svm", " 1:1\n")).target.shape == (1, 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,x 1:1", r"expected integer labels such as 1,5,7, below 2\*\*53, found '1,x'"),
        ("1.5 1:1", r"expected integer labels such as 1,5,7, below 2\*\*53, found '1.5'"),
        ("9007199254740992 1:1", r"expected integer labels .*, below 2\*\*53, found '9007199254740992'"),
        ("1 1:1 2", r"expected index:value, found '2'"),
        ("1 1:one", r"expected index:value, found '1:one'"),
        ("1 3:1 2:1", r"expected an index larger than 3 and below 2147483647, found '2:1'"),
    ],
)
def test_malformed(write, line, message):
    with pytest.raises(ValueError, match=f"^t.svm, line 4: {message}"):
        read_svmlight_multilabel(write("t.svm", "1 qid:3 1:1\n# remark\n\n" + line + "\n"))


def test_too_few_features_and_no_file(write):
    with pytest.raises(ValueError, match=r"t.svm: .*n_features"):
        read_svmlight_multilabel(write("t.svm", "1 5:1\n"), n_features=2)
    with pytest.raises(FileNotFoundError):
        read_svmlight_multilabel("nowhere.svm")


@pytest.mark.data
def test_real_file(data_dir):
    bunch = read_svmlight_multilabel(data_dir / "letor" / "lightgbm" / "rank.train")
    assert bunch.data.shape[1] == 300
    assert bunch.label_names.tolist() == [0, 1, 2, 3, 4]
    assert (bunch.target.sum(axis=1) == 1).all()


def test_labels_beyond_the_integers_of_floats_are_refused(write):
    with pytest.raises(ValueError, match=r"line 1: expected integer labels .* found '9007199254740993'"):
        read_svmlight_multilabel(write("a.svm", "9007199254740993 1:1\n"))


def test_a_frame_of_too_many_columns_is_refused(write):
    with pytest.raises(ValueError, match=r"the dense frame \(as_frame\) takes 16,392,000,000 bytes or more"):
        read_svmlight_multilabel(write("a.svm", "1 1000000:1\n"), as_frame=True)
