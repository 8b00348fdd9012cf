"""Models saved by older versions are loaded, and predict as they did."""

import json
from pathlib import Path

import numpy as np
import pytest

from labelrank import all_rankers, load

pytest.importorskip("skops")

from golden.make import models, scores

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.lrk"))


@pytest.mark.filterwarnings("ignore:.*was saved with scikit-learn")
@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file(name):
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    model, X = load(FOLDER / f"{name}.lrk"), np.array(expected["X"])
    np.testing.assert_allclose(scores(model, X), expected["scores"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(np.asarray(model.predict(X), float), expected["predict"], rtol=1e-6, atol=1e-6)


def test_every_estimator_has_a_golden_file():
    """If this fails: python tests/golden/make.py."""
    assert not {*all_rankers(), *(name for name, _ in models())} - {*NAMES}


def test_golden_files_are_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.lrk")) < 400_000
