"""The page of a comparison: what it shows, in which order, and how numbers are written.

The templates beside this file have the text; jinja2 escapes every string that comes from the data.
"""

from __future__ import annotations

import math
import os
import platform
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from uptonoise import __version__
from uptonoise._util.files import checked_target, written_whole
from uptonoise._util.wording import counted
from uptonoise.comparison import ColumnComparison, Comparison, GroupComparison, Verdict
from uptonoise.report.pictures import effect_picture, heat_map, pictures_of
from uptonoise.report.svg import Picture, printable
from uptonoise.twosample import pvalue_text

_UNKNOWN = "\N{EN DASH}"
_FEW_COLUMNS = 20  # that are all shown, whether they differ or not
_SHOWN_COLUMNS = 50
_LISTED_PAIRS = 200
_PAIRS_IN_FULL = 6  # each takes a quarter of a second
_TONES: dict[Verdict, str] = {
    Verdict.NO_DIFFERENCE: "none",
    Verdict.ONLY_NOISE: "noise",
    Verdict.NEGLIGIBLE: "noise",
    Verdict.OFFSET: "offset",
    Verdict.BEYOND_NOISE: "beyond",
    Verdict.BEYOND_OFFSET: "beyond",
    Verdict.SYMMETRIC: "unknown",
    Verdict.TOO_NOISY: "unknown",
    Verdict.NOT_RULED_OUT: "unknown",
}


