"""Tsivtsivadze et al., "A sparse regularized least-squares preference learning algorithm" (SCAI, 2008), Table 1.

The parses of a sentence are ranked by an RLS regressor, a sparse RLS regressor, RankRLS and sparse RankRLS. The basic
learners are trained on five parses a sentence; these are the basis of the sparse ones, which learn from fifteen more::

    python -m papers tsivtsivadze2008                link-grammar parses, in the folder named by LABELRANK_DATA
    python -m papers tsivtsivadze2008 --data letor   graded documents of queries
    python -m papers tsivtsivadze2008 --quick        generated parses, in seconds

Half of the sentences are for training and for the choice of kernel and penalty, by 10-fold cross-validation over
sentences, each learner on the parses that it is trained on. The other half is for the table: the disagreement error of
all parses of a sentence, averaged over sentences, and Wilcoxon's signed-rank test over sentences. The error is divided
by the number of pairs of different parses. The kernel counts paths in the graphs of the parses; for documents it is
Gaussian.
"""

from papers.frame import Experiment
from papers.tsivtsivadze2008.data import QUICK, Protocol, generate, load
from papers.tsivtsivadze2008.draws import cells, compute
from papers.tsivtsivadze2008.report import report

EXPERIMENT = Experiment(
    name="tsivtsivadze2008",
    title="Tsivtsivadze et al.: A sparse regularized least-squares preference learning algorithm, SCAI 2008",
    version=1,
    data={"parse": "parse", "letor": "letor/lightgbm"},
    protocol=Protocol(),
    quick=QUICK,
    load=load,
    generate=generate,
    cells=cells,
    compute=compute,
    report=report,
)
