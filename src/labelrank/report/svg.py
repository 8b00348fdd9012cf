"""Figures as inline SVG, with text as text, colors of the page, and only the necessary identifiers."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from labelrank.plots._matplotlib import BLUE, FAINT, GRAY, INK, VERMILLION
from labelrank.report.parts import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE = {
    "font.size": 10,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.prop_cycle": f"cycler('color', ['{GRAY}', '{BLUE}', '{VERMILLION}'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": GRAY,
    "ytick.color": GRAY,
    "svg.fonttype": "none",
}
_VARIABLES = {
    "#000000": "var(--ink)",
    INK: "var(--ink)",
    GRAY: "var(--muted)",
    FAINT.lower(): "var(--faint)",
    BLUE.lower(): "var(--blue)",
    VERMILLION.lower(): "var(--vermillion)",
}
_COLOR = re.compile("|".join(map(re.escape, _VARIABLES)))
_REFERENCE = re.compile(r"#([\w-]+)")
_DIGITS = re.compile(r"(\.\d\d)\d+")
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def draw(
    key: str,
    what: Callable[[Axes], Any],
    size: tuple[float, float],
    *,
    alt: str,
    caption: str,
    inverted: bool = False,
) -> Figure:
    """Draw on new axes and return the figure as SVG.

    Parameters
    ----------
    key : str
        Short name, different for each figure of a page.
    what : callable
        Draws on the axes that it is given.
    size : tuple of float
        Width and height in inches.
    alt, caption : str
        Text alternative, and text below the figure.
    inverted : bool, default=False
        Keep the colors, which the page inverts in dark mode, instead of replacing them by those of the page.
    """
    from matplotlib import style
    from matplotlib.figure import Figure as Canvas

    buffer = io.BytesIO()
    with style.context(["default", _STYLE, {"svg.hashsalt": key}]):
        canvas = Canvas(figsize=size, layout="constrained")
        what(canvas.subplots())
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return Figure(_embedded(buffer.getvalue(), key, alt, inverted), alt, caption, inverted)


def _embedded(data: bytes, key: str, alt: str, inverted: bool) -> Any:
    from markupsafe import Markup

    root = ElementTree.fromstring(data)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata") or child.tag == f"{_SVG}style":
                parent.remove(child)
    used = {
        name
        for node in root.iter()
        for attribute, value in node.attrib.items()
        if attribute == _LINK or "url(#" in value
        for name in _REFERENCE.findall(value)
    }
    for node in root.iter():
        node.tag = node.tag.removeprefix(_SVG)
        _rewrite(node.attrib, key, used, inverted)
    width = float(root.attrib["viewBox"].split()[2]) * 96 / 72
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": alt, "style": f"--width: {width:.0f}px"}
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _rewrite(attributes: dict[str, str], key: str, used: set[str], inverted: bool) -> None:
    """Shorten numbers, use the color variables of the page, and make identifiers unique to this figure."""
    for name in list(attributes):
        value = attributes[name]
        if name == "id":
            if value in used:
                attributes[name] = f"{key}-{value}"
            else:
                del attributes[name]
        elif name == _LINK:
            del attributes[name]
            attributes["href"] = f"#{key}-{value[1:]}" if value.startswith("#") else value
        elif name in ("d", "x", "y", "transform"):
            attributes[name] = _DIGITS.sub(r"\1", value)
        elif "url(#" in value:
            attributes[name] = value.replace("url(#", f"url(#{key}-")
        if name == "style" and not inverted:
            attributes[name] = _COLOR.sub(lambda found: _VARIABLES[found[0]], attributes[name])
