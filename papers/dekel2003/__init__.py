"""Dekel, Manning, Singer, "Log-linear models for label ranking" (NIPS 16, 2003), Figure 4.

Documents are labeled with nodes of a topic tree. Each gives a preference graph of three layers (its topics, their
siblings, the rest); the features are log counts of some 3200 words chosen on each training fold. A log-linear ranker is
trained with each of the four decompositions and measured with all four errors, by 5-fold cross-validation::

    python -m papers dekel2003                 Reuters-21578, in the folder named by LABELRANK_DATA
    python -m papers dekel2003 --data rcv1     RCV1, by scikit-learn
    python -m papers dekel2003 --quick         generated documents, in seconds

The paper boosts, on 66,000 documents of RCV1. Its steps are small, so the loss is minimized by L-BFGS here, with a
penalty chosen on a part of the training fold; a second table is the result of a fixed number of boosting steps.
"""

from papers.dekel2003.data import QUICK, Protocol, generate, load
from papers.dekel2003.learners import cells, compute
from papers.dekel2003.report import report
from papers.frame import Experiment

EXPERIMENT = Experiment(
    name="dekel2003",
    title="Dekel, Manning, Singer: Log-linear models for label ranking, NIPS 2003",
    version=3,
    data={"reuters": "text", "rcv1": None},
    protocol=Protocol(),
    quick=QUICK,
    load=load,
    generate=generate,
    cells=cells,
    compute=compute,
    report=report,
)
