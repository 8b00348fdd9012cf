"""Sphinx configuration. Builds offline: formulas become MathML here, and no page fetches anything."""

from __future__ import annotations

import doctest
import html
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

import labelrank

project = "labelrank"
author = "The labelrank developers"
copyright = author
version = release = labelrank.__version__

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the examples that import papers

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "code"

autosummary_generate = True
autodoc_typehints = "none"
_routed = ("fit", "partial_fit", "predict", "decision_function", "pairwise_proba", "score")
autodoc_default_options = {"exclude-members": ", ".join(f"set_{method}_request" for method in _routed)}
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Examples run under ``sphinx-build -b doctest``; a page is one session, from its first block to its last.
doctest_global_setup = "import numpy as np"
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
trim_doctest_flags = True

html_theme = "pydata_sphinx_theme"
html_title = f"labelrank {version}"
html_static_path = ["_static"]
html_css_files = ["labelrank.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_sidebars = {"**": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "use_edit_page_button": False,
}


# What the converter of docutils does not know or gets wrong, and how to say it instead.
_TEX = [
    (r"\\dots\b", r"\\ldots"),
    (r"\\([td]?frac)\s*(\d)\s*(\w)", r"\\\1{\2}{\3}"),  # \frac1m
    (r"\\([td]?frac)\s*(\d)\s*(?=[{\\])", r"\\\1{\2}"),  # \frac1{m}
    (r"\\hat\s*(\\[a-zA-Z]+|\w|\{[^{}]*\})_", r"\\hat{\1}{}_"),  # the index goes beside the hat, not below
]


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    tex = node.astext()
    for pattern, replacement in _TEX:
        tex = re.sub(pattern, replacement, tex)
    try:
        return str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _visit_math_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _quote_types(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep reST from reading the types of parameters: ``"rank_"`` and ``(n_features_in_,)`` are no links."""
    for i, line in enumerate(lines):
        if match := re.match(r"(\s*\*{0,2}\w[\w, *]* : )(.*?)(default=(.+))?$", line):
            start, kind, _, default = match.groups()
            kind = re.sub(r"(?<=\w)_(?!\w)", r"\\_", kind)
            lines[i] = start + kind + (rf"default=\ ``{default}``" if default else "")


def setup(app: Any) -> None:
    """Register the formula writer (browsers draw MathML themselves) and the docstring filter."""
    app.connect("autodoc-process-docstring", _quote_types, priority=100)  # before numpydoc
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
