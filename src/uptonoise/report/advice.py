"""What to do next, for each verdict: which column to look at, how many rows would help, what would change the answer.

The rows that would rule out a difference of the margin follow from the bound: its scores shrink with the square root of
the rows. Those that would detect it come from :func:`~uptonoise.phase_test_power`, for the least certain column.
"""

from __future__ import annotations

import math

import numpy as np

from uptonoise._util.numbers import bound as upper, number
from uptonoise.comparison import Comparison, Verdict
from uptonoise.fourier import Sketch
from uptonoise.report.columns import Columns, Kind
from uptonoise.twosample import phase_test_power

_POWER = 0.8
_DRAWS = 80
_LEAST_ROWS = 20  # to plan from
_MOST_ROWS = 200_000
_IF_NOISE_IS_NOT_PLAIN = (
    "The verdict would change if the noise were not what is assumed: noise that grows with the value, uniform noise or "
    "rounding that is large against the signal counts as a difference."
)
_UNDECIDED = (Verdict.TOO_NOISY, Verdict.NOT_RULED_OUT, Verdict.NO_DIFFERENCE)


def what_next(comparison: Comparison, columns: Columns) -> list[str]:
    """Return what to do, one sentence or two each, the most useful first."""
    lines = _for_verdict(comparison, columns)
    if comparison.verdict in _UNDECIDED and columns.bound >= comparison.margin:
        times, detect = _times_to_rule_out(comparison, columns), _rows_to_detect(comparison, columns)
        if times is not None:
            sizes = " and ".join(_about(times * size) for size in comparison.sizes)
            what = "in as many clusters as they are worth" if comparison.n_clusters else "in all"
            lines.append(
                f"If there is none, about {number(times, 2)} times the rows ({sizes}, {what}) would rule out a "
                f"difference of the margin, {comparison.margin:g} SD."
            )
        if detect is not None:
            name, n_rows = detect
            lines.append(
                f"To detect a shift of {comparison.margin:g} SD in {name} alone with {_POWER:.0%} power takes about "
                f"{_about(n_rows)} rows of each sample, with noise as it is."
            )
    if comparison.dependent:
        lines.insert(
            0, "Say which rows belong together (clusters=, --cluster or --block) and compare again: see the warning."
        )
    return lines


def _for_verdict(comparison: Comparison, columns: Columns) -> list[str]:
    first, second = comparison.names
    margin, bound = f"{comparison.margin:g} SD", f"{upper(columns.bound)} SD"
    noisier = [finding for finding in columns.findings if finding.kind is Kind.NOISIER and finding.noise is not None]
    noise_tip = [f"The noise differs most clearly in {finding.name}: {finding.text}." for finding in noisier[:1]]
    match comparison.verdict:
        case Verdict.BEYOND_OFFSET | Verdict.BEYOND_NOISE:
            beyond = [finding for finding in columns.findings if finding.kind <= Kind.BEYOND_NOISE]
            moved = [finding.name for finding in beyond if finding.kind is Kind.OFFSET]
            lines = ["Look at how columns go together: no column differs by itself."]
            if beyond:
                lines = [f"Look at {beyond[0].name} first: {beyond[0].text}."]
            places = [text for label, text in comparison.findings() if label == "where they differ"]
            lines += [f"Look at the rows {text}." for text in places[:1]]
            lines.append(_IF_NOISE_IS_NOT_PLAIN)
            if moved:
                few = ", ".join(moved[:3]) + (" and others" if len(moved) > 3 else "")
                lines.append(f"In {few} an offset explains the difference: check the zero point there.")
            return lines
        case Verdict.OFFSET:
            return [
                f"Take the offset off {first} or {second} and compare again; the verdict should become “differ only by "
                "noise” or “no difference found”.",
                f"Where a moved zero point does not matter to you, the signals agree to within {bound}.",
            ]
        case Verdict.ONLY_NOISE:
            return [
                f"The signals may be used together if a difference of up to {bound} does not matter.",
                *noise_tip,
                f"With a margin below {bound} the verdict would be that a difference is not ruled out.",
            ]
        case Verdict.NEGLIGIBLE:
            return [f"With a margin below {bound} (it is {margin}) the verdict would be that they differ beyond noise."]
        case Verdict.SYMMETRIC:
            return [
                "More rows do not help: a symmetric signal and symmetric noise look alike. Measure the noise by "
                "repeated readings of the same objects (--paired), or compare a column that is skewed."
            ]
        case Verdict.TOO_NOISY:
            return ["Reduce the noise, or take more rows; a column with less noise tells more."]
        case Verdict.NOT_RULED_OUT:
            return [f"A difference of the margin ({margin}) is still possible: the bound is {bound}.", *noise_tip]
        case _:
            if columns.bound < comparison.margin:
                return [f"A difference of the margin ({margin}) is ruled out. A margin below {bound} needs more rows."]
            return [f"That no difference was found does not rule one out: it may be as large as {bound}."]


def _times_to_rule_out(comparison: Comparison, columns: Columns) -> float | None:
    """Return how many times the rows make the bound of a difference of 0 equal the margin; None where none can."""
    bounds = []
    for part in columns.effect.parts:
        if part.unseen > 0 or not np.isfinite(part.variances).all():
            return None
        bounds.append(part._replace(scores=np.sqrt(part.variances)).upper(comparison.alpha))
    times = (max(bounds, default=math.nan) / comparison.margin) ** 2
    return times if math.isfinite(times) and times > 1 else None


def _rows_to_detect(comparison: Comparison, columns: Columns) -> tuple[str, int] | None:
    """Return the least certain column, and how many rows of each sample detect a shift of the margin in it."""
    known = [finding for finding in columns.findings if math.isfinite(finding.bound) and finding.spread > 0]
    few = min(comparison.sizes) < _LEAST_ROWS
    if comparison.shown is None or comparison.n_clusters is not None or few or not known:
        return None
    finding = max(known, key=lambda finding: finding.bound)
    place = comparison.columns.index(finding.name)
    rows = comparison.shown[0][:, [place]]
    sketch = comparison.sketches[0]
    empty = sketch.select([sketch.columns[place]])
    pilots = [Sketch.like(empty).update(rows + shift) for shift in (0.0, comparison.margin * finding.spread)]
    before, n_rows = 0.0, 50
    while n_rows <= _MOST_ROWS:
        power = phase_test_power(pilots[0], pilots[1], n_rows, alpha=comparison.alpha, n_draws=_DRAWS)
        if power >= _POWER:  # between this size and half of it, on a straight line over the logarithm
            return finding.name, math.ceil(n_rows * 2 ** ((_POWER - power) / (power - before)))
        before, n_rows = power, 2 * n_rows
    return None


def _about(count: float) -> str:
    """Return a number of rows with two digits."""
    digits = max(0, math.floor(math.log10(max(count, 1))) - 1)
    return f"{math.ceil(count / 10**digits) * 10**digits:,}"
