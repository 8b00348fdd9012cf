"""Templates: every label takes the one that promises most."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from labelrank.solvers.boosting.templates import UserTemplates

GAINS = st.sampled_from([0.0, 0.1, 1.0, 2.0, 9.0, 100.0])


@st.composite
def templates_and_gains(draw):
    n_templates, n_hypotheses, k = (draw(st.integers(1, 4)) for _ in range(3))
    size = n_templates * n_hypotheses
    lengths = np.reshape(draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)), (n_templates, n_hypotheses))
    gains = draw(st.lists(GAINS, min_size=n_hypotheses * k, max_size=n_hypotheses * k))
    return lengths / (5.0 * n_hypotheses), np.reshape(gains, (n_hypotheses, k))


@given(templates_and_gains(), st.sampled_from([1.0, 0.5]))
def test_the_best_template_label_by_label(case, power):
    """Whatever a step promises, in proportion to its length or not."""
    templates, gain = case
    lengths = UserTemplates(templates)(lambda length: length**power * gain)
    assert lengths.shape == gain.shape
    for label in range(gain.shape[1]):
        promises = [sum(length**power * gain[j, label] for j, length in enumerate(b)) for b in templates]
        taken = [t for t, b in enumerate(templates) if (b == lengths[:, label]).all()]
        assert taken
        assert max(promises[t] for t in taken) >= max(promises) * (1 - 1e-12)


def test_labels_choose_for_themselves_and_the_first_of_equals():
    templates = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    gain = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0]])
    assert_array_equal(UserTemplates(templates)(lambda length: length * gain), [[1, 0, 1], [0, 1, 0]])


def test_a_label_may_be_promised_nothing():
    templates = np.array([[0.5, 0.5], [0.0, 1.0]])
    assert_array_equal(UserTemplates(templates)(lambda length: length * np.zeros((2, 1))), [[0.5], [0.5]])
