"""The page of a comparison: what it shows, in which order.

The templates beside this file have the text; jinja2 escapes every string that comes from the data.
"""

from __future__ import annotations

import math
import os

import jinja2
from markupsafe import Markup

from uptonoise._util import numbers
from uptonoise._util.drawing import DARK, LIGHT, STYLE, printable
from uptonoise._util.files import checked_target, written_whole
from uptonoise._util.wording import counted
from uptonoise.comparison import Comparison, GroupComparison, Verdict
from uptonoise.report.advice import rows_text, what_next
from uptonoise.report.columns import Columns, Kind
from uptonoise.report.groups import groups_context
from uptonoise.report.pictures import densities, details, effect_strip
from uptonoise.report.provenance import date_text, file_lines, versions

_FEW_COLUMNS = 12  # that are all shown, whether they differ or not
_SHOWN_COLUMNS = 50
TONES: dict[Verdict, str] = {
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
    """Write a comparison as one self-contained page of HTML: what its method ``report`` calls."""
    target = checked_target(path, force=force)
    page = _groups_page(comparison) if isinstance(comparison, GroupComparison) else _comparison_page(comparison)
    write_page(page, target, force=force)


def write_page(page: str, target: os.PathLike[str], *, force: bool = True) -> None:
    """Write a page, whole or not at all."""
    with written_whole(checked_target(target, force=force), force=force) as file:
        file.write(printable(page).encode())


def _comparison_page(comparison: Comparison) -> str:
    columns = Columns.of(comparison)
    differing = columns.differing
    shown = columns.findings if len(columns.findings) <= _FEW_COLUMNS else differing[:_SHOWN_COLUMNS]
    folded = [finding for finding in columns.findings if finding not in shown]
    seen = [finding.effect.high for finding in columns.findings if finding.effect.seen == 1]  # others would be far out
    most = max([1.5 * comparison.margin, *(high for high in seen if math.isfinite(high))])
    return _rendered(
        "comparison.html.j2",
        comparison=comparison,
        tone=TONES[comparison.verdict],
        columns=columns,
        shown=shown,
        folded=folded,
        strip=lambda finding: effect_strip(finding, comparison.margin, most),
        densities=densities(comparison, differing),
        others=densities(comparison, [finding for finding in columns.findings if not finding.differs][:3]),
        details=details(comparison),
        rows=rows_text(comparison),
        effect_text=_effect_text(comparison, columns),
        warnings=comparison.dependent,
        advice=what_next(comparison, columns),
        clusters=[text for label, text in comparison.findings() if label == "clusters"],
        places=[text for label, text in comparison.findings() if label == "where they differ"],
        statistics=_statistics(comparison),
        call=_call(comparison),
        record=comparison.input,
        settings=settings_of(comparison) + _tests(comparison),
        Kind=Kind,
    )


def _groups_page(groups: GroupComparison) -> str:
    return _rendered(
        "groups.html.j2",
        **groups_context(groups),
        record=groups.input,
        call="un.compare_groups(...).report(path)",
        settings=[*settings_of(groups), ("adjusted by", groups.pairs.adjust)],
    )


def _rendered(template: str, **context: object) -> str:
    record = context["record"]
    lines, more = file_lines(record)  # type: ignore[arg-type]
    return environment().get_template(template).render(files=lines, n_more_files=more, **context)


def _effect_text(comparison: Comparison, columns: Columns) -> str:
    """Return the effect of the page, its interval and its bound, in SD and, for one column, in its units."""
    effect, confidence = columns.effect, f"{100 * (1 - comparison.alpha):g} % confidence"
    if math.isnan(effect.estimate):
        return "The effect is not known: no phase can be seen."
    if effect.estimate == math.inf:
        return "The effect is larger than can be measured: neither sample varies."
    ends = numbers.interval(effect.low, effect.high, 2)
    text = f"Effect: {numbers.number(effect.estimate, 2)} SD (95 % interval {ends})"
    if math.isfinite(columns.bound):
        text += f", below {numbers.bound(columns.bound)} SD with {confidence}"
    if len(columns.findings) == 1 and math.isfinite(columns.bound):
        spread = columns.findings[0].spread
        text += (
            f"; in units of the column {numbers.number(effect.estimate * spread, 2)}, below "
            f"{numbers.bound(columns.bound * spread)}"
        )
    unseen = "" if effect.seen == 1 else " Not all phases can be seen, and the rest counts as the largest difference."
    return f"{text}. Margin: {comparison.margin:g} SD.{unseen}"


def _statistics(comparison: Comparison) -> list[tuple[str, list[tuple[str, float, float, float]]]]:
    """Return for each column and sample the mean, the SD and the median."""
    if comparison.summaries is None:
        return []
    return [
        (
            column,
            [
                (name, float(part.means[place]), float(part.deviations[place]), float(part.medians[place]))
                for name, part in zip(comparison.names, comparison.summaries, strict=True)
            ],
        )
        for place, column in enumerate(comparison.columns)
    ]


def _call(comparison: Comparison) -> str:
    """Return the call that makes the comparison again, where no command did."""
    options = [f"names={list(comparison.names)!r}", f"margin={comparison.margin:g}", f"alpha={comparison.alpha:g}"]
    options += ["paired=True"] if comparison.paired else []
    options += ["clusters=..."] if comparison.n_clusters else []
    options += ['categories="one-hot"'] if comparison.input.categories else []
    options += [] if comparison.seed is None else [f"random_state={comparison.seed}"]
    return f"un.compare(X, Y, {', '.join(options)}).report(path)"


def settings_of(comparison: Comparison | GroupComparison) -> list[tuple[str, str]]:
    """Return the numbers that the answer depends on."""
    given = {name: value for name, value in comparison.input.settings.items() if name != "command"}
    return [
        ("significance level", f"{comparison.alpha:g}"),
        ("margin", f"{comparison.margin:g} SD"),
        ("seed", "given as a Generator" if comparison.seed is None else str(comparison.seed)),
        *given.items(),
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


def environment() -> jinja2.Environment:
    """Return the templates, with the filters and the style that all pages have."""
    loader = jinja2.PackageLoader("uptonoise.report", ".")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        number=numbers.number,
        signed=numbers.signed,
        bound=numbers.bound,
        pvalue=numbers.pvalue,
        count=counted,
        plain=lambda value: f"{value:g}",
        thousands=lambda number: f"{number:,}",
        first_upper=lambda text: text[:1].upper() + text[1:],
    )
    environment.tests["known"] = math.isfinite
    style, _, _ = loader.get_source(environment, "_style.css")
    colours = [":root { " + " ".join(f"--{name}: {colour};" for name, colour in LIGHT.items()) + " }"]
    dark = " ".join(f"--{name}: {colour};" for name, colour in DARK.items())
    colours.append(f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}")
    environment.globals.update(
        style=Markup("\n".join([*colours, STYLE.strip(), style])),
        versions=versions(),
        date=date_text(),
        interval=numbers.interval,
    )
    return environment
