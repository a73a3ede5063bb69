"""How all plots look: colours that everyone can tell apart, names as they are, and nothing left behind in rcParams."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "0.45"
FAINT = 0.3  # the opacity of what is not reliable
MOST = 20  # bars or intervals in one picture

_NAME_LENGTH = 24
_LETTERS_PER_INCH = 12
# Scripts that matplotlib's own font has not; those that are installed are used.
_FALLBACKS = (
    "Noto Sans CJK JP",
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "PingFang SC",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
)


class Look(NamedTuple):
    """A colour, a line and a marker that go together, so that grey print is readable too."""

    color: str
    line: Any  # a name or a pattern of dashes
    marker: str


# The colours of Okabe and Ito.
LOOKS = (
    Look("#0072B2", "-", "o"),
    Look("#D55E00", "--", "s"),
    Look("#009E73", "-.", "^"),
    Look("#CC79A7", ":", "D"),
    Look("#56B4E9", (0, (5, 1)), "v"),
    Look("#E69F00", (0, (1, 1)), "P"),
)


def require(module: str = "matplotlib") -> Any:
    """Return a module of matplotlib, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "uptonoise[plot]"') from None


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the user's own settings, and with fonts for more scripts where there are any."""
    matplotlib, manager = require(), require("matplotlib.font_manager")
    installed = {font.name for font in manager.fontManager.ttflist}
    families = [*matplotlib.rcParams["font.family"], *(name for name in _FALLBACKS if name in installed)]
    with matplotlib.rc_context({"font.family": families}):
        yield


@contextmanager
def canvas(ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Iterator[Axes]:
    """Give the Axes to draw on, those given or new ones; a new figure goes again where drawing fails."""
    with styled():
        if ax is not None:
            yield ax
            return
        plt = require("matplotlib.pyplot")
        figure, made = plt.subplots(figsize=(width, height), layout="constrained")
        try:
            yield made
        except BaseException:
            plt.close(figure)
            raise


def name_fonts() -> dict[str, Any]:
    """Return the fonts of a text with names in it, for those parts of given Axes that were made with other fonts."""
    return {"fontfamily": require().rcParams["font.family"]}


def dress(ax: Axes, title: str, xlabel: str, ylabel: str = "", grid: str = "both") -> None:
    """Set title and labels, which must be escaped already and are folded to fit, with a thin grid and no box."""
    width, height = inches_of(ax)
    fonts = name_fonts()
    ax.set_title(_folded(title, width), fontsize="medium", loc="left", **fonts)
    ax.set_xlabel(_folded(xlabel, width), **fonts)
    ax.set_ylabel(_folded(ylabel, height), **fonts)
    if grid != "none":
        ax.grid(True, axis=grid, linewidth=0.5, color="0.88")  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize="small")
    if ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=max(4, int(1.8 * width)))


def _folded(text: str, inches: float) -> str:
    """Return a text in as many lines as it needs, none of which ends within a p-value."""
    width, kept = max(16, int(inches * _LETTERS_PER_INCH)), text.replace("p = ", "p\xa0=\xa0")
    folded = "\n".join(part for line in kept.split("\n") for part in textwrap.wrap(line, width))
    return folded.replace("\xa0", " ")


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return about how wide and how high the Axes will be: layout shrinks or grows them when all is drawn."""
    width, height = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    names = [line for label in ax.get_yticklabels() for line in label.get_text().split("\n")]
    of_names = max([5, *map(len, names)]) / (_LETTERS_PER_INCH + 3)  # which are small
    return 1.25 * width - of_names, 1.1 * height


def said(name: object, length: int = _NAME_LENGTH) -> str:
    r"""Return a name as matplotlib shows it: in one line, not too long, and without reading $ as mathematics.

    Examples
    --------
    >>> from uptonoise.plots.style import said
    >>> print(said("price in $"), said("a very long name\nof a column"))
    price in \$ a very long name of a c…
    """
    text = " ".join(str(name).split())
    if len(text) > length:
        text = text[: length - 1] + "…"
    return text.replace("$", r"\$")


def add_legend(ax: Axes | Figure, entries: Sequence[tuple[Any, str]], **options: Any) -> None:
    """Add a legend of pairs of an artist and its escaped label; also of those that begin with an underscore."""
    if not entries:
        return
    artists = [artist for artist, _ in entries]
    legend = ax.legend(artists, [str(place) for place in range(len(entries))], fontsize="small", **options)
    for text, (_, label) in zip(legend.get_texts(), entries, strict=True):
        text.set_text(label)


def rows_of_names(ax: Axes, labels: Sequence[str]) -> None:
    """Give the y axis one named row after the other, the first on top."""
    ax.set_yticks(range(len(labels)), labels, **name_fonts())
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def height_of(n_rows: int) -> float:
    """Return how high a figure must be for so many named rows."""
    return max(2.6, 1.4 + 0.27 * n_rows)
