"""How figures of experiments look: one colour and marker per test and per model, cells in words, rates one can read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.plots import LOOKS, Look, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TESTS = {
    "phase test": Look("#0072B2", "-", "o"),
    "phase test, up to an offset": Look("#56B4E9", (0, (5, 1)), "o"),
    "flip test": Look("#D55E00", "--", "s"),
    "flip test, 5 pairings": Look("#E69F00", "--", "s"),
    "phases alone": Look("#009E73", "--", "s"),
    "positivity alone": Look("#CC79A7", ":", "^"),
    "SME": Look("#009E73", "-.", "^"),
    "PhD": Look("#CC79A7", ":", "v"),
    "ME": Look("#B8860B", (0, (3, 1, 1, 1)), "P"),
    "MMD": Look("#222222", (0, (1, 1)), "D"),
    "energy distance": Look("#7F7F7F", (0, (1, 1)), "d"),
    "Kolmogorov-Smirnov": Look("#8C564B", (0, (5, 1)), "<"),
    "Kolmogorov-Smirnov, centred": Look("#C49C94", (0, (5, 1)), "<"),
    "Epps-Singleton": Look("#7B4EA3", (0, (3, 1)), ">"),
    "classifier": Look("#17A2B8", (0, (3, 2)), "h"),
    "stability index": Look("#8A9A00", (0, (2, 2)), "*"),
}
_MODELS = {
    "plrr": Look("#0072B2", "-", "o"),
    "shrunk plrr": Look("#56B4E9", "--", "s"),
    "shrunk plrr + noise": Look("#00305A", "-.", "D"),
    "pgrr": Look("#7B4EA3", ":", "v"),
    "glrr": Look("#D55E00", "-", "^"),
    "glrr + noise": Look("#8C2D04", "-.", "P"),
    "ggrr": Look("#E69F00", "--", "<"),
    "ggrr + noise": Look("#7A5C00", "-.", ">"),
    "lgrr": Look("#7F7F7F", ":", "d"),
    "phase network": Look("#009E73", "-", "h"),
    "fourier network": Look("#CC79A7", "-", "X"),
}
_WRITTEN = {
    "phase": "phase test",
    "both": "phase test",
    "phases": "phases alone",
    "positivity": "positivity alone",
    "noise": "phase test",
    "noise and offset": "phase test, up to an offset",
    "flip": "flip test",
    "flip, 5 pairings": "flip test, 5 pairings",
    "sme": "SME",
    "phd": "PhD",
    "me": "ME",
    "mmd": "MMD",
    "pted": "energy distance",
    "ks": "Kolmogorov-Smirnov",
    "ks, centred": "Kolmogorov-Smirnov, centred",
    "epps-singleton": "Epps-Singleton",
}
SEES_NOISE = tuple(name for name in _TESTS if not name.startswith(("phase", "flip", "SME")))
"""Tests that reject where only the noises differ."""


def look(place: int) -> Look:
    """Return a look for the line at a place; beyond the sixth, colours come again with another line and mark."""
    again = LOOKS[(place + place // len(LOOKS)) % len(LOOKS)]
    return Look(LOOKS[place % len(LOOKS)].color, again.line, again.marker)


def name_of_test(column: str) -> str:
    """Return how figures call the test of a table's column.

    Examples
    --------
    >>> from uptonoise.experiments._looks import name_of_test
    >>> name_of_test("sme"), name_of_test("monitor")
    ('SME', 'monitor')
    """
    return _WRITTEN.get(column, column.removesuffix(": after"))


def look_of(name: str, place: int = 0) -> Look:
    """Return the look that a test or a model has in all figures; by its place where it is neither."""
    return _TESTS.get(name_of_test(name)) or _MODELS.get(name.lower()) or look(place)


def wilson_interval(rate: float, repetitions: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate.

    Examples
    --------
    >>> from uptonoise.experiments._looks import wilson_interval
    >>> low, high = wilson_interval(0.0, 100)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.037)
    """
    z, n = 1.96, max(repetitions, 1)
    centre, half = rate + z**2 / (2 * n), z * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return max((centre - half) / (1 + z**2 / n), 0.0), min((centre + half) / (1 + z**2 / n), 1.0)


