"""Cheng, Hühn, Hüllermeier, "Decision tree and instance-based learning for label ranking" (ICML, 2009), the table.

Constraint classification (CC), instance-based label ranking (IBLR), label ranking trees (LRT), and a forest of such
trees, by 5 times 10-fold cross-validation on complete rankings and with 30 % and 60 % of the labels missing: for each
label of each training ranking a coin is tossed, and the test rankings stay complete::

    python -m papers cheng2009                              the sets in the folder lr16 of LABELRANK_DATA
    python -m papers cheng2009 --folder my/sets             any folder of CSV or XARFF files with scaled features
    python -m papers cheng2009 --data raw --folder my/sets  features are scaled to 0..1 on the training folds
    python -m papers cheng2009 --quick                      small bundled and generated sets, in seconds

IBLR weights its neighbors as Dudani does, joins incomplete rankings by their observed pairs, and chooses the number of
neighbors and one of two scalings and distances by leave-one-out on the training rankings.

Our numbers stand beside the printed ones for the sets that the paper has, identified by the names of the files. Further
tables give the average ranks with Friedman's test, the sizes of the trees relative to classification trees, and the
accuracy by the rate of missing labels.
"""

from papers.cheng2009.data import QUICK, Protocol, generate, load
from papers.cheng2009.learners import cells, compute
from papers.cheng2009.report import report
from papers.frame import Experiment

EXPERIMENT = Experiment(
    name="cheng2009",
    title="Cheng, Hühn, Hüllermeier: Decision tree and instance-based learning for label ranking, ICML 2009",
    version=1,
    data={"lr16": "lr16", "raw": "raw"},
    protocol=Protocol(),
    quick=QUICK,
    load=load,
    generate=generate,
    cells=cells,
    compute=compute,
    report=report,
)
