"""Preference graphs of pairs: arrays of pairs, tables of battles, tables with a column per pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from labelrank._memory import require_memory
from labelrank.supervision.battles import Conflicts, Ties, read_battles, resolved_edges
from labelrank.supervision.edges import Edges
from labelrank.supervision.labels import check_labels, columns_of_parts, sorted_names
from labelrank.supervision.pair_tables import read_pair_table
from labelrank.supervision.storage import GraphStorage
from labelrank.supervision.vectors import check_indices, check_size, vector
from labelrank.supervision.weights import pair_weights


class PairConstructors(GraphStorage):
    """Constructors of :class:`~labelrank.PreferenceGraphs` from pairs of labels."""

    @classmethod
    def from_pairs(
        cls,
        instance: Any,
        better: Any,
        worse: Any,
        weight: Any = None,
        *,
        n_instances: int | None = None,
        n_labels: int | None = None,
        labels: Any = None,
        conflicts: Conflicts = "error",
    ) -> Self:
        """Graphs of battles: in instance i, label `better` won against label `worse`.

        A self-loop, a repeated edge, or both directions of one pair in one instance is an error, unless `conflicts`
        says how to resolve it; cycles of three and more labels are allowed. :meth:`from_battles` reads battles from a
        data frame, with ties and ids of any kind.

        Parameters
        ----------
        instance : array-like of int of shape (n_pairs,)
            Row of X that the pair belongs to, in any order; rows may have no pair.
        better, worse : array-like of shape (n_pairs,)
            Names of labels, or their indices: integers are indices unless there are integers among `labels`.
        weight : array-like of shape (n_pairs,), optional
            Positive weights (numbers of votes).
        n_instances, n_labels : int, optional
            By default one more than the largest index.
        labels : sequence, optional
            Names of the labels; by default names are sorted.
        conflicts : {"error", "drop", "keep_majority", "keep"}, default="error"
            All but ``"error"`` remove self-loops and join repeated edges. ``"keep"`` keeps both directions of a pair,
            each with its votes (summed weights, or counts) as weight: 3 to 1 is no certainty. ``"keep_majority"`` keeps
            the direction with more votes and removes an even vote; ``"drop"`` removes all pairs given in both
            directions. The weights of joined edges are summed.

        Examples
        --------
        >>> from labelrank import PreferenceGraphs
        >>> PreferenceGraphs.from_pairs([0, 0, 1], [2, 2, 0], [0, 1, 1]).to_edges()
        Edges(instance=array([0, 0, 1]), better=array([2, 2, 0]), worse=array([0, 1, 1]))
        """
        winners, losers = vector(better, "better"), vector(worse, "worse")
        columns, names, n_labels = columns_of_parts({"better": winners, "worse": losers}, labels, n_labels)
        n_instances = check_size(n_instances, "n_instances")
        rows = check_indices(vector(instance, "instance"), n_instances, "instance", "n_instances")
        if not len(rows) == len(winners) == len(losers):
            raise ValueError(
                f"instance, better and worse have different lengths: {len(rows)}, {len(winners)}, {len(losers)}"
            )
        n_instances = int(rows.max(initial=-1)) + 1 if n_instances is None else n_instances
        advice = "number the instances 0, 1, ...; from_battles takes ids of any kind"
        require_memory(8.0 * n_instances, f"graphs of {n_instances} instances", advice)
        edges, votes = resolved_edges(
            Edges(rows, *columns),
            pair_weights(weight, len(rows)),
            conflicts,
            lambda at: f"pair {at} (instance {rows[at]})",
            names,
        )
        return cls._from_sorted_edges(edges, votes, n_instances, n_labels, names)

    @classmethod
    def from_battles(
        cls,
        frame: Any,
        *,
        a: Any,
        b: Any,
        winner: Any = None,
        instance: Any = None,
        instances: Any = None,
        ties: Ties = "half",
        labels: Any = None,
    ) -> Self:
        """Graphs of a data frame with a row per battle of two labels.

        All votes count: repeats and both directions of a pair are kept as weights of edges, so that 3 to 1 is learned
        as a probability near 3/4 and not as a certainty. Losses take the weights of the edges relative to each other
        within an instance; for a loss in which every battle counts the same, make one row per battle.

        Parameters
        ----------
        frame : data frame of shape (n_battles, n_columns)
            Of pandas, polars or another library that narwhals supports.
        a, b : str
            Columns with the two labels: names or ids of any kind.
        winner : str, optional
            Column with the winner: a label, the name of its column, or the word "tie" or "draw". By
            default the label in column `a` has won.
        instance : str, optional
            Column with the instance of each battle, ids of any kind. There is a graph for each instance, by default in
            order of first appearance, as in ``frame.drop_duplicates(instance)``. Without it there is a graph for each
            battle, in the order of the rows.
        instances : sequence, optional
            The ids of all instances in the order of the rows of X. An instance without battles has an empty graph.
        ties : {"half", "drop"}, default="half"
            A tie is half a vote for each side, or is dropped, and a warning counts how many are.
        labels : sequence, optional
            Names of the labels; by default those that occur, sorted.

        Examples
        --------
        >>> import polars as pl
        >>> from labelrank import PreferenceGraphs
        >>> battles = pl.DataFrame({
        ...     "prompt": ["p7", "p7", "p7", "p2"],
        ...     "model_a": ["gpt", "gpt", "llama", "qwen"],
        ...     "model_b": ["llama", "llama", "gpt", "gpt"],
        ...     "winner": ["model_a", "model_a", "model_a", "tie"],
        ... })
        >>> graphs = PreferenceGraphs.from_battles(
        ...     battles, instance="prompt", a="model_a", b="model_b", winner="winner")
        >>> graphs.labels, graphs.to_edges(), graphs.weight
        (array(['gpt', 'llama', 'qwen'], dtype=object),
         Edges(instance=array([0, 0, 1, 1]), better=array([0, 1, 0, 2]), worse=array([1, 0, 2, 0])),
         array([2. , 1. , 0.5, 0.5]))
        >>> PreferenceGraphs.from_battles(battles, a="model_a", b="model_b", winner="winner").shape
        (4, 3)
        """
        read = read_battles(frame, instance, instances, a, b, winner, ties)
        if labels is None:
            labels = sorted_names(read.labels, f"columns {a!r} and {b!r}")
        else:  # integers too are names here, and not columns
            known = set(labels := check_labels(labels).tolist())
            if unknown := [name for name in read.labels.tolist() if name not in known]:
                found = f"columns {a!r} and {b!r} name the label {unknown[0]!r}"
                raise ValueError(f"{found}, which is not in labels={labels}")
        return cls.from_pairs(
            read.instance,
            read.better,
            read.worse,
            read.weight,
            n_instances=read.n_instances,
            labels=labels,
            conflicts="keep",
        )

    @classmethod
    def from_pair_table(
        cls,
        table: Any,
        pairs: Sequence[Any] | None = None,
        *,
        sep: str = ":",
        labels: Any = None,
        conflicts: Conflicts = "error",
    ) -> Self:
        """Graphs of a table with one column per pair of labels.

        Parameters
        ----------
        table : data frame, or array-like of shape (n_samples, n_pairs)
            In column ``a:b``: 1 when a is preferred, -1 when b is, 0 for a tie, and NaN or null if the pair was not
            asked. Ties and pairs that were not asked make no edge.
        pairs : sequence of str or of tuples, optional
            The columns to read: names of columns, or for an array one ``"a:b"`` or ``(a, b)`` per column. By default
            all columns of a data frame whose name contains `sep`.
        sep : str, default=":"
            Separator of the two labels in a column name.
        labels : sequence, optional
            Names of the labels; by default those of the pairs, in order of appearance.
        conflicts : {"error", "drop", "keep_majority", "keep"}, default="error"
            As in :meth:`from_pairs`.

        Examples
        --------
        >>> import polars as pl
        >>> from labelrank import PreferenceGraphs
        >>> table = pl.DataFrame({"age": [31, 45], "tea:milk": [1, -1], "milk:water": [0, None], "tea:water": [1, 1]})
        >>> graphs = PreferenceGraphs.from_pair_table(table)
        >>> graphs.labels, graphs.n_edges
        (array(['tea', 'milk', 'water'], dtype=object), 4)
        """
        read = read_pair_table(table, pairs, sep, labels)
        n_labels = len(read.labels)
        edges, votes = resolved_edges(read.pairs, None, conflicts, read.where, read.labels)
        return cls._from_sorted_edges(edges, votes, read.n_rows, n_labels, read.labels)
