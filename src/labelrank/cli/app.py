"""The commands. What a command needs is imported when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from labelrank.cli.commands import compare, convert, evaluate, explain, fit, inspect, predict, warmup
from labelrank.cli.streams import printable


class Commands(TyperGroup):
    """Commands whose errors about data, files and options are one sentence, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command: status 1 if the content of a file is wrong, 2 if the command was misused."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show
                return super().invoke(ctx)
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            if isinstance(error, OSError) and error.filename is None:  # of standard output
                raise
            typer.echo(f"labelrank: error: {printable(_sentence(error))}", err=True)
            raise typer.Exit(_status(error)) from error


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"labelrank: warning: {printable(' '.join(str(message).split()))}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    return text or type(error).__name__


def _status(error: Exception) -> int:
    from labelrank.cli.failure import Failure
    from labelrank.datasets import DataFileError

    return 1 if isinstance(error, (DataFileError, Failure, MemoryError)) else 2


app = typer.Typer(
    name="labelrank",
    cls=Commands,
    help="Learn to rank a fixed set of labels for each instance.",
    epilog="A model, predictions and a report: labelrank fit train.csv -o model.lrk, labelrank predict model.lrk "
    "new.csv -o ranked.csv, labelrank evaluate model.lrk test.csv --report report.html",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from labelrank import __version__

        typer.echo(f"labelrank {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


for command, example in (
    (fit.fit, fit.EXAMPLE),
    (predict.predict, predict.EXAMPLE),
    (evaluate.evaluate, evaluate.EXAMPLE),
    (explain.explain, explain.EXAMPLE),
    (compare.compare, compare.EXAMPLE),
    (inspect.inspect, inspect.EXAMPLE),
    (convert.convert, convert.EXAMPLE),
    (warmup.warmup, warmup.EXAMPLE),
):
    app.command(epilog=f"Example: {example}")(command)
