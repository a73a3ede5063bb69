"""Pictures of :mod:`uptonoise.plots` as SVG that stands within a page.

Text stays text, in the reader's own fonts, so that names in any script are drawn. Ids are made unique over the page.
What has the colour of ink takes that of the page, so that one picture serves a light and a dark one.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_INK = "#010203"  # no plot's own colour, so that it can be told in the SVG
_PAGE_COLOURS = {  # of what plots draw in black, white and greys
    _INK: "currentColor",
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#737373": "var(--muted)",
    "#e0e0e0": "var(--line)",
}
_MANY_POINTS = 500  # that become an image, which is smaller
_DPI = 200
SIZE = (4.3, 3.2)  # inches, at which letters are read on a phone too
_STYLE: Any = {
    "svg.fonttype": "none",
    "font.size": 10,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK),
    "legend.frameon": False,
    "axes.facecolor": "none",
}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Picture(NamedTuple):
    """A figure for the page: the SVG, which has its description, and the caption below it."""

    svg: Markup
    caption: str


def printable(text: str) -> str:
    """Return a text without characters that XML and HTML forbid."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def picture(
    key: str,
    plot: Callable[[Axes], object],
    *,
    caption: str,
    description: str,
    size: tuple[float, float] = SIZE,
    black_is_ink: bool = True,
) -> Picture:
    """Draw on new axes, whatever the user's own settings are; `key` makes the ids of this picture its own.

    Black and white are those of the page, but where they lie on a colour that does not change with it.
    """
    file = io.StringIO()
    with style.context(["default", _STYLE, {"svg.hashsalt": key}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the browser has more fonts
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        plot(axes)
        _fit(figure, axes)
        figure.savefig(file, format="svg", dpi=_DPI, transparent=True, metadata={"Date": None})
    colours = _PAGE_COLOURS if black_is_ink else {_INK: "currentColor", "#000000": "#000000"}
    return Picture(Markup(_inline(file.getvalue(), key, colours, description)), caption)


def _fit(figure: Figure, axes: Axes) -> None:
    """Make a plot fit for a small screen: the caption for its title, few numbers, and the legend below."""
    axes.set_title("", loc="left")
    if isinstance(axes.xaxis.get_major_locator(), MaxNLocator):
        axes.locator_params(axis="x", nbins=6)
    for marks in axes.collections:
        marks.set_rasterized(np.shape(marks.get_offsets())[0] > _MANY_POINTS)
    legend = axes.get_legend()
    if legend is not None:
        figure.draw_without_rendering()
        below = (axes.xaxis.get_tightbbox().y0 - axes.bbox.y0) / figure.dpi  # type: ignore[union-attr]
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((0, 0), axes.transAxes + ScaledTranslation(0, below, figure.dpi_scale_trans))


def _inline(svg: str, key: str, colours: dict[str, str], description: str) -> str:
    """Return matplotlib's file as an element of a page."""
    root = ElementTree.fromstring(printable(re.sub(r">\s+<", "><", svg)))
    # Matplotlib's style sheet would apply to the whole page; the page has the same rules for figures.
    for child in [root.find(f"{_SVG}metadata"), root.find(f"{_SVG}defs[{_SVG}style]")]:
        if child is not None:
            root.remove(child)
    referred = set(re.findall(r"#([\w-]+)", svg))
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)  # a page knows the names without it
        attributes = {name.removeprefix(_XLINK): value for name, value in element.items()}
        if attributes.get("id") not in referred:
            attributes.pop("id", None)
        element.attrib.clear()
        element.attrib.update({name: _attribute(name, value, key, colours) for name, value in attributes.items()})
        if element.tag == "text" and "fill" not in element.get("style", ""):
            element.set("fill", colours["#000000"])
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": view, "role": "img", "aria-label": printable(description)})
    return ElementTree.tostring(root, encoding="unicode")


def _attribute(name: str, value: str, key: str, colours: dict[str, str]) -> str:
    """Return an attribute with references that are the picture's own, and colours that are the page's."""
    if name == "id":
        return f"{key}-{value}"
    if name == "href":
        return f"#{key}-{value[1:]}" if value.startswith("#") else value
    if name == "d":
        return " ".join(value.split())
    value = re.sub(r"font-family: [^;]*(; )?", "", value).replace("url(#", f"url(#{key}-")
    return re.sub("#[0-9a-f]{6}", lambda colour: colours.get(colour[0], colour[0]), value)
