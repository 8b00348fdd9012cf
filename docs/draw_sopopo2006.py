"""Draw docs/_static/sopopo2006.svg, the times by the number of labels on the page on soft projections.

The times are taken from where ``python -m papers sopopo2006`` stores them, in the folder named by ``LABELRANK_CACHE``;
what is not there is timed first, which takes minutes. Run it from the root of the repository when the experiment
changes: ``PYTHONPATH=. python docs/draw_sopopo2006.py``.
"""

from __future__ import annotations

from _svg import save

from papers.sopopo2006 import EXPERIMENT
from papers.sopopo2006.pictures import plot_times

if __name__ == "__main__":
    save(plot_times(EXPERIMENT.run()), "sopopo2006.svg")
