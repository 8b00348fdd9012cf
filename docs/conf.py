"""Sphinx configuration. Builds offline: formulas become MathML here, and no page fetches anything."""

from __future__ import annotations

import doctest
import html
import os
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
sys.path.insert(0, str(Path(__file__).parent))

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "number_tables",
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

# Links into scikit-learn, by an inventory in this folder (docs/inventory.py), so that a build needs no network.
intersphinx_mapping = {"sklearn": ("https://scikit-learn.org/stable/", "scikit-learn.inv")}

# The scripts of examples/ are run to make the gallery: quickly, or with LABELRANK_GALLERY=full on all data.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "quick.UsersFirst",
    "reset_argv": "quick.arguments",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "reference_url": {"labelrank": None},
    "image_srcset": ["2x"],
}

# Every reference leads somewhere, except for these: bare names in docstrings, modules without a page, other packages.
nitpicky = True
nitpick_ignore_regex = [
    ("py:(meth|attr)", r"[a-z_]+|Run\.step"),
    ("py:mod", r"labelrank\.\w+\..*"),
    ("py:obj", r"labelrank\.(trees|aggregation\.mallows)\..*"),
    ("py:class", r"(joblib|dask|distributed)\..*"),
]

# Copy buttons leave out prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# Examples run under ``sphinx-build -b doctest``; a page is one session, from its first block to its last.
doctest_global_setup = "import numpy as np\nfrom commands import bash, sh"
doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
trim_doctest_flags = True

html_theme = "pydata_sphinx_theme"
html_title = f"labelrank {version}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["labelrank.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_sidebars = {"index": [], "api": ["api-sections"], "api/**": ["api-sections"]}  # others: that of the theme
html_theme_options = {
    "logo": {"text": "labelrank", "alt_text": "labelrank"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 1,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "use_edit_page_button": False,
    "github_url": "https://github.com/labelrank/labelrank",
    "pygments_dark_style": "github-dark",
}
if "READTHEDOCS" in os.environ:  # the only place with several versions to switch between
    html_theme_options["check_switcher"] = False
    html_theme_options["switcher"] = {
        "json_url": "https://labelrank.readthedocs.io/en/latest/_static/versions.json",
        "version_match": os.environ.get("READTHEDOCS_VERSION", version),
    }
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher", "navbar-icon-links"]


def _api_sections() -> list[tuple[str, str, dict[str, str]]]:
    """The sections of api.rst, each with the pages of its names: the side bar of the API."""
    sections: list[tuple[str, str, dict[str, str]]] = []
    module, before = "", ""
    for line in (Path(__file__).parent / "api.rst").read_text(encoding="utf-8").splitlines():
        if re.fullmatch("-{3,}", line):
            sections.append((before, re.sub(r"\W+", "-", before.lower()), {}))
        elif line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif sections and re.fullmatch(r"   \w[\w.]*", line):
            name = line.strip()
            sections[-1][2][name.split(".")[-1]] = f"api/generated/{module}.{name}"
        before = line
    return sections


html_context = {"api_sections": _api_sections()}

# What the converter of docutils does not know or gets wrong, and how to say it instead.
_TEX = [
    (r"\\dots\b", r"\\ldots"),
    (r"\\([td]?frac)\s*(\d)\s*(\w)", r"\\\1{\2}{\3}"),  # \frac1m
    (r"\\([td]?frac)\s*(\d)\s*(?=[{\\])", r"\\\1{\2}"),  # \frac1{m}
    (r"\\hat\s*(\\[a-zA-Z]+|\w|\{[^{}]*\})_", r"\\hat{\1}{}_"),  # the index goes beside the hat, not below
]

# What browsers do not space as a printed formula does: norms and absolute values, and names of functions.
_THIN = '<mspace width="0.1667em"></mspace>'
_MATHML = [
    (r"<mo>‖</mo>", '<mo stretchy="false">‖</mo>'),
    (r'<mo stretchy="false">\|</mo>', '<mo stretchy="false" lspace="0" rspace="0">|</mo>'),
    (r"(?<=<mo>&ApplyFunction;</mo>)(?=\s*<(?!mo|mspace))", _THIN),
    (r"(?<=</mi>|</mn>|frac>|msub>|msup>)(?=\s*<mi>(ln|log|exp)</mi>)", _THIN),
]


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    tex = node.astext()
    for pattern, replacement in _TEX:
        tex = re.sub(pattern, replacement, tex)
    try:
        found = str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"
    for pattern, replacement in _MATHML:
        found = re.sub(pattern, replacement, found)
    return found


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _visit_math_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math-block">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _markdown(app: Any, path: Path, docname: str, content: list[str]) -> None:
    """Let pages include CHANGELOG.md: headings and links of Markdown as reST."""
    if path.suffix != ".md":
        return
    text = content[0]
    for mark, line in (("#", "="), ("##", "-"), ("###", "~")):
        text = re.sub(
            rf"^{mark} (.+)$", lambda found, line=line: f"{found[1]}\n{line * len(found[1])}", text, flags=re.M
        )
    content[0] = re.sub(r"\[([^]]+)\]\((https?:[^)]+)\)", r"`\1 <\2>`__", text)


def _run_commands(app: Any, doctree: nodes.document) -> None:
    """Make blocks of ``console``, and those of ``bash`` with our command, part of the doctest session of their page."""
    for block in doctree.findall(nodes.literal_block):
        test, language = block.astext(), block.get("language")
        if language == "console" or (language == "bash" and re.search(r"\blabelrank (?!compare iris)[a-z]", test)):
            if language == "bash":
                test = f">>> bash({test!r})"
            test = re.sub(r"^\$ (.+)$", lambda found: f">>> sh({found[1]!r})", test, flags=re.M)
            block["testnodetype"], block["test"] = "doctest", re.sub(r"^$", "<BLANKLINE>", test, flags=re.M)
            block["groups"], block["options"] = ["default"], {}


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what classes inherit from scikit-learn, which has its own pages on it."""
    return True if str(getattr(obj, "__module__", "")).startswith("sklearn.") else None


def _quote_types(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep reST from reading the types of parameters: ``"rank_"`` and ``(n_features_in_,)`` are no links."""
    for i, line in enumerate(lines):
        if match := re.match(r"(\s*\*{0,2}\w[\w, *]* : )(.*?)(default=(.+))?$", line):
            start, kind, _, default = match.groups()
            kind = re.sub(r"(?<=\w)_(?!\w)", r"\\_", kind)
            lines[i] = start + kind + (rf"default=\ ``{default}``" if default else "")


def setup(app: Any) -> None:
    """Register the formula writer (browsers draw MathML themselves) and the docstring filter."""
    app.connect("include-read", _markdown)
    app.connect("doctree-read", _run_commands)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _quote_types, priority=100)  # before numpydoc
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
