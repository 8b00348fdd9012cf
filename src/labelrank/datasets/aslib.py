"""Algorithm selection scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from labelrank._compat import StrOptions, validate_params
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._csv import read_text_table
from labelrank.datasets._files import PathLike, malformed
from labelrank.supervision import from_top_k, ranks_from_scores

_PREFIX = "perf|"
_INSTANCE = "instance_id"


@validate_params(unsolved=[StrOptions({"last", "missing"})])
def read_aslib(path: PathLike, *, maximize: bool | None = None, unsolved: Literal["last", "missing"] = "last") -> Bunch:
    r"""Read an algorithm selection scenario (ASlib) in its CSV form.

    The file has a row per problem instance: its name (``instance_id``, optional), its features, and the performance of
    each algorithm in a column ``perf|algorithm``, empty where the algorithm timed out or failed.

    Parameters
    ----------
    path : str or path-like
        The file, packed by gzip if its name ends in ``.gz``.
    maximize : bool, optional
        Whether a larger performance is better (an accuracy) or a smaller one (a runtime). By default it is read from
        the file ``INDEX.csv`` in the same folder, from the row whose ``scenario`` is the name of the file.
    unsolved : {"last", "missing"}, default="last"
        Ranks of the algorithms that failed on an instance. ``"last"``: tied below those that solved it, which is what
        a user of them sees. ``"missing"``: not observed (NaN).

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_instances, n_features), NaN where a feature is missing;
        - ``target``: ndarray of shape (n_instances, n_algorithms), ranks. With ``unsolved="last"`` all algorithms are
          tied on an instance that none of them solved;
        - ``feature_names``, ``label_names``: names of the features and algorithms;
        - ``DESCR``: description;
        - ``performance``: ndarray of shape (n_instances, n_algorithms), NaN for runs that failed;
        - ``maximize``: whether a larger performance is better;
        - ``instance_names``: the ``instance_id`` of each row, None without such a column.

    References
    ----------
    B. Bischl et al. ASlib: a benchmark library for algorithm selection. Artificial Intelligence 237, 2016.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from labelrank.datasets import read_aslib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "SAT.csv")
    >>> _ = path.write_text("instance_id,n_vars,perf|fast,perf|slow,perf|fragile\na.cnf,9,1.5,30.0,\n")
    >>> sat = read_aslib(path, maximize=False)
    >>> sat.target
    array([[1., 2., 3.]])
    >>> sat.performance
    array([[ 1.5, 30. ,  nan]])
    """
    table = read_text_table(path, null_values=("NA", "?"))
    algorithms = [name for name in table.columns if name.startswith(_PREFIX)]
    if not algorithms:
        raise malformed(path, 1, f"columns named {_PREFIX}algorithm", f"the columns {list(table.columns)}")
    if maximize is None:
        maximize = _direction_from_index(Path(path))
    expected = "a finite performance, or nothing where it failed, in the column"
    performance = np.column_stack([table.numbers(name, finite=expected) for name in algorithms])
    features = [name for name in table.columns if name != _INSTANCE and name not in algorithms]
    data = np.empty((len(table.lines), len(features)))
    for i, name in enumerate(features):
        data[:, i] = table.numbers(name)
    target = ranks_from_scores(performance if maximize else -performance)
    if unsolved == "last":
        target = from_top_k(target)
    descr = (
        f"{read_from(path, len(target), len(features), len(algorithms))} The labels are algorithms, the "
        f"{'largest' if maximize else 'smallest'} performance first; the runs that failed "
        f"({np.isnan(performance).mean():.1%}) are {'tied last' if unsolved == 'last' else 'not observed'}."
    )
    return make_bunch(
        data,
        target,
        features,
        [name.removeprefix(_PREFIX) for name in algorithms],
        descr,
        performance=performance,
        maximize=bool(maximize),
        instance_names=table.columns.get(_INSTANCE),
    )


def _direction_from_index(path: Path) -> bool:
    """Read ``maximize`` of the scenario from the INDEX.csv in the folder of the file."""
    index = path.parent / "INDEX.csv"
    scenario = path.name.removesuffix(".gz").removesuffix(".csv")
    hint = "pass maximize=True or maximize=False"
    if not index.exists():
        raise ValueError(f"there is no INDEX.csv beside {path.name} that says whether larger is better; {hint}")
    table = read_text_table(index)
    for name in ("scenario", "maximize"):
        if name not in table.columns:
            raise malformed(index, 1, f"a header with the column {name!r}", f"the columns {list(table.columns)}")
    if scenario in table.columns["scenario"]:
        entry = table.columns["scenario"].index(scenario)
        direction = table.columns["maximize"][entry]
        if str(direction).lower() not in ("true", "false"):
            raise malformed(index, table.lines[entry], "true or false in the column 'maximize'", repr(direction))
        return str(direction).lower() == "true"
    raise ValueError(f"INDEX.csv beside {path.name} has no line for the scenario {scenario!r}; {hint}")
