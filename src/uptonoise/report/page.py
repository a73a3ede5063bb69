"""The page of a comparison: what it shows, in which order, and how numbers are written.

The templates beside this file have the words; jinja2 escapes every string that comes from the data.
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
from uptonoise.twosample import said_pvalue

_UNKNOWN = "\N{EN DASH}"
_FEW_COLUMNS = 20  # that are all shown, whether they differ or not
_SHOWN_COLUMNS = 50
_LISTED_PAIRS = 200
_PAIRS_IN_FULL = 30
_TONES: dict[Verdict, str] = {
    Verdict.NO_DIFFERENCE: "none",
    Verdict.NOT_BEYOND_NOISE: "none",
    Verdict.ONLY_NOISE: "noise",
    Verdict.OFFSET: "offset",
    Verdict.BEYOND_OFFSET: "beyond",
    Verdict.TOO_NOISY: "unknown",
}


def write_report(found: Comparison | GroupComparison, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a comparison as one self-contained page of HTML.

    Parameters
    ----------
    found : Comparison or GroupComparison
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
    page = _groups_page(found) if isinstance(found, GroupComparison) else _comparison_page(found)
    with written_whole(target) as file:
        file.write(printable(page).encode())


def _comparison_page(found: Comparison) -> str:
    one, other = map(printable, found.names)  # the name of a file may be no text, which matplotlib cannot draw
    found = replace(found, names=(one, other))
    columns = _ordered(found)
    pictures = pictures_of(found, columns)
    template = _environment().get_template("comparison.html.j2")
    return template.render(
        found=found,
        tone=_TONES[found.verdict],
        effect=found.effect,
        of_offset=found.effect is not found.phase.effect,
        bound=found.effect.upper_bound(found.alpha),
        further=[(label, text) for label, text in found.findings() if label != "effect"],
        columns=_Columns.of(columns, found.alpha),
        pictures=pictures,
        settings=_settings(found) + _tests(found),
    )


def _ordered(found: Comparison) -> list[ColumnComparison]:
    """Return the columns that differ beyond noise, then those that differ at all; the clearest first."""

    def clearest(one: ColumnComparison) -> tuple[bool, float, float]:
        beyond = one.adjusted_beyond_noise <= found.alpha
        return not beyond, one.beyond_noise if beyond else one.at_all, -one.effect.estimate

    return sorted(found.by_column, key=clearest)


class _Columns(NamedTuple):
    """The columns that the page shows, and those that it folds away."""

    shown: list[ColumnComparison]
    folded: list[ColumnComparison]
    n_differ: int

    @classmethod
    def of(cls, ordered: list[ColumnComparison], alpha: float) -> _Columns:
        beyond = [one for one in ordered if one.adjusted_beyond_noise <= alpha]
        differ = [one for one in ordered if min(one.adjusted_at_all, one.adjusted_beyond_noise) <= alpha]
        n_shown = len(ordered) if len(ordered) <= _FEW_COLUMNS else min(len(differ), _SHOWN_COLUMNS)
        return cls(ordered[:n_shown], ordered[n_shown:], len(beyond))


def _settings(found: Comparison | GroupComparison) -> list[tuple[str, str]]:
    return [
        ("level", f"{found.alpha:g}"),
        ("margin", f"{found.margin:g}"),
        ("seed", "given as a Generator" if found.seed is None else str(found.seed)),
    ]


def _tests(found: Comparison) -> list[tuple[str, str]]:
    mmd, me = found.mmd, found.me
    kernel = "" if mmd.scale is None else f", Gaussian kernel of length {mmd.scale:.4g}"
    resampled = f", {counted(len(mmd.permuted), 'permutation')}" if len(mmd.permuted) else ""
    tests = [
        ("phase test", f"{len(found.phase.frequencies):,} frequencies, {found.phase.null}"),
        ("MMD", f"{mmd.method}{kernel}{resampled}"),
    ]
    if me is not None:
        trained = f"learnt on {me.n_train[0]:,} and {me.n_train[1]:,} rows"
        tests.append(("ME", f"{counted(len(me.locations), 'location')}, {trained}"))
    if found.flip is not None:
        tests.append(("flip test", found.flip.null))
    return tests


class _Pair(NamedTuple):
    """A line of the table of pairs."""

    one: str
    other: str
    pvalue: float
    adjusted: float
    effect: float


class _Section(NamedTuple):
    """A pair in full."""

    found: Comparison
    tone: str
    columns: _Columns
    picture: Picture

    @classmethod
    def of(cls, found: Comparison, number: int) -> _Section:
        columns = _Columns.of(_ordered(found), found.alpha)
        return cls(found, _TONES[found.verdict], columns, effect_picture(found, f"effect-{number}"))


def _groups_page(found: GroupComparison) -> str:
    pairs = _pairs(found)
    sections = [_Section.of(found.pair(pair.one, pair.other), i) for i, pair in enumerate(pairs[:_PAIRS_IN_FULL])]
    n_differ = len(found.differing)
    missing = dict.fromkeys(text for section in sections for text in section.found.missing)
    template = _environment().get_template("groups.html.j2")
    return template.render(
        found=found,
        label=("no pair differs" if n_differ == 0 else f"{counted(n_differ, 'pair')} differ" + "s" * (n_differ == 1)),
        tone="beyond" if n_differ else "none",
        heat_map=heat_map(found),
        n_pairs=len(pairs),
        listed=pairs[:_LISTED_PAIRS],
        n_unlisted=len(pairs[_LISTED_PAIRS:]),
        sections=sections,
        n_left_out=len(pairs) - len(sections),
        missing=list(missing),
        settings=[*_settings(found), ("adjusted by", found.pairs.adjust)],
    )


def _pairs(found: GroupComparison) -> list[_Pair]:
    """Return all pairs, the smallest p-value first."""
    of, names = found.pairs, found.names
    places = zip(*(place.tolist() for place in of.ordered()), strict=True)
    return [
        _Pair(names[i], names[j], float(of.pvalues[i, j]), float(of.adjusted[i, j]), float(of.effects[i, j]))
        for i, j in places
    ]


def _environment() -> jinja2.Environment:
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
        with_error=lambda two: _with_error(*two),
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


def _with_error(value: float, error: float) -> tuple[str, str]:
    return (_rounded(value, error, 2), f"± {error:.2g}") if math.isfinite(error) else (_UNKNOWN, "")


def _rounded(value: float, scale: float, digits: int) -> str:
    """Return a value with so many digits of a scale, where that is a common size."""
    if value == 0 or not 1e-6 < scale < 1e6 or not abs(value) < 1e6:
        return _number(value)
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(scale)))}f}"


def _pvalue(value: float) -> str:
    return _UNKNOWN if math.isnan(value) else said_pvalue(value)


def _versions() -> dict[str, Any]:
    others = {name: version(name) for name in ("numpy", "scipy", "matplotlib")}
    return {"uptonoise": __version__, "python": platform.python_version(), **others}
