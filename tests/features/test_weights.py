"""Log counts and pivoted tf-idf against the literal formulas and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import features as oracle
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from labelrank.features import LogCountTransformer, PivotedTfidfTransformer


@st.composite
def count_matrices(draw, n_terms=None, counts=(0, 0, 0, 1, 1, 2, 3, 40)):
    n = draw(st.integers(1, 6))
    d = n_terms or draw(st.integers(1, 5))
    return np.array(draw(st.lists(st.sampled_from(counts), min_size=n * d, max_size=n * d))).reshape(n, d)


@given(count_matrices(), st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_array]))
def test_log_counts_equal_the_formula(X, container):
    found = LogCountTransformer().fit_transform(container(X))
    found = found.toarray() if sparse.issparse(found) else found
    assert_allclose(found, oracle.log_counts(X.tolist()), rtol=1e-14)


@given(count_matrices())
def test_log_counts_equal_sublinear_tf(X):
    sublinear = TfidfTransformer(sublinear_tf=True, use_idf=False, norm=None)
    expected = sublinear.fit_transform(sparse.csr_array(X.astype(float)))
    found = LogCountTransformer().fit_transform(sparse.csr_array(X))
    assert_array_equal(found.toarray(), expected.toarray())


@given(st.data(), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([np.asarray, sparse.csr_array]))
def test_pivoted_tfidf_equals_the_formulas(data, slope, container):
    corpus = data.draw(count_matrices())
    documents = data.draw(count_matrices(n_terms=corpus.shape[1]))
    assume(corpus.any())
    fitted = PivotedTfidfTransformer(slope=slope).fit(container(corpus))
    assert_allclose(fitted.idf_, oracle.idf(corpus.tolist()), rtol=1e-12, atol=1e-15)
    for given_documents in (corpus, documents):
        found = fitted.transform(container(given_documents))
        found = found.toarray() if sparse.issparse(found) else found
        expected = oracle.pivoted_tfidf(corpus.tolist(), given_documents.tolist(), slope)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@given(count_matrices(counts=(0, 0, 1)))
def test_without_repeats_and_slope_it_is_idf_by_documents(X):
    # Each term at most once in a document: the corpus count is the document count, and every tf is 1. Scikit-learn's
    # idf has one added.
    assume(X.any())
    expected = TfidfTransformer(smooth_idf=False, norm=None).fit(sparse.csr_array(X[:, X.any(axis=0)]))
    found = PivotedTfidfTransformer(slope=0).fit(sparse.csr_array(X))
    seen = X.any(axis=0)
    assert_allclose(found.idf_[seen], expected.idf_ - 1, atol=1e-14)
    assert_allclose(found.transform(X), X * found.idf_)


@given(count_matrices(counts=(1, 2, 5)), st.sampled_from([0.0, 0.4, 1.0]))
def test_documents_of_average_length_do_not_feel_the_slope(X, slope):
    found = PivotedTfidfTransformer(slope=slope).fit_transform(X)
    sublinear = TfidfTransformer(sublinear_tf=True, use_idf=False, norm=None).fit_transform(X.astype(float)).toarray()
    idf = np.log(len(X) / X.sum(axis=0))
    assert_allclose(found, sublinear / (1 + np.log(X.mean(axis=1, keepdims=True))) * idf, atol=1e-12)


def test_frequent_terms_weigh_against():
    # Five occurrences in two documents: log(2/5) < 0. Two in two: log 1 = 0, and no entry is left.
    X = sparse.csr_array([[4, 1, 1], [1, 1, 0]])
    fitted = PivotedTfidfTransformer().fit(X)
    assert_allclose(fitted.idf_, np.log([2 / 5, 1, 2]))
    found = fitted.transform(X)
    assert found.nnz == 3
    assert (found.toarray()[:, 0] < 0).all()


def test_terms_that_were_never_seen_have_no_weight_but_make_a_document_longer():
    fitted = PivotedTfidfTransformer().fit([[1, 0], [1, 0], [0, 0]])
    assert fitted.idf_[1] == 0
    assert fitted.average_terms_ == 2 / 3
    short, long = fitted.transform(sparse.csr_array([[1, 0], [1, 1]])).toarray()
    assert short[1] == long[1] == 0
    assert 0 < long[0] < short[0]
    assert_allclose(short[0] / long[0], (0.7 + 0.3 * 3) / (0.7 + 0.3 * 1.5))


def test_empty_documents_stay_empty():
    X = sparse.csr_array([[0, 0], [2, 1], [0, 0]])
    found = PivotedTfidfTransformer().fit_transform(X)
    assert_array_equal(np.diff(found.indptr), [0, 2, 0])
    assert_array_equal(PivotedTfidfTransformer().fit(X).transform([[0, 0]]), [[0, 0]])
    assert LogCountTransformer().fit_transform(sparse.csr_array((3, 2))).nnz == 0


def test_the_training_corpus_decides():
    train, test = np.array([[1, 2], [3, 0]]), np.array([[5, 5]])
    alone = PivotedTfidfTransformer().fit(train).transform(test)
    together = PivotedTfidfTransformer().fit(train).transform(np.vstack([test, train]))[:1]
    assert_array_equal(alone, together)


def test_one_document_of_one_term():
    found = PivotedTfidfTransformer().fit([[3]])
    assert_allclose(found.idf_, [-np.log(3)])
    assert_allclose(found.transform([[3]]), [[-np.log(3)]])


def test_single_precision_stays_and_sums_are_exact():
    X = sparse.csr_array(np.array([[2**24, 1], [1, 0], [1, 0]], dtype=np.float32))
    fitted = PivotedTfidfTransformer().fit(X)
    assert fitted.idf_.dtype == np.float64
    assert fitted.idf_[0] == np.log(3 / (2**24 + 2))
    assert fitted.transform(X).dtype == np.float32


@pytest.mark.parametrize("slope", [-0.1, 1.1, "0.3", None, np.nan])
def test_slope_is_a_share(slope):
    with pytest.raises(ValueError, match="'slope' parameter of PivotedTfidfTransformer must be"):
        PivotedTfidfTransformer(slope=slope).fit([[1]])


def test_a_corpus_without_terms_is_an_error():
    with pytest.raises(ValueError, match="X has 2 documents and no term in any of them"):
        PivotedTfidfTransformer().fit(sparse.csr_array((2, 3)))


def test_shares_are_no_counts():
    fitted = PivotedTfidfTransformer().fit([[1, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"the mean of the terms of row 1 of X is at most 1/e.*pass counts"):
        fitted.transform([[1, 0], [0.2, 0.3]])
