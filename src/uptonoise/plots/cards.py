"""The cards that notebooks show of results: the sentence, the key numbers, and one small drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from uptonoise._util.card import card
from uptonoise._util.density import common_grid, density_of
from uptonoise._util.drawing import Axis, Drawing, Kind, shortened
from uptonoise._util.numbers import bound as upper, interval, number, pvalue
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison import ColumnComparison, Comparison, GroupComparison, Verdict
from uptonoise.inference import Calibration, Posterior
from uptonoise.learning import RobustnessCurve
from uptonoise.monitor import History, MonitorState, format_wealth
from uptonoise.twosample import EffectSize, ExtraNoise, Noncentrality, PairwiseResult, PhaseResult, TwoSampleResult

_WIDTH, _HEIGHT = 270, 130
_LINES = 6  # of a list in a card
_DRAWS = 2_000
_MOST_CELLS = 16
_SMALLEST_P = 1e-12


@singledispatch
def card_of(result: Any) -> str:
    """Return the card of a result as HTML; of kinds without one of their own, the text that is printed.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.plots import card_of
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
    >>> card_of(un.compare(X, Y))[:28]
    '<div class="uptonoise-card">'
    """
    sentence, *lines = repr(result).split("\n")
    return card(sentence, [("", line.strip()) for line in lines])


@card_of.register
def _of_comparison(result: Comparison) -> str:
    first, second = result.names
    up_to_offset = result.verdict in (Verdict.OFFSET, Verdict.BEYOND_OFFSET)
    effect = result.effect_beyond_offset if up_to_offset else result.effect
    differing = [column.column for column in result.by_column if column.adjusted_beyond_noise <= result.alpha]
    facts = [
        ("rows", f"{first} {result.sizes[0]:,}, {second} {result.sizes[1]:,}"),
        ("effect beyond noise and offset" if up_to_offset else "effect beyond noise", _effect_text(effect)),
        ("bound", _bound_text(effect.upper_bound(result.alpha), result.alpha)),
        ("margin", f"{result.margin:g} SD"),
        *[(f"{question}?", f"{answer} ({why})") for question, answer, why in result.ladder()],
    ]
    if len(result.columns) > 1:
        facts.append(("columns beyond noise", _few(differing) or "none by itself"))
    facts += [("clusters", text) for label, text in result.findings() if label == "clusters"]
    facts += [("warning", text) for text in result.dependent]
    drawing = _effects([("", effect)], result.margin) if result.shown is None else _densities(result)
    return card(result.sentence, facts, drawing)


def _bound_text(bound: float, alpha: float) -> str:
    return f"below {upper(bound)} SD ({100 * (1 - alpha):g} % confidence)" if math.isfinite(bound) else ""


def _densities(result: Comparison) -> str:
    """Draw the densities of the column that differs most clearly."""
    assert result.shown is not None
    place = 0
    if result.by_column:
        place = result.columns.index(min(result.by_column, key=lambda column: _clearness(column, result.alpha)).column)
    samples = [rows[:, place] for rows in result.shown]
    return _curves(samples, result.names, result.columns[place])


def _clearness(column: ColumnComparison, alpha: float) -> tuple[bool, float]:
    """Return what puts columns that differ beyond noise first, then those that differ at all, the clearest first."""
    beyond = column.adjusted_beyond_noise <= alpha
    return not beyond, column.beyond_noise if beyond else column.at_all


def _curves(samples: Sequence[Floats], names: Sequence[str], label: str) -> str:
    grid = common_grid(*samples)
    kinds: tuple[Kind, Kind] = ("first", "second")
    curves = [density_of(values, grid) for values in samples]
    top = max((float(curve.y.max()) for curve in curves if curve is not None), default=1.0)
    x = Axis(float(grid[0]), float(grid[-1]))
    drawing = Drawing(x, Axis(0, 1.05 * top), width=_WIDTH, height=_HEIGHT + 36, top=40)
    for row, (values, curve, kind, name) in enumerate(zip(samples, curves, kinds, names, strict=False)):
        if curve is None:
            drawing.upright(float(np.median(values)), kind, thin=False)
        else:
            drawing.area(curve.x, curve.y, kind)
            drawing.line(curve.x, curve.y, kind)
        drawing.sample(2, 8 + 16 * row, kind)
        drawing.text(38, 12 + 16 * row, shortened(name, 34))
    drawing.x_axis(shortened(label, 40), most=4)
    return drawing.svg(f"Densities of {label}: {' and '.join(names)}")


@card_of.register
def _of_column(result: ColumnComparison) -> str:
    facts = [
        ("p at all", pvalue(result.adjusted_at_all)),
        ("p beyond noise", pvalue(result.adjusted_beyond_noise)),
        ("p beyond noise and offset", pvalue(result.adjusted_beyond_offset)),
        ("effect", _effect_text(result.effect)),
        ("offset", "" if result.offset is None else f"{number(result.offset.shift)} ({interval(*result.offset[2:])})"),
    ]
    return card(f"The column {result.column}", facts, _effects([("", result.effect)], None))


@card_of.register
def _of_groups(result: GroupComparison) -> str:
    if result.two is not None:
        return _of_comparison(result.two)
    return card(result.sentence, _group_facts(result.pairs, result.alpha), _matrix(result.pairs))


@card_of.register
def _of_pairs(result: PairwiseResult) -> str:
    sentence = repr(result).split("\n")[0]
    return card(sentence, _group_facts(result, 0.05), _matrix(result))


def _group_facts(pairs: PairwiseResult, alpha: float) -> list[tuple[str, str]]:
    i, j = pairs.ordered()
    clearest = [
        (f"{pairs.names[a]} and {pairs.names[b]}", f"adjusted p {pvalue(float(pairs.adjusted[a, b]))}")
        for a, b in zip(i[:4].tolist(), j[:4].tolist(), strict=True)
    ]
    n_differ = int(np.count_nonzero(pairs.adjusted[i, j] <= alpha))
    sizes = f"{len(pairs.names):,}, of {min(pairs.sizes):,} to {counted(max(pairs.sizes), 'row')}"
    return [("groups", sizes), ("pairs that differ", f"{n_differ:,} of {len(i):,}"), *clearest]


def _matrix(pairs: PairwiseResult) -> str:
    """Draw how clearly each pair differs: larger squares for smaller p-values."""
    n = min(len(pairs.names), _MOST_CELLS)
    side = 18.0
    width = max(_WIDTH, 96 + side * n)
    drawing = Drawing(
        Axis(0, n), Axis(0, n), width=width, height=8 + side * n, left=90, right=width - 90 - side * n, top=4, bottom=4
    )
    for row in range(n):
        drawing.text(84, 4 + side * (row + 0.7), shortened(pairs.names[row], 13), anchor="end")
        for column in range(n):
            if row == column:
                continue
            clear = -math.log10(max(float(pairs.adjusted[row, column]), _SMALLEST_P)) / 12
            half = 0.08 + 0.38 * min(1.0, clear)
            x, y = column + 0.5, n - row - 0.5
            kind: Kind = "second" if pairs.adjusted[row, column] <= 0.05 else "muted"
            drawing.bar((x - half, x + half), (y - half, y + half), kind)
    return drawing.svg(f"Pairs of {n} groups: larger squares differ more clearly")


@card_of.register
def _of_test(result: TwoSampleResult) -> str:
    facts = [
        ("statistic", f"{result.statistic:.4g}"),
        ("null", result.null),
        ("rows", f"{result.sizes[0]:,} and {result.sizes[1]:,}"),
        ("columns", _few(result.columns)),
    ]
    if result.n_clusters is not None:
        facts.append(("clusters", f"{result.n_clusters[0]:,} and {result.n_clusters[1]:,}"))
    facts += [("", line.strip()) for line in result._more()]
    permuted = np.asarray(getattr(result, "permuted", ()))
    drawing = _histogram(permuted, result.statistic) if len(permuted) else _pvalue_line(result.pvalue)
    return card(f"{result.test}: p {_sign(result.pvalue)}", facts, drawing)


@card_of.register
def _of_phase(result: PhaseResult) -> str:
    facts = [
        ("effect", _effect_text(result.effect)),
        ("invariant to", result.invariant_to),
        ("rows", f"{result.sizes[0]:,} and {result.sizes[1]:,}"),
        ("columns", _few(result.columns)),
        ("frequencies", f"{len(result.frequencies):,}"),
        ("null", result.null),
    ]
    facts.append(("warning", "too noisy: a large p-value says nothing" if result.too_noisy else ""))
    parts = [(part.name, result.effect.in_column(part.name)) for part in result.effect.parts]
    parts.sort(key=lambda part: -part[1].low)
    return card(f"{result.test}: p {_sign(result.pvalue)}", facts, _effects(parts[:_LINES], None))


@card_of.register
def _of_effect(result: EffectSize) -> str:
    parts = sorted(((part.name, result.in_column(part.name)) for part in result.parts), key=lambda part: -part[1].low)
    facts = [("below", f"{upper(result.upper_bound())} SD (95 %)"), ("seen", f"{result.seen:.0%}")]
    return card(_effect_text(result), facts, _effects(parts[:_LINES], None))


@card_of.register
def _of_noncentrality(result: Noncentrality) -> str:
    facts = [("95 % interval", interval(result.low, result.high)), ("reliable frequencies", f"{result.n_reliable:,}")]
    return card(f"Noncentrality {number(result.estimate)} per row", facts, _effects([("", result)], None))


@card_of.register
def _of_noise(result: ExtraNoise) -> str:
    sentence, *lines = repr(result).split("\n")
    rows = [_Interval(float(v), *map(float, ends)) for v, ends in zip(result.variances, result.interval(), strict=True)]
    named = list(zip(result.columns, rows, strict=True))[:_LINES]
    return card(sentence, [("", line.strip()) for line in lines], _effects(named, None))


class _Interval:
    """A number with its interval."""

    def __init__(self, estimate: float, low: float, high: float) -> None:
        self.estimate, self.low, self.high = estimate, low, high


def _effects(rows: Sequence[tuple[str, Any]], margin: float | None) -> str:
    """Draw numbers with their intervals, one line each."""
    known = [(name, row) for name, row in rows if math.isfinite(row.estimate)]
    ends = [end for _, row in known for end in (row.estimate, row.low, row.high) if math.isfinite(end)]
    if not ends:
        return ""
    ends += [0.0] if margin is None else [0.0, margin]
    low, high = min(ends), max(ends)
    high = high if high > low else low + 1.0
    left = 86.0 if any(name for name, _ in known) else 10.0
    drawing = Drawing(
        Axis(low, high), Axis(0, len(known)), width=_WIDTH, height=18 * len(known) + 34, left=left, bottom=26
    )
    if margin is not None:
        drawing.upright(margin, "second", thin=False)
    if low < 0:
        drawing.upright(0.0, "muted")
    for place, (name, row) in enumerate(known):
        y = len(known) - place - 0.5
        drawing.line([max(row.low, low), min(row.high, high)], [y, y], "first", solid=True)
        drawing.dot(row.estimate, y, "first")
        if name:
            drawing.text(left - 6, float(drawing.down(y)) + 4, shortened(name, 12), anchor="end")
    drawing.x_axis(most=4)
    return drawing.svg("; ".join(f"{name or 'value'} {number(row.estimate, 2)}" for name, row in known))


def _histogram(permuted: Floats, statistic: float) -> str:
    counts, edges = np.histogram(permuted, bins=24)
    low, high = float(min(edges[0], statistic)), float(max(edges[-1], statistic))
    drawing = Drawing(
        Axis(low, high if high > low else low + 1.0), Axis(0, float(counts.max())), width=_WIDTH, height=_HEIGHT
    )
    for count, left, right in zip(counts.tolist(), edges, edges[1:], strict=False):
        if count:
            drawing.bar((float(left), float(right)), (0, count), "first")
    drawing.upright(statistic, "second", thin=False)
    drawing.x_axis("statistic (dashed), permutations", most=4)
    return drawing.svg(f"The statistic {statistic:.3g} and those of {len(permuted):,} permutations")


def _pvalue_line(value: float) -> str:
    """Draw a p-value on a log axis, with 0.05."""
    if math.isnan(value):
        return ""
    drawing = Drawing(Axis(min(1e-4, max(value, _SMALLEST_P)), 1.0, log=True), Axis(0, 1), width=_WIDTH, height=70)
    drawing.upright(0.05, "second", thin=False)
    drawing.dot(max(value, _SMALLEST_P), 0.5, "first", radius=5)
    drawing.x_axis("p-value; dashed: 0.05", most=4)
    return drawing.svg(f"p-value {pvalue(value)} on a log axis")


@card_of.register
def _of_posterior(result: Posterior) -> str:
    means, lows_highs = np.atleast_1d(result.mean()), result.interval(0.9)
    lows, highs = (np.atleast_1d(ends) for ends in lows_highs)
    facts = [
        (name, f"{number(float(mean))} (90 % from {number(float(low))} to {number(float(high))})")
        for name, mean, low, high in zip(result.names, means, lows, highs, strict=True)
    ]
    sentence = f"Posterior of {counted(len(result.theta), 'particle')}, worth {result.ess:,.0f}"
    values, prior = result.resample(_DRAWS, 0)[:, 0], result.prior_draws[:_DRAWS, 0]
    return card(sentence, facts, _curves([values, prior], ["posterior", "prior"], result.names[0]))


@card_of.register
def _of_calibration(result: Calibration) -> str:
    facts = []
    for place, name in enumerate(result.names):
        coverage = f"90 % intervals hold the truth in {result.coverage(0.9)[place]:.0%}"
        facts.append((name, f"{coverage}; uniform ranks: p {_sign(float(result.pvalues[place]))}"))
    counts = result.histogram(0)
    drawing = Drawing(Axis(0, len(counts)), Axis(0, 1.05 * float(counts.max())), width=_WIDTH, height=_HEIGHT)
    for place, count in enumerate(counts.tolist()):
        drawing.bar((place + 0.05, place + 0.95), (0, count), "first")
    drawing.level(float(counts.mean()), "second", thin=False)
    drawing.text(_WIDTH / 2, _HEIGHT - 6, f"ranks of {shortened(result.names[0], 24)}", anchor="middle")
    return card(f"Calibration on {counted(len(result.truth), 'data set')}", facts, drawing.svg("Histogram of ranks"))


@card_of.register
def _of_robustness(result: RobustnessCurve) -> str:
    order = np.argsort(result.levels, kind="stable")
    levels, mean, low, high = (part[order] for part in (result.levels, result.mean, result.low, result.high))
    facts = [(f"noise {level:g}", f"{number(m)} ({interval(float(a), float(b))})") for level, m, a, b in
             zip(levels.tolist(), mean.tolist(), low.tolist(), high.tolist(), strict=True)][:_LINES]  # fmt: skip
    facts.append((result.baseline_name, number(result.baseline)))
    top = 1.05 * max(float(high.max()), result.baseline)
    x = Axis(float(levels[0]), float(levels[-1]) if levels[-1] > levels[0] else float(levels[0]) + 1.0)
    drawing = Drawing(x, Axis(0, top), width=_WIDTH, height=_HEIGHT + 20, left=40)
    drawing.y_axis(3)
    drawing.band(levels, low, high, "first")
    drawing.line(levels, mean, "first")
    drawing.level(result.baseline, "second", thin=False)
    drawing.x_axis("noise size (dashed: baseline)", most=4)
    repeats = counted(result.errors.shape[1], "repeat")
    return card(f"{result.metric} with {result.kind} noise, {repeats}", facts, drawing.svg("Error against noise"))


@card_of.register
def _of_state(result: MonitorState) -> str:
    facts = [
        ("alarm", "yes" if result.alarm else "no"),
        ("wealth", f"{format_wealth(result.log_wealth)} of {result.threshold:,.6g}"),
        ("p-value, at any time", "" if result.pvalue is None else pvalue(result.pvalue)),
        ("rows compared", f"{result.rows_used:,}"),
        ("left in the reference", "" if result.rows_left is None else f"{result.rows_left:,}"),
        ("notes", "; ".join(result.notes)),
    ]
    rows = [
        (name, _Interval(float(value), float(value - 2 * error), float(value + 2 * error)))
        for name, value, error in zip(result.columns, result.differences, result.standard_errors, strict=True)
    ]
    rows.sort(key=lambda row: -row[1].estimate if math.isfinite(row[1].estimate) else math.inf)
    return card(result.sentence, facts, _effects(rows[:_LINES], None))


@card_of.register
def _of_history(result: History) -> str:
    if not len(result):
        return card(repr(result), [])
    last = result.lines[-1]
    batches, wealth = result.floats("batch"), result.floats("log_wealth") / math.log(10)
    limit = math.log10(result.threshold) if math.isfinite(result.threshold) else 1.0
    x = Axis(float(batches[0]), max(float(batches[-1]), float(batches[0]) + 1))
    y = Axis(min(0.0, float(wealth.min())), 1.05 * max(limit, float(wealth.max())))
    drawing = Drawing(x, y, width=_WIDTH, height=_HEIGHT + 20, left=40)
    drawing.y_axis(3)
    drawing.level(limit, "second", thin=False)
    drawing.line(batches, wealth, "first")
    drawing.x_axis("batch (dashed: alarm)", most=4)
    facts = [
        ("rows compared", f"{last.rows_used:,}"),
        ("wealth", f"{format_wealth(last.log_wealth)} of {result.threshold:,.6g}"),
        ("alarm", "yes" if last.alarm else "no"),
        ("change since batch", "" if result.since is None else f"{result.since:,}"),
    ]
    return card(repr(result), facts, drawing.svg("Wealth after each batch, as a power of 10"))


def _effect_text(effect: EffectSize) -> str:
    if math.isnan(effect.estimate):
        return "not known"
    return f"{number(effect.estimate, 2)} SD (95 % interval {interval(effect.low, effect.high, 2)})"


def _sign(value: float) -> str:
    text = pvalue(value)
    return text if text.startswith("<") else f"= {text}"


def _few(names: Sequence[str]) -> str:
    more = len(names) - _LINES
    return ", ".join(names[:_LINES]) + (f" and {more:,} more" if more > 0 else "")
