"""Amit, Dekel, Singer, "A boosting algorithm for label covering in multilabel problems" (AISTATS, 2007), Figures 3, 4.

A classifier is trained with each of five coverings and measured with all five covering errors, and with one-error,
coverage and average precision. The claim is that the diagonal wins: for each covering error, the classifier that was
trained with this covering is the best::

    python -m papers amit2007                  Reuters-21578, in the folder named by LABELRANK_DATA
    python -m papers amit2007 --data yeast     or emotions, scene, enron, flags: the files of Mulan
    python -m papers amit2007 --data all       all of these, with a summary
    python -m papers amit2007 --data rcv1      RCV1, by scikit-learn
    python -m papers amit2007 --quick          generated documents, in seconds

The paper boosts. Its steps are small where examples have many features, so a table after a fixed number of rounds shows
how far these led as much as what the losses are good for. The loss is therefore minimized by L-BFGS, with a penalty
chosen for each covering on a part of the training data, and with one small penalty for all; a third table is that of
boosting. Whether the diagonal is better than another row is tested over the examples, by the paired t-test: the paired
Wald test of the paper with Student's distribution in place of the normal.
"""

from papers.amit2007.data import MULAN, QUICK, Protocol, generate, load
from papers.amit2007.learners import cells, compute
from papers.amit2007.report import report
from papers.frame import Experiment

EXPERIMENT = Experiment(
    name="amit2007",
    title="Amit, Dekel, Singer: A boosting algorithm for label covering in multilabel problems, AISTATS 2007",
    version=3,
    data={"reuters": "text", **{name: f"multilabel/{name}" for name in MULAN}, "rcv1": None, "all": ""},
    protocol=Protocol(),
    quick=QUICK,
    load=load,
    generate=generate,
    cells=cells,
    compute=compute,
    report=report,
)
