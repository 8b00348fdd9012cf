"""Sections as one HTML page, which is saved or shown in a notebook."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from labelrank import __version__
from labelrank._atomic import atomic_path
from labelrank.report.parts import Code, Section


@dataclass(frozen=True)
class Report:
    """A report as one HTML page without links to anything outside of it.

    Attributes
    ----------
    title : str
        Heading of the page.
    html : str
        The page.
    """

    title: str
    html: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : path-like
            Usually ends in ``.html``.

        Returns
        -------
        Path
            Path of the file.
        """
        with atomic_path(path) as partial:
            partial.write_text(self.html, encoding="utf-8", newline="\n")
        return Path(path)

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 80vh; border: 1px solid #8888; border-radius: 6px"
        return f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" style="{style}"></iframe>'


def render(title: str, model: str, sections: Sequence[Section], code: Code) -> Report:
    """Fill the template."""
    script = _resource("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = _template().render(
        title=title,
        model=model,
        sections=sections,
        code=code,
        version=__version__,
        style=_resource("report.css"),
        script=script,
        script_hash=digest,
    )
    return Report(title, html)


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_resource("report.html"))


def _resource(name: str) -> str:
    return resources.files("labelrank.report").joinpath("template", name).read_text(encoding="utf-8")