def scale_of_rates(ax: Axes, axis: str) -> None:
    """Give an axis of rates a scale of square roots, on which 0 to 0.1 can be read."""
    roots: dict[str, Any] = {"functions": (lambda rate: np.sqrt(np.maximum(rate, 0)), lambda root: root**2)}
    ticks = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    getattr(ax, f"set_{axis}scale")("function", **roots)
    getattr(ax, f"set_{axis}lim")(0, 1.06 if axis == "x" else 1.03)
    getattr(ax, f"set_{axis}ticks")(ticks, [f"{tick:g}" for tick in ticks])


def log_scale(ax: Axes, axis: str, form: str) -> None:
    """Give an axis a scale of logarithms, with numbers in a format."""
    ticker, scaled = require("matplotlib.ticker"), getattr(ax, f"{axis}axis")
    getattr(ax, f"set_{axis}scale")("log")
    scaled.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    scaled.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:{form}}"))
    scaled.set_minor_formatter(ticker.NullFormatter())


def cell_in_words(row: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the settings of a cell as people say them.

    Examples
    --------
    >>> from uptonoise.experiments._looks import cell_in_words
    >>> row = {"law": "gamma", "n": "100", "k": "1000", "d": "5", "noise": "laplace", "n1": "0.5", "n2": "0.0"}
    >>> cell_in_words(row, list(row))
    'gamma, 100 and 1,000 rows, 5 columns, Laplace noise 0.5 and 0'
    """
    values = {column: row[column] for column in columns if row.get(column)}
    words = [
        f"{column} {value}" if value.replace(".", "", 1).isdigit() else value
        for column, value in values.items()
        if column not in _SAID_TOGETHER
    ]
    if "n" in values and "k" in values:
        words.append(f"{int(values['n']):,} and {int(values['k']):,} rows")
    elif "N" in values:
        words.append(f"{values['N']} rows each" if not values["N"].isdigit() else f"{int(values['N']):,} rows each")
    if "d" in values:
        words.append(f"{values['d']} column" + ("" if values["d"] == "1" else "s"))
    if "n1" in values and "n2" in values:
        first, second = float(values["n1"]), float(values["n2"])
        kind = values.get("noise", "")
        kind = {"": "", "t": "Student t "}.get(kind, f"{kind.capitalize()} ")
        words.append(f"{kind}noise {first:g} and {second:g}" if first or second else "no noise")
    if float(values.get("more 1", 0)) or float(values.get("more 2", 0)):
        words.append(f"{float(values['more 1']):g} and {float(values['more 2']):g} SD more")
    elif "noise" in values and "n1" not in values:
        words.append("no noise" if values["noise"] == "none" else f"noise {values['noise']}")
    return ", ".join(words)


_SAID_TOGETHER = ("n", "k", "N", "d", "noise", "n1", "n2", "more 1", "more 2")


def label_ends(ax: Axes, ends: Sequence[tuple[float, str, Any]]) -> None:
    """Write the name of each line beside its end on the right, moved apart where names would overlap.

    `ends` are the last height of each line, its name and its colour.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    heights = [float(to_axes.transform((1.0, height))[1]) for height, _, _ in ends]
    order = np.argsort(heights)
    gap = 11.0 / (72 * max(ax.bbox.height / ax.figure.dpi, 0.5))
    places = np.clip(np.array(heights)[order], 0, 1)
    for _ in range(100):  # neighbours that are too near push each other apart
        apart = np.diff(places)
        push = np.maximum(gap - apart, 0) / 2
        if not (push > 1e-4).any():
            break
        places[:-1] -= push
        places[1:] += push
        places = np.clip(places, gap / 2 * np.arange(len(places)), 1 - gap / 2 * np.arange(len(places))[::-1])
    for place, number in zip(places, order, strict=True):
        _, name, color = ends[number]
        ax.annotate(name, (1.015, place), xycoords="axes fraction", color=color, fontsize="small", va="center")
