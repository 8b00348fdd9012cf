"""Algorithm selection scenarios (ASlib)."""

from __future__ import annotations

import re

import numpy as np
from sklearn.utils import Bunch

from labelrank._compat import validate_params
from labelrank.datasets._aslib_folder import Scenario, read_scenario
from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._columns import frame_of_matrix
from labelrank.datasets._costs import UNSOLVED, Kind, Unsolved, ranks_from_values
from labelrank.datasets._csv import read_text_table
from labelrank.datasets._files import MAX_BYTES, DataFile, PathLike, excerpt, listing, malformed

_PREFIX = "perf|"
_INSTANCE = "instance_id"


@validate_params(unsolved=UNSOLVED)
def read_aslib(
    path: PathLike,
    *,
    maximize: bool | None = None,
    unsolved: Unsolved | None = None,
    encoding: str = "utf-8",
    as_frame: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Bunch:
    r"""Read an algorithm selection scenario (ASlib): its official folder, or a CSV file.

    The folder has the files ``description.txt``, ``algorithm_runs.arff``, ``feature_values.arff`` and, if the scenario
    has folds, ``cv.arff``. A run whose status is not ``ok`` failed. Repeated runs and repeated values of a feature are
    averaged; an algorithm failed on an instance if one of its runs did.

    The CSV file has a row per problem instance: its name (``instance_id``, optional), its features, and the performance
    of each algorithm in a column ``perf|algorithm``, empty where the algorithm timed out or failed.

    Parameters
    ----------
    path : str or path-like
        The folder, or the CSV file, packed if its name ends in ``.gz`` or ``.bz2``.
    maximize : bool, optional
        Whether a larger performance is better (an accuracy) or a smaller one (a runtime). By default it is read from
        the description, for a CSV file from ``INDEX.csv`` in the same folder, from the row whose ``scenario`` is the
        name of the file.
    unsolved : {"last", "missing"}, optional
        Ranks of the algorithms that failed on an instance. ``"last"``: tied below those that solved it, which is what
        a user of them sees. ``"missing"``: not observed (NaN). There is no default: if a run failed, it must be given.
    encoding : str, default="utf-8"
        Encoding of the files. A byte order mark is ignored.
    as_frame : bool, default=False
        Return ``data``, ``target`` and ``performance`` as data frames, see :func:`read_csv`.
    max_bytes : int, default=2**30
        Limit of each unpacked file and of each matrix that is made of it.

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_instances, n_features), NaN where a feature is missing;
        - ``target``: ndarray of shape (n_instances, n_algorithms), ranks. With ``unsolved="last"`` all algorithms are
          tied on an instance that none of them solved;
        - ``feature_names``, ``label_names``: names of the features and algorithms;
        - ``DESCR``: description;
        - ``performance``: ndarray of shape (n_instances, n_algorithms), NaN for runs that failed; with ``cutoff``, the
          costs of :func:`labelrank.metrics.mean_cost` and its kin;
        - ``maximize``: whether a larger performance is better;
        - ``cutoff``: time after which a run was stopped, from the description or ``INDEX.csv``; None if unknown;
        - ``folds``: ndarray of shape (n_instances,), the fold of each instance for
          :class:`~sklearn.model_selection.PredefinedSplit`, of shape (n_instances, n_repetitions) if ``cv.arff`` has
          several repetitions; None without folds;
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
    >>> sat = read_aslib(path, maximize=False, unsolved="last")
    >>> sat.target
    array([[1., 2., 3.]])
    >>> sat.performance
    array([[ 1.5, 30. ,  nan]])
    """
    with DataFile(path, encoding=encoding, max_bytes=max_bytes) as file:
        found = read_scenario(file) if file.path.is_dir() else _read_table(file, maximize)
        maximize = found.maximize if maximize is None else maximize
        kind: Kind = "scores" if maximize else "costs"
        target = ranks_from_values(file, found.performance, kind, unsolved, found.algorithms, found.lines)
        if found.observed is not None:
            target[~found.observed] = np.nan
        missing = np.isnan(found.performance).mean() if found.performance.size else 0.0
        size = read_from(file, len(target), len(found.features), len(found.algorithms))
        descr = (
            f"{size} The labels are algorithms, the "
            f"{'largest' if maximize else 'smallest'} performance first; the runs that failed ({missing:.1%}) are "
            f"{'tied last' if unsolved == 'last' else 'not observed'}."
        )
        return make_bunch(
            found.data,
            target,
            found.features,
            found.algorithms,
            descr,
            as_frame=as_frame,
            file=file,
            performance=frame_of_matrix(found.performance, found.algorithms, file) if as_frame else found.performance,
            maximize=bool(maximize),
            cutoff=found.cutoff,
            folds=found.folds,
            instance_names=found.instances,
        )


def _read_table(file: DataFile, maximize: bool | None) -> Scenario:
    table = read_text_table(file, null_values=("NA", "?"))
    algorithms = [name for name in table.columns if name.startswith(_PREFIX)]
    if not algorithms:
        raise malformed(file, 1, f"columns named {_PREFIX}algorithm", f"the columns {listing(table.columns)}")
    expected = "a finite performance, or nothing where it failed, in the column"
    performance = np.column_stack([table.numbers(name, finite=expected) for name in algorithms])
    features = [name for name in table.columns if name != _INSTANCE and not name.startswith(_PREFIX)]
    data = np.empty((len(table.lines), len(features)))
    for i, name in enumerate(features):
        data[:, i] = table.numbers(name)
    maximize, cutoff = _from_index(file, maximize)
    return Scenario(
        data=data,
        features=features,
        performance=performance,
        algorithms=[name.removeprefix(_PREFIX) for name in algorithms],
        instances=table.columns.get(_INSTANCE),
        maximize=maximize,
        cutoff=cutoff,
        lines=table.lines,
    )


def _from_index(file: DataFile, maximize: bool | None) -> tuple[bool, float | None]:
    """``maximize``, if it is not given, and ``cutoff`` of the scenario, from the INDEX.csv beside the file."""
    path, name = file.path.parent / "INDEX.csv", file.path.name
    scenario = re.sub(r"(\.csv)?(\.gz|\.bz2)?$", "", name)
    hint = "pass maximize=True or maximize=False"
    if not path.exists():
        if maximize is None:
            raise ValueError(f"there is no INDEX.csv beside {name} that says whether larger is better; {hint}")
        return maximize, None
    with DataFile(path, encoding=file.encoding, max_bytes=file.max_bytes) as index:
        table = read_text_table(index)
        for column in ("scenario", "maximize"):
            if column not in table.columns:
                columns = listing(table.columns)
                raise malformed(index, 1, f"a header with the column {column!r}", f"the columns {columns}")
        if scenario not in table.columns["scenario"]:
            if maximize is None:
                raise ValueError(f"no line for the scenario {scenario!r} says whether larger is better; {hint}")
            return maximize, None
        entry = table.columns["scenario"].index(scenario)
        direction = str(table.columns["maximize"][entry]).lower()
        if direction not in ("true", "false"):
            raise malformed(index, table.lines[entry], "true or false in the column 'maximize'", excerpt(direction))
        cutoff = table.numbers("cutoff")[entry] if "cutoff" in table.columns else 0.0
        # 0 stands for a scenario without a cutoff
        return direction == "true" if maximize is None else maximize, float(cutoff) if cutoff > 0 else None
