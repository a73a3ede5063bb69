"""Which pictures a page has, with a caption for those who see them and a description for those who do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uptonoise._util.density import common_grid, density_of
from uptonoise._util.drawing import Axis, Drawing, Kind as LineKind, shortened
from uptonoise._util.numbers import number, pvalue
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison import Comparison
from uptonoise.monitor import History, MonitorState
from uptonoise.report.columns import ColumnFinding, Kind, column_noise
from uptonoise.twosample import MmdResult, PhaseResult

_DRAWN_COLUMNS = 6
_NAME = 26  # letters of a name in a picture
_RELIABLE = 0.5  # radians: the largest standard error of a phase that is shown in full
_MOST_PHASES = 150
_BINS = 30
_LINE = 16  # of a legend


Curve = tuple[Floats, float, LineKind, str]
"""Values, the noise to add to them, and how they are drawn and called."""


class Picture(NamedTuple):
    """A figure for the page: the SVG, which has its description, and the caption below it."""

    svg: str
    caption: str


def densities(comparison: Comparison, findings: list[ColumnFinding]) -> list[Picture]:
    """Draw the densities of the first of these columns; none without rows."""
    if comparison.shown is None:
        return []
    return [_densities(comparison, comparison.shown, finding) for finding in findings[:_DRAWN_COLUMNS]]


def _densities(comparison: Comparison, shown: Sequence[Floats], finding: ColumnFinding) -> Picture:
    place, (first, second) = comparison.columns.index(finding.name), comparison.names
    samples = [rows[:, place] for rows in shown]
    curves: list[Curve] = [(samples[0], 0.0, "first", first), (samples[1], 0.0, "second", second)]
    curves += _explained(comparison, finding, samples)
    grid = common_grid(*samples)
    estimates = [density_of(values, grid, noise) for values, noise, _, _ in curves]
    top = max([float(density.y.max()) for density in estimates if density is not None], default=1.0)
    legend = _LINE * len(curves)
    axes = Axis(float(grid[0]), float(grid[-1])), Axis(0, 1.05 * top)
    drawing = Drawing(*axes, height=210 + legend, top=8 + legend, left=12, right=12)
    for row, ((values, _, kind, label), density) in enumerate(zip(curves, estimates, strict=True)):
        if density is None:
            drawing.upright(float(np.median(values)), kind, thin=False)
        else:
            if row < 2:
                drawing.area(density.x, density.y, kind)
            drawing.line(density.x, density.y, kind)
        drawing.sample(2, 8 + _LINE * row, kind)
        drawing.text(38, 12 + _LINE * row, shortened(label, 46))
    drawing.x_axis(shortened(finding.name, 44))
    medians = [number(float(np.median(values))) for values in samples]
    return Picture(
        drawing.svg(
            f"Densities of {finding.name}: the median is {medians[0]} in {first} and {medians[1]} in {second}; "
            f"{finding.text}."
        ),
        f"{finding.name}: {finding.text}",
    )


def _explained(comparison: Comparison, finding: ColumnFinding, samples: list[Floats]) -> list[Curve]:
    """Return the sample with less noise, with the noise added that the other has more of, and moved to it.

    Where noise and an offset explain the difference, it lies on the other sample; where they do not, it shows so.
    """
    noise, offset = column_noise(comparison, finding.name), finding.comparison.offset
    sd, quiet = 0.0, 0
    if noise is not None and noise.sample is not None:
        sd, quiet = noise.sd, 1 - comparison.names.index(noise.sample)
    shift, parts = 0.0, []
    if finding.kind in (Kind.OFFSET, Kind.SHAPE) and offset is not None and offset.is_clear:
        shift = offset.shift if quiet == 1 else -offset.shift
        parts.append(f"moved by {number(shift)}")
    if sd:
        parts.append(f"with noise of SD {number(sd, 2)}")
    label = f"{shortened(comparison.names[quiet], _NAME)} {', '.join(parts)}"
    return [(samples[quiet] + shift, sd, "third", label)] if parts else []


def details(comparison: Comparison) -> list[Picture]:
    """Draw what the tests rest on."""
    pictures = [_phase_differences(comparison)]
    if len(comparison.columns) > 1 and comparison.differs_beyond_noise:  # else chance has the shares
        pictures.append(_column_shares(comparison.phase))
    if len(comparison.mmd.permuted):
        pictures.append(_null(comparison.mmd))
    return pictures


def _phase_differences(comparison: Comparison) -> Picture:
    result = comparison.phase
    W = result.frequencies
    units = np.sqrt(np.mean(W**2, axis=0))
    lengths = np.linalg.norm(np.divide(W, units, out=np.zeros_like(W), where=units > 0), axis=1)
    differences = np.where(np.count_nonzero(W, axis=1) == 1, np.sign(W.sum(axis=1)), 1.0) * result.phase_differences
    errors = np.where(np.isfinite(result.standard_errors), result.standard_errors, np.pi)
    far = int(np.count_nonzero(np.abs(differences) > 2 * errors))
    clearest = np.argsort(errors, kind="stable")[:_MOST_PHASES]
    reach = float(np.max((np.abs(differences) + errors)[clearest][errors[clearest] <= _RELIABLE], initial=0.0))
    reach = min(reach or np.pi, np.pi)
    drawing = Drawing(Axis(0, float(lengths.max()) or 1.0), Axis(-1.1 * reach, 1.1 * reach), left=38)
    drawing.y_axis()
    for place in clearest.tolist():
        low, high = np.clip([differences[place] - errors[place], differences[place] + errors[place]], -reach, reach)
        clear = abs(differences[place]) > 2 * errors[place]
        kind: LineKind = "second" if clear else "first"
        drawing.line([lengths[place]] * 2, [low, high], kind, thin=True, solid=True)
        if abs(differences[place]) <= 1.1 * reach:
            drawing.dot(lengths[place], differences[place], kind, radius=2.5, faint=errors[place] > _RELIABLE)
    drawing.x_axis("length of frequency, in units of each column")
    described = f"{far:,} lie more than two standard errors from 0"
    shown = "" if len(differences) <= _MOST_PHASES else f" The {_MOST_PHASES} best known of {len(differences):,}."
    return Picture(
        drawing.svg(f"Phase differences at {len(differences):,} frequencies: {described}."),
        f"By how much the phases of the characteristic functions differ (radians); noise would leave them at 0.{shown}",
    )


def _column_shares(result: PhaseResult) -> Picture:
    order = np.argsort(-result.column_shares, kind="stable")[:_DRAWN_COLUMNS]
    rows = [(result.columns[place], float(result.column_shares[place])) for place in order]
    drawing = Drawing(Axis(0, 1), Axis(-0.5, len(rows) - 0.5), height=24 * len(rows) + 16, left=120, right=44, bottom=8)
    for row, (name, share) in enumerate(rows):
        place = len(rows) - 1 - row
        drawing.bar((0, share), (place - 0.3, place + 0.3), "first")
        down = float(drawing.down(place)) + 4
        drawing.text(114, down, shortened(name, 18), anchor="end")
        drawing.text(float(drawing.across(share)) + 5, down, f"{share:.0%}")
    text = ", ".join(f"{name} {share:.0%}" for name, share in rows)
    return Picture(
        drawing.svg(f"Shares of the columns in the statistic, the largest first: {text}."),
        "The share of columns in the statistic of the phase test, the largest first.",
    )


def _null(result: MmdResult) -> Picture:
    counts, edges = np.histogram(result.permuted, bins=_BINS)
    high = max(float(result.statistic), float(edges[-1]))
    drawing = Drawing(Axis(min(0.0, float(edges[0])), 1.03 * high or 1.0), Axis(0, 1.05 * float(counts.max())), left=38)
    drawing.y_axis()
    for count, low, top in zip(counts.tolist(), edges, edges[1:], strict=False):
        if count:
            drawing.bar((float(low), float(top)), (0, count), "first")
    drawing.upright(float(result.statistic), "second", thin=False)
    drawing.x_axis("squared MMD", most=4)
    return Picture(
        drawing.svg(
            f"MMD is {result.statistic:.3g}; {counted(len(result.permuted), 'permutation')} lie between "
            f"{result.permuted.min():.3g} and {result.permuted.max():.3g}. p {pvalue(result.pvalue)}."
        ),
        "MMD of the samples (dashed), and of the same rows dealt out at random (bars).",
    )


def effect_strip(finding: ColumnFinding, margin: float, most: float) -> str:
    """Draw the effect of one column with its interval against the margin, as a small strip for a table."""
    effect = finding.effect
    if not math.isfinite(effect.estimate) or not math.isfinite(effect.high):
        return ""
    drawing = Drawing(Axis(0, most), Axis(-1, 1), width=110, height=16, left=3, right=3, top=1, bottom=1)
    drawing.upright(min(margin, most), "second")
    kind: LineKind = "first" if finding.differs else "muted"
    drawing.line([effect.low, min(effect.high, most)], [0, 0], kind, solid=True)
    drawing.dot(min(effect.estimate, most), 0, kind, radius=3.5)
    return drawing.svg(f"effect {number(effect.estimate, 2)} SD, margin {margin:g} SD")


def timeline_picture(history: History, state: MonitorState) -> Picture:
    """Draw the wealth after each batch, with the alarm and the estimate of when the change began."""
    batches, wealth = history.floats("batch"), history.floats("log_wealth") / math.log(10)
    limit = math.log10(history.threshold) if math.isfinite(history.threshold) else 1.0
    low, high = min(0.0, float(wealth.min())), max(limit, float(wealth.max()))
    reach = (high - low) or 1.0
    first, last = float(batches[0]), float(batches[-1])
    x = Axis(first - 0.5, last + 0.5) if first == last else Axis(first, last)
    drawing = Drawing(x, Axis(low - 0.05 * reach, high + 0.08 * reach), width=640, height=260, left=44, right=14)
    drawing.y_axis()
    drawing.level(limit, "second", thin=False)
    drawing.text(50, float(drawing.down(limit)) - 5, f"alarm at {history.threshold:,.6g}", kind="second")
    if history.since is not None:
        drawing.upright(float(np.clip(history.since, x.low, x.high)), "third", thin=False)
    if len(batches) > 1:
        drawing.line(batches, wealth, "first")
    if len(batches) < 60:
        for batch, value in zip(batches.tolist(), wealth.tolist(), strict=True):
            drawing.dot(batch, value, "first", radius=3)
    drawing.x_axis("batch", most=8)
    begun = "" if history.since is None else f" Dotted: batch {history.since:,}, when the change probably began."
    return Picture(
        drawing.svg(f"Timeline of {len(history)} batches. {state.sentence}"),
        f"The wealth after each batch, as a power of 10. It stays low where only noise differs, and grows where the "
        f"signal does. Dashed: the wealth that raises the alarm.{begun}",
    )
