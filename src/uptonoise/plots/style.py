"""How all plots look: colours that everyone can tell apart, names as they are, and nothing left behind in rcParams."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from uptonoise._util.docs import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "0.45"
FAINT = 0.3  # the opacity of what is unreliable
MOST = 20  # bars or intervals in one picture

_NAME_LENGTH = 24
_LETTERS_PER_INCH = 12
# Fonts for scripts that matplotlib's own font lacks; those that are installed are used.
_FALLBACKS = (
    *("Noto Sans CJK JP", "Noto Sans", "Noto Sans Arabic", "Noto Sans Devanagari", "PingFang SC"),
    *("Hiragino Sans", "Microsoft YaHei", "Malgun Gothic", "Arial Unicode MS"),
)


# What the docstrings of plots share.
documented = described(
    ax="""
        ax : Axes, optional
            Where to draw; by default a new figure.
        """,
    axes="""
        {ax}

        Returns
        -------
        Axes

        {example}
        """,
    example="""
        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> import uptonoise as un
        >>> from uptonoise import plots
        >>> rng = np.random.default_rng(0)
        """,
    names="""
        names : pair of str
            What the samples are called.
        """,
    comparison="""
        comparison : Comparison
            What :func:`~uptonoise.compare` returned.
        """,
    samples="""
        *samples : array, tensor, frame, iterator of these, RowSource, or Sketch
            The samples; of sketches the frequencies on this column alone are shown.
        frequencies : array of shape (m,), optional
            By default 200 from 0 to where the characteristic function of a smooth distribution has nearly vanished.
        {column}
        """,
    column="""
        column : int or str
            The column, by its place or its name.
        """,
    curves="""
        law : callable, optional
            The characteristic function of a known distribution, t -> phi(t), to draw too.
        names : sequence of str, optional
            What the samples are called.
        band : float or None
            The confidence level of the pointwise bands; None draws none.
        """,
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
def panels(n_columns: int, n_rows: int = 1, *, width: float, height: float) -> Iterator[Any]:
    """Give the Axes of a new figure, one or an array of them; the figure is closed where drawing fails."""
    with styled():
        plt = require("matplotlib.pyplot")
        figure, axes = plt.subplots(n_rows, n_columns, figsize=(width, height), layout="constrained")
        try:
            yield axes
        except BaseException:
            plt.close(figure)
            raise


@contextmanager
def canvas(ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Iterator[Axes]:
    """Give the Axes to draw on: those given, or those of a new figure."""
    if ax is None:
        with panels(1, width=width, height=height) as new:
            yield new
    else:
        with styled():
            yield ax


def name_fonts() -> dict[str, Any]:
    """Return the fonts of a text with names in it, for those parts of given Axes that were made with other fonts."""
    return {"fontfamily": require().rcParams["font.family"]}


def dress(ax: Axes, title: str, xlabel: str, ylabel: str = "", grid: str = "both") -> None:
    """Set title and labels, which must be escaped already and are wrapped to fit, with a thin grid and no box."""
    width, height = inches_of(ax)
    fonts = name_fonts()
    ax.set_title(_wrapped(title, width), fontsize="medium", loc="left", **fonts)
    ax.set_xlabel(_wrapped(xlabel, width), **fonts)
    ax.set_ylabel(_wrapped(ylabel, height), **fonts)
    if grid != "none":
        ax.grid(True, axis=grid, linewidth=0.5, color="0.88")  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize="small")
    if ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=max(4, int(1.8 * width)))


def _wrapped(text: str, inches: float) -> str:
    """Return a text in as many lines as it needs; no line ends within a p-value."""
    width, kept = max(16, int(inches * _LETTERS_PER_INCH)), text.replace("p = ", "p\xa0=\xa0")
    wrapped = "\n".join(part for line in kept.split("\n") for part in textwrap.wrap(line, width))
    return wrapped.replace("\xa0", " ")


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return about how wide and how high the Axes will be: layout shrinks or grows them when all is drawn."""
    width, height = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    names = [line for label in ax.get_yticklabels() for line in label.get_text().split("\n")]
    names_width = max([5, *map(len, names)]) / (_LETTERS_PER_INCH + 3)  # names are small
    return 1.25 * width - names_width, 1.1 * height


def short_name(name: object, length: int = _NAME_LENGTH) -> str:
    r"""Return a name as matplotlib shows it: in one line, not too long, and without reading $ as mathematics.

    Examples
    --------
    >>> from uptonoise.plots.style import short_name
    >>> print(short_name("price in $"), short_name("a very long name\nof a column"))
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
    """Return how high a figure must be for this many named rows."""
    return max(2.6, 1.4 + 0.27 * n_rows)
