"""The application. Commands import their dependencies when they run, so that ``--help`` is fast."""

from __future__ import annotations

import errno
import warnings
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from labelrank.cli.commands import compare, convert, evaluate, explain, fit, inspect, predict, warmup
from labelrank.cli.streams import printable


class Commands(TyperGroup):
    """Command group that prints errors about data, files and options without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; exit with status 1 for invalid file content or a failed computation, 2 for wrong usage."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show
                return super().invoke(ctx)
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno and error.filename is None:  # about standard output
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

    is_full = getattr(error.__cause__ or error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return 1 if is_full or isinstance(error, (DataFileError, Failure, MemoryError)) else 2


app = typer.Typer(
    name="labelrank",
    cls=Commands,
    help="Learn to rank a fixed set of labels for each instance.",
    epilog="Example: labelrank fit train.csv -o model.lrk, labelrank predict model.lrk new.csv -o ranked.csv, "
    "labelrank evaluate model.lrk test.csv --report report.html",
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
    paragraphs = cleandoc(command.__doc__ or "").split("\n\n")  # without line breaks, so that they fit any terminal
    app.command(help="\n\n".join(map(" ".join, map(str.split, paragraphs))), epilog=f"Example: {example}")(command)
