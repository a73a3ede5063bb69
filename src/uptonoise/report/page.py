"""The pages of comparisons and of monitors: what they show, in which order, and where it comes from.

The templates beside this file have the text; jinja2 escapes every string that comes from the data.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from uptonoise import __version__
from uptonoise._util import numbers
from uptonoise._util.drawing import DARK, LIGHT, STYLE, printable
from uptonoise._util.files import checked_target, written_whole
from uptonoise._util.wording import counted
from uptonoise.comparison import Comparison, GroupComparison, Verdict
from uptonoise.monitor import Monitor, MonitorState, format_wealth
from uptonoise.report.advice import what_next
from uptonoise.report.columns import Columns
from uptonoise.report.groups import groups_context
from uptonoise.report.pictures import densities, details, effect_strip, timeline_picture
from uptonoise.rows import FileStamp, InputRecord

_FEW_COLUMNS = 12  # that are all shown, whether they differ or not
_SHOWN_COLUMNS = 50
_LISTED_FILES = 20
_LISTED_BATCHES = 30  # the last ones
_MOST_BYTES = 2_000_000_000  # of all files together that are read again for their hashes
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
    settings = [
        ("significance level", f"{comparison.alpha:g}"),
        ("margin", f"{comparison.margin:g} SD"),
        ("seed", "given as a Generator" if comparison.seed is None else str(comparison.seed)),
        *((name, value) for name, value in comparison.input.settings.items() if name != "command"),
    ]
    if isinstance(comparison, GroupComparison):
        template, context = "groups.html.j2", groups_context(comparison)
        context |= {"call": "un.compare_groups(...).report(path)"}
        settings.append(("adjusted by", comparison.pairs.adjust))
    else:
        template, context = "comparison.html.j2", _comparison_context(comparison)
        settings += _tests(comparison)
    record = comparison.input
    write_page(template, target, record.files, force=force, record=record, settings=settings, **context)


def write_timeline(
    monitor: Monitor, path: str | os.PathLike[str], *, force: bool = False, record: InputRecord | None = None
) -> None:
    """Write the timeline of a monitor as one self-contained page of HTML: what its method ``report`` calls."""
    target = checked_target(path, force=force)
    state, history = monitor.state, monitor.history
    if state is None:
        raise ValueError("monitor must have at least one batch for a report; got none")
    lines = [(line, format_wealth(line.log_wealth)) for line in reversed(history.lines)]
    record = record or InputRecord()
    # The files that batches are called after, as far as they are still there.
    paths = (Path(line.name) for line, _ in lines if line.name)
    stamps = [*record.files, *(FileStamp.of(path) for path in paths if path.is_file())]
    columns = list(zip(*state.table().values(), strict=True))
    columns.sort(key=lambda column: (not column[3], math.inf if math.isnan(column[1]) else -column[1]))
    write_page(
        "timeline.html.j2",
        target,
        stamps,
        force=force,
        state=state,
        tone="beyond" if state.alarm else "none",
        timeline=timeline_picture(history, state),
        lines=lines[:_LISTED_BATCHES],
        folded=lines[_LISTED_BATCHES:],
        columns=columns,
        advice=_after_batches(state),
        record=record,
        call="monitor.report(path)",
        settings=[(name, str(value)) for name, value in asdict(monitor.settings).items() if value is not None],
    )


def write_page(
    template: str, target: os.PathLike[str], stamps: Sequence[FileStamp], *, force: bool, **context: Any
) -> None:
    """Write a page with the files that it rests on, whole or not at all."""
    lines, more = file_lines(stamps)
    page = _environment().get_template(template).render(files=lines, n_more_files=more, **context)
    with written_whole(checked_target(target, force=force), force=force) as file:
        file.write(printable(page).encode())


def _comparison_context(comparison: Comparison) -> dict[str, Any]:
    """Return what the template of a comparison shows."""
    columns = Columns.of(comparison)
    differing = columns.differing
    shown = columns.findings if len(columns.findings) <= _FEW_COLUMNS else differing[:_SHOWN_COLUMNS]
    seen = [finding.effect.high for finding in columns.findings if finding.effect.seen == 1]  # others would be far out
    most = max([1.5 * comparison.margin, *(high for high in seen if math.isfinite(high))])
    return {
        "comparison": comparison,
        "tone": TONES[comparison.verdict],
        "columns": columns,
        "shown": shown,
        "folded": [finding for finding in columns.findings if finding not in shown],
        "strip": lambda finding: effect_strip(finding, comparison.margin, most),
        "densities": densities(comparison, differing),
        "others": densities(comparison, [finding for finding in columns.findings if not finding.differs][:3]),
        "details": details(comparison),
        "rows": _rows_text(comparison),
        "effect_text": _effect_text(comparison, columns),
        "advice": what_next(comparison, columns),
        "call": _call(comparison),
    }


def _rows_text(comparison: Comparison) -> str:
    """Return what was compared: rows, clusters, pairs and weights."""
    sizes = zip(comparison.names, comparison.sizes, strict=True)
    text = ", ".join(f"{name} has {counted(size, 'row')}" for name, size in sizes)
    if comparison.paired:
        text = f"{counted(comparison.sizes[0], 'pair')} of rows"
    if comparison.n_clusters is not None:
        text += f", in {comparison.n_clusters[0]:,} and {counted(comparison.n_clusters[1], 'cluster')}"
    if any(sketch.n_rows != sketch.effective_size and not sketch.is_clustered for sketch in comparison.sketches):
        text += ", with weights"
    return text


def _after_batches(state: MonitorState) -> list[str]:
    if state.alarm:
        since = f" from batch {state.since} on" if state.since is not None else ""
        first = f"Compare the batches{since} with the reference: uptonoise compare tells an offset from another shape."
        return [first, "After a repair, go on with restart() or --restart; the evidence so far is then forgotten."]
    lines = [
        "No alarm means that no difference was shown yet, not that there is none; evidence adds up from batch to batch."
    ]
    if state.rows_left is not None and state.rows_left < 10 * max(state.rows, 1):
        lines.append(f"The reference has {state.rows_left:,} rows left: extend it soon (extend_reference).")
    return lines


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


def _call(comparison: Comparison) -> str:
    """Return the call that makes the comparison again, where no command did."""
    options = [f"names={list(comparison.names)!r}", f"margin={comparison.margin:g}", f"alpha={comparison.alpha:g}"]
    options += ["paired=True"] if comparison.paired else []
    options += ["clusters=..."] if comparison.n_clusters else []
    options += ['categories="one-hot"'] if comparison.input.categories else []
    options += [] if comparison.seed is None else [f"random_state={comparison.seed}"]
    return f"un.compare(X, Y, {', '.join(options)}).report(path)"


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


def _environment() -> jinja2.Environment:
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
    # The environment variable SOURCE_DATE_EPOCH replaces the clock.
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    others = {name: version(name) for name in ("numpy", "scipy")}
    environment.globals.update(
        style=Markup("\n".join([*colours, STYLE.strip(), style])),
        versions={"uptonoise": __version__, "python": platform.python_version(), **others},
        date=now.strftime("%Y-%m-%d %H:%M UTC"),
        interval=numbers.interval,
    )
    return environment


def file_lines(stamps: Sequence[FileStamp]) -> tuple[list[tuple[str, str, str]], int]:
    """Return the files that were read, with sizes and hashes, and how many more there are."""
    budget, lines = _MOST_BYTES, []
    for stamp in stamps[:_LISTED_FILES]:
        budget -= stamp.size
        digest = _sha256(stamp) if budget >= 0 else "not computed: the files are too large"
        lines.append((stamp.name, numbers.size_text(stamp.size), digest))
    return lines, max(0, len(stamps) - _LISTED_FILES)


def _sha256(stamp: FileStamp) -> str:
    """Return the hash of a file, if it is still the one that was read."""
    path = Path(stamp.path)
    try:
        if FileStamp.of(path)[2:] != stamp[2:]:
            return "changed since it was read"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "no longer there"