def write_report(
    comparison: Comparison | GroupComparison, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write a comparison as one self-contained page of HTML.

    Parameters
    ----------
    comparison : Comparison or GroupComparison
        What :func:`~uptonoise.compare` or :func:`~uptonoise.compare_groups` returned.
    path : str or path
        The file; its folder must exist. It is written whole or not at all.
    force : bool
        Whether to overwrite a file that exists.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.report import write_report
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
    >>> page = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(un.compare(X, Y), page)
    >>> page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = checked_target(path, force=force)
    page = _groups_page(comparison) if isinstance(comparison, GroupComparison) else _comparison_page(comparison)
    with written_whole(target, force=force) as file:
        file.write(printable(page).encode())


def _comparison_page(comparison: Comparison) -> str:
    first, second = map(printable, comparison.names)  # the name of a file may hold bytes that matplotlib cannot draw
    comparison = replace(comparison, names=(first, second))
    columns = _ordered(comparison)
    pictures = pictures_of(comparison, columns)
    template = environment().get_template("comparison.html.j2")
    return template.render(
        comparison=comparison,
        tone=_TONES[comparison.verdict],
        findings=comparison.findings(),
        columns=_Columns.of(columns, comparison.alpha),
        pictures=pictures,
        settings=_settings(comparison) + _tests(comparison),
    )


def _ordered(comparison: Comparison) -> list[ColumnComparison]:
    """Return the columns that differ beyond noise, then those that differ at all; the clearest first."""

    def clearest(column: ColumnComparison) -> tuple[bool, float, float]:
        beyond = column.adjusted_beyond_noise <= comparison.alpha
        return not beyond, column.beyond_noise if beyond else column.at_all, -column.effect.low

    return sorted(comparison.by_column, key=clearest)


class _Columns(NamedTuple):
    """The columns that the page shows, and those that it folds away."""

    shown: list[ColumnComparison]
    folded: list[ColumnComparison]
    n_differ: int

    @classmethod
    def of(cls, ordered: list[ColumnComparison], alpha: float) -> _Columns:
        n_beyond = sum(column.adjusted_beyond_noise <= alpha for column in ordered)
        n_differ = sum(min(column.adjusted_at_all, column.adjusted_beyond_noise) <= alpha for column in ordered)
        n_shown = len(ordered) if len(ordered) <= _FEW_COLUMNS else min(n_differ, _SHOWN_COLUMNS)
        return cls(ordered[:n_shown], ordered[n_shown:], n_beyond)


def _settings(comparison: Comparison | GroupComparison) -> list[tuple[str, str]]:
    return [
        ("significance level", f"{comparison.alpha:g}"),
        ("margin", f"{comparison.margin:g} SD"),
        ("seed", "given as a Generator" if comparison.seed is None else str(comparison.seed)),
        *comparison.input.settings.items(),
    ]


def _tests(comparison: Comparison) -> list[tuple[str, str]]:
    mmd, me = comparison.mmd, comparison.me
    kernel = "" if mmd.scale is None else ", Gaussian kernel"
    resampled = f", {counted(len(mmd.permuted), 'permutation')}" if len(mmd.permuted) else ""
    tests = [
        ("phase test", f"{len(comparison.phase.frequencies):,} frequencies, {comparison.phase.null}"),
        ("MMD", f"{mmd.method}{kernel}{resampled}"),
    ]
    if me is not None:
        trained = f"learnt on {me.n_train[0]:,} and {me.n_train[1]:,} rows"
        tests.append(("ME", f"{counted(len(me.locations), 'location')}, {trained}"))
    if comparison.flip is not None:
        tests.append(("flip test", comparison.flip.null))
    return tests


class _Pair(NamedTuple):
    """A line of the table of pairs."""

    first: str
    second: str
    pvalue: float
    adjusted: float
    verdict: str
    effect: float


class _Section(NamedTuple):
    """A pair in full."""

    comparison: Comparison
    tone: str
    columns: _Columns
    picture: Picture

    @classmethod
    def of(cls, comparison: Comparison, number: int) -> _Section:
        columns = _Columns.of(_ordered(comparison), comparison.alpha)
        return cls(comparison, _TONES[comparison.verdict], columns, effect_picture(comparison, f"effect-{number}"))


def _groups_page(groups: GroupComparison) -> str:
    pairs = _pairs(groups)
    sections = [_Section.of(groups.pair(pair.first, pair.second), i) for i, pair in enumerate(pairs[:_PAIRS_IN_FULL])]
    n_differ = len(groups.differing)
    missing = dict.fromkeys(text for section in sections for text in section.comparison.missing)
    template = environment().get_template("groups.html.j2")
    return template.render(
        groups=groups,
        label=("no pair differs" if n_differ == 0 else f"{counted(n_differ, 'pair')} differ" + "s" * (n_differ == 1)),
        tone="beyond" if n_differ else "none",
        heat_map=heat_map(groups),
        n_pairs=len(pairs),
        listed=pairs[:_LISTED_PAIRS],
        n_unlisted=len(pairs[_LISTED_PAIRS:]),
        sections=sections,
        n_left_out=len(pairs) - len(sections),
        missing=list(missing),
        settings=[*_settings(groups), ("adjusted by", groups.pairs.adjust)],
    )


def _pairs(groups: GroupComparison) -> list[_Pair]:
    """Return all pairs, the smallest p-value first."""
    pairs, names = groups.pairs, groups.names
    places = zip(*(place.tolist() for place in pairs.ordered()), strict=True)
    lines = []
    for number, (i, j) in enumerate(places):
        verdict, effect = "", math.nan
        if number < _LISTED_PAIRS:
            verdict, effect = groups.verdict(names[i], names[j]), groups.pair(names[i], names[j]).effect.estimate
        lines.append(
            _Pair(names[i], names[j], float(pairs.pvalues[i, j]), float(pairs.adjusted[i, j]), verdict, effect)
        )
    return lines


def environment() -> jinja2.Environment:
    """Return the templates, with the filters and the style that all pages have."""
    loader = jinja2.PackageLoader("uptonoise.report", ".")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=_number,
        pvalue=_pvalue,
        with_interval=lambda three: _with_interval(*three),
        count=counted,
        thousands=lambda number: f"{number:,}",
        first_upper=lambda text: text[:1].upper() + text[1:],
    )
    environment.tests["known"] = math.isfinite
    style, _, _ = loader.get_source(environment, "_style.css")
    environment.globals.update(style=Markup(style), versions=_versions())
    return environment


def _number(value: float) -> str:
    if math.isnan(value):
        return _UNKNOWN
    return f"{value:.3g}".replace("inf", "∞")


def _with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """Return a value and its interval, with as many digits as the interval's width is worth."""
    if math.isnan(value):
        return _UNKNOWN, ""
    rounded = [_rounded(number, high - low, 3) for number in (value, low, high)]
    return rounded[0], f"{rounded[1]} to {rounded[2]}"


def _rounded(value: float, scale: float, digits: int) -> str:
    """Return a value with the given number of digits of a scale, unless it is very large or small."""
    if value == 0 or not 1e-6 < scale < 1e6 or not abs(value) < 1e6:
        return _number(value)
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(scale)))}f}"


def _pvalue(value: float) -> str:
    return _UNKNOWN if math.isnan(value) else pvalue_text(value)


def _versions() -> dict[str, Any]:
    others = {name: version(name) for name in ("numpy", "scipy", "matplotlib")}
    return {"uptonoise": __version__, "python": platform.python_version(), **others}
