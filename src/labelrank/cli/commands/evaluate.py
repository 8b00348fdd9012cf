"""``labelrank evaluate``."""

from __future__ import annotations

import json

import typer

from labelrank.cli.options import (
    DataSet,
    EncodingAsTrained,
    Json,
    KindAsTrained,
    LabelsAsTrained,
    MaxBytes,
    Model,
    ReportFile,
    SeparatorAsTrained,
    UnsolvedOption,
)

EXAMPLE = "labelrank evaluate model.lrk test.csv --report report.html"


def evaluate(
    model: Model,
    data: DataSet,
    report: ReportFile = None,
    labels: LabelsAsTrained = None,
    kind: KindAsTrained = None,
    unsolved: UnsolvedOption = None,
    separator: SeparatorAsTrained = None,
    encoding: EncodingAsTrained = None,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
) -> None:
    """Evaluate a model on rankings that it was not fitted on.

    The file is read with the options of the training data. Metrics have standard errors over the rows. Kendall's tau is
    also computed for quarters of the rows by confidence, and should increase with it.
    """
    from labelrank.cli.evaluation import Evaluation
    from labelrank.cli.reporting import check_report, report_model
    from labelrank.cli.saved import open_model
    from labelrank.cli.streams import printable

    if report is not None:
        check_report(report, model, data)
    saved = open_model(model)
    problem = saved.read(
        data,
        labels=labels,
        kind=kind,
        unsolved=unsolved,
        separator=separator,
        encoding=encoding,
        max_bytes=max_bytes,
    )
    title = f"{model.name} on {problem.name}"
    if saved.was_fitted_on(data):
        title += ", its training data"
        told = f"the model was fitted on {problem.name}; these numbers are too optimistic for new rows"
        typer.echo(f"labelrank: warning: {printable(told)}", err=True)
    evaluation = Evaluation.of(saved.model, problem)
    if report is not None:
        report_model(saved.model, problem, title).save(report)
        typer.echo(f"labelrank: {report} written", err=True)
    if as_json:
        print(json.dumps(evaluation.document(), indent=2))
    else:
        evaluation.report().print()
