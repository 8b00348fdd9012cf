"""Shalev-Shwartz, Singer, "Efficient learning of label ranking by soft projections onto polyhedra" (JMLR 7, 2006).

The paper's three timing studies: one soft projection as it is stated, the same after its reduction to one variable per
label, and batch learning from ten examples per label; all on Gaussian data. The paper compares with LOQO, a commercial
interior-point solver; in its place are current general solvers, called natively::

    pip install "labelrank[cli,qp]"             Clarabel, PIQP, OSQP, DAQP
    python -m papers sopopo2006                 minutes; the machine should have nothing else to do
    python -m papers sopopo2006 --quick         small sizes, in seconds; works without the solvers

Times are compared at equal accuracy: a solver is timed at the loosest tolerance of a list with which its objective is
as near to the optimum as the accuracy asks for, after its point was made feasible. What is counted is CPU time of one
thread, the smallest of several repeats, for setting up and solving; bringing the problem into the solver's form is not
counted. Times are stored with the sizes and the versions of the solvers, not with the machine: use another cache folder
for another machine.
"""

from papers.frame import Experiment
from papers.sopopo2006.report import report
from papers.sopopo2006.timing import QUICK, Protocol, cells, compute, generate, load

EXPERIMENT = Experiment(
    name="sopopo2006",
    title="Shalev-Shwartz, Singer: Efficient learning of label ranking by soft projections onto polyhedra, JMLR 2006",
    version=3,
    data={"gaussian": None},
    protocol=Protocol(),
    quick=QUICK,
    load=load,
    generate=generate,
    cells=cells,
    compute=compute,
    report=report,
)
