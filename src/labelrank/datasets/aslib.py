"""Algorithm selection scenarios: which solver is fastest on which instance."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from labelrank.datasets._bunch import make_bunch, read_from
from labelrank.datasets._checks import check_choice
from labelrank.datasets._csv import line_of_record, numeric_column, read_text_columns, records
from labelrank.datasets._files import PathLike, malformed
from labelrank.supervision import from_top_k, ranks_from_scores

_PREFIX = "perf|"
_INSTANCE = "instance_id"


def read_aslib(path: PathLike, *, maximize: bool | None = None, unsolved: Literal["last", "missing"] = "last") -> Bunch:
    r"""Read an algorithm selection scenario (ASlib) in its CSV form.

    The file has a line per problem instance: its name (``instance_id``, optional), its features, and the
    performance of each algorithm in a column ``perf|algorithm``, empty where the algorithm timed out or
    failed.

    Parameters
    ----------
    path : str or path-like
        The file; one that ends in ``.gz`` is unpacked.
    maximize : bool, optional
        Whether a larger performance is better (an accuracy) or a smaller one (a runtime). By default it is
        looked up in the file ``INDEX.csv`` beside the scenario, in the line whose ``scenario`` is the name of
        the file.
    unsolved : {"last", "missing"}, default="last"
        ``"last"``: the algorithms that failed on an instance are tied below those that solved it, which is
        what a user of them sees. ``"missing"``: they are not observed (NaN).

    Returns
    -------
    Bunch
        - ``data``: ndarray of shape (n_instances, n_features), NaN where a feature is missing;
        - ``target``: ndarray of shape (n_instances, n_algorithms), ranks. With ``unsolved="last"`` an
          instance that nobody solved has all algorithms tied;
        - ``feature_names``, ``label_names``: names of features and algorithms;
        - ``DESCR``: where it comes from;
        - ``performance``: ndarray of shape (n_instances, n_algorithms), as in the file, NaN where it is
          empty;
        - ``maximize``: the direction used;
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
    check_choice("unsolved", unsolved, ("last", "missing"))
    texts = read_text_columns(path, null_values=("NA", "?"))
    algorithms = [name for name in texts.columns if name.startswith(_PREFIX)]
    if not algorithms:
        raise malformed(path, 1, f"columns named {_PREFIX}algorithm", f"the columns {texts.columns}")
    if maximize is None:
        maximize = _direction_from_index(Path(path))

    def where(record: int) -> int:
        return line_of_record(path, record)

    features = [name for name in texts.columns if name != _INSTANCE and name not in algorithms]
    performance = np.column_stack([numeric_column(path, texts[name], where) for name in algorithms])
    infinite = np.argwhere(np.isinf(performance))
    if len(infinite):
        row, column = infinite[0].tolist()
        raise malformed(
            path,
            where(row),
            f"a finite performance, or nothing where it failed, in the column {algorithms[column]!r}",
            str(performance[row, column]),
        )
    data = np.empty((texts.height, len(features)))
    for i, name in enumerate(features):
        data[:, i] = numeric_column(path, texts[name], where)
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
        instance_names=texts[_INSTANCE].to_list() if _INSTANCE in texts.columns else None,
    )


def _direction_from_index(path: Path) -> bool:
    """Read ``maximize`` of the scenario from the INDEX.csv in the folder of the file."""
    index = path.parent / "INDEX.csv"
    scenario = path.name.removesuffix(".gz").removesuffix(".csv")
    hint = "pass maximize=True or maximize=False"
    if not index.exists():
        raise ValueError(f"there is no INDEX.csv beside {path.name} that says whether larger is better; {hint}")
    stream = records(index)
    _, header = next(stream, (1, []))
    header = [name.strip() for name in header]
    for name in ("scenario", "maximize"):
        if name not in header:
            raise malformed(index, 1, f"a header with the column {name!r}", f"the columns {header}")
    for line, values in stream:
        if len(values) != len(header):
            raise malformed(index, line, f"{len(header)} values, as in the header", str(len(values)))
        entry = dict(zip(header, values, strict=True))
        if entry["scenario"].strip() == scenario:
            direction = entry["maximize"].strip().lower()
            if direction not in ("true", "false"):
                raise malformed(index, line, "true or false in the column 'maximize'", repr(entry["maximize"]))
            return direction == "true"
    raise ValueError(f"INDEX.csv beside {path.name} has no line for the scenario {scenario!r}; {hint}")
