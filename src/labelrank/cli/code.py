"""Write a comparison as a Python program that computes the same numbers."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline

from labelrank.cli.choices import Metric
from labelrank.cli.comparison import Protocol

_WIDTH = 110
Imports = set[tuple[str, str]]  # module, name


def program(
    data: str, reading: Mapping[str, Any], rankers: Mapping[str, Any], metrics: Sequence[Metric], protocol: Protocol
) -> str:
    """Return a program that evaluates the rankers like ``labelrank compare``, and prints the same means.

    Parameters
    ----------
    data : str
        The data set.
    reading : mapping
        The options for reading the data.
    rankers : mapping of str to estimator
        The rows of the comparison.
    metrics : sequence of Metric
        The columns of the comparison.
    protocol : Protocol
        The cross-validation.
    """
    imports: Imports = {
        ("sklearn.base", "clone"),
        ("sklearn.model_selection", "RepeatedKFold"),
        ("labelrank.cli.data", "read_data"),
        *(("labelrank.metrics", metric.function.__name__) for metric in metrics),
    }
    functions = ", ".join(f"{metric.name!r}: {metric.function.__name__}" for metric in metrics)
    cv = f"n_splits={protocol.folds}, n_repeats={protocol.repeats}, random_state={protocol.seed}"
    options = "".join(f", {name}={value!r}" for name, value in reading.items())
    lines = [f"    {name!r}: {expression(ranker, imports, 4)}," for name, ranker in rankers.items()]
    seen = "y[train]"
    if protocol.missing:
        imports.add(("labelrank", "mask_rankings"))
        seed = f"int(np.random.SeedSequence([{protocol.seed}, fold]).generate_state(1)[0])"
        seen = f"mask_rankings(y[train], {protocol.missing}, how={protocol.missing_how!r}, random_state={seed})"
    modules: dict[str, list[str]] = {}
    for module, name in sorted(imports):
        modules.setdefault(module, []).append(name)
    head = [f"from {module} import {', '.join(names)}" for module, names in modules.items()]
    return "\n".join(
        [
            "import numpy as np",
            *head,
            "",
            f"problem = read_data({data!r}{options})",
            "X, y = problem.data, problem.target",
            "rankers = {",
            *lines,
            "}",
            f"metrics = {{{functions}}}",
            f"cv = RepeatedKFold({cv})",
            "results = {}",
            "for name, ranker in rankers.items():",
            "    results[name] = scores = {metric: [] for metric in metrics}",
            "    for fold, (train, test) in enumerate(cv.split(np.empty(len(y)))):",
            f"        fitted = clone(ranker).fit(X[train], {seen})",
            "        predicted = fitted.predict(X[test])",
            "        for metric, function in metrics.items():",
            "            scores[metric].append(function(y[test], predicted))",
            '    means = [f"{metric} {np.nanmean(of):.3f} ± {np.nanstd(of):.3f}" for metric, of in scores.items()]',
            "    print(f\"{name}: {', '.join(means)}\")",
        ]
    )


def expression(value: Any, imports: Imports, indent: int = 0) -> str:
    """Return an expression for an estimator or a parameter value; the required imports are added to `imports`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from labelrank import LogLinearRanker
    >>> from labelrank.cli.code import expression
    >>> expression(make_pipeline(StandardScaler(), LogLinearRanker(alpha=2.0)), set())
    'make_pipeline(StandardScaler(), LogLinearRanker(alpha=2.0))'
    """
    if isinstance(value, Pipeline) and _is_plain(value):
        imports.add(("sklearn.pipeline", "make_pipeline"))
        return _call("make_pipeline", [("", step) for _, step in value.steps], imports, indent)
    if isinstance(value, BaseEstimator):
        name = type(value).__name__
        imports.add((_home(type(value)), name))
        defaults = _defaults(type(value))
        given = [(each, of) for each, of in value.get_params(deep=False).items() if not _same(of, defaults.get(each))]
        return _call(name, given, imports, indent)
    if isinstance(value, (list, tuple)):
        parts = [expression(part, imports, indent + 4) for part in value]
        if isinstance(value, list):
            return _layout("[", parts, "]", indent)
        return _layout("(", parts, ",)" if len(parts) == 1 else ")", indent)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {expression(each, imports, indent)}' for key, each in value.items())}}}"
    if isinstance(value, type):
        imports.add(("numpy" if value.__module__ == "numpy" else value.__module__, value.__name__))
        return value.__name__
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return "np.nan"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _call(name: str, given: list[tuple[str, Any]], imports: Imports, indent: int) -> str:
    parts = [f"{each}={text}" if each else text
             for each, of in given for text in [expression(of, imports, indent + 4)]]  # fmt: skip
    return _layout(f"{name}(", parts, ")", indent)


def _layout(start: str, parts: list[str], end: str, indent: int) -> str:
    """Join the parts on one line if they fit, otherwise one per line."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) + indent <= _WIDTH and "\n" not in line:
        return line
    space = " " * (indent + 4)
    return f"{start}\n" + "".join(f"{space}{part},\n" for part in parts) + " " * indent + end[-1]


def _is_plain(pipeline: Pipeline) -> bool:
    """Whether a pipeline equals the result of `make_pipeline`."""
    plain = make_pipeline(*(step for _, step in pipeline.steps))
    return list(plain.named_steps) == list(pipeline.named_steps) and not pipeline.memory and not pipeline.verbose


def _home(kind: type) -> str:
    """Shortest module path that exports a class."""
    parts = kind.__module__.split(".")
    for n in range(1, len(parts) + 1):
        module = ".".join(parts[:n])
        if getattr(importlib.import_module(module), kind.__name__, None) is kind:
            return module
    return kind.__module__


def _defaults(kind: type) -> dict[str, Any]:
    from inspect import signature

    return {name: parameter.default for name, parameter in signature(kind).parameters.items()}


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, float) and isinstance(default, float) and math.isnan(value) and math.isnan(default):
        return True
    return type(value) is type(default) and not isinstance(value, BaseEstimator) and repr(value) == repr(default)
