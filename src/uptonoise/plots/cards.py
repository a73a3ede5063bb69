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
from uptonoise.plots.named_rows import Row, row_of
from uptonoise.twosample import (
    EffectSize,
    ExtraNoise,
    Noncentrality,
    PairwiseResult,
    PhaseResult,
    Plan,
    TwoSampleResult,
)

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
    up_to_offset = result.verdict in (Verdict.OFFSET, Verdict.BEYOND_OFFSET)
    effect = result.effect_beyond_offset if up_to_offset else result.effect
    bound = effect.upper_bound(result.alpha)
    below = f"below {upper(bound)} SD ({100 * (1 - result.alpha):g} % confidence)" if math.isfinite(bound) else ""
    differing = [column for column in result.by_column if column.adjusted_beyond_noise <= result.alpha]
    facts = [
        ("rows", ", ".join(f"{name} {size:,}" for name, size in zip(result.names, result.sizes, strict=True))),
        ("effect beyond noise and offset" if up_to_offset else "effect beyond noise", _effect_text(effect)),
        ("bound", below),
        ("margin", f"{result.margin:g} SD"),
        *[(f"{question}?", f"{answer} ({why})") for question, answer, why in result.ladder()],
    ]
    if len(result.columns) > 1:
        facts.append(("columns beyond noise", _few([column.column for column in differing]) or "none by itself"))
    facts += [("clusters", text) for label, text in result.findings() if label == "clusters"]
    facts += [("warning", text) for text in result.dependent]
    if result.shown is None:
        return card(result.sentence, facts, _effects([row_of("", effect)], result.margin))
    # The column that differs beyond noise most clearly; where none does, the one that differs most clearly at all.
    place = 0
    if result.by_column:
        clearest = min(result.by_column, key=lambda column: column.at_all)
        if differing:
            clearest = min(differing, key=lambda column: column.beyond_noise)
        place = result.columns.index(clearest.column)
    samples = [rows[:, place] for rows in result.shown]
    return card(result.sentence, facts, _curves(samples, result.names, result.columns[place]))


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
    return card(f"The column {result.column}", facts, _effects([row_of("", result.effect)]))


@card_of.register
def _of_groups(result: GroupComparison | PairwiseResult) -> str:
    if isinstance(result, PairwiseResult):
        sentence, pairs, alpha = repr(result).split("\n")[0], result, 0.05
    elif result.two is not None:
        return _of_comparison(result.two)
    else:
        sentence, pairs, alpha = result.sentence, result.pairs, result.alpha
    i, j = pairs.ordered()
    n_differ = int(np.count_nonzero(pairs.adjusted[i, j] <= alpha))
    facts = [
        ("groups", f"{len(pairs.names):,}, of {min(pairs.sizes):,} to {counted(max(pairs.sizes), 'row')}"),
        ("pairs that differ", f"{n_differ:,} of {len(i):,}"),
    ]
    for a, b in zip(i[:4].tolist(), j[:4].tolist(), strict=True):
        facts.append((f"{pairs.names[a]} and {pairs.names[b]}", f"adjusted p {pvalue(float(pairs.adjusted[a, b]))}"))
    return card(sentence, facts, _matrix(pairs))


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
    sentence = f"{result.test}: p {_sign(result.pvalue)}"
    permuted = np.asarray(getattr(result, "permuted", ()))
    if len(permuted):
        counts, edges = np.histogram(permuted, bins=24)
        low, high = float(min(edges[0], result.statistic)), float(max(edges[-1], result.statistic))
        x = Axis(low, high if high > low else low + 1.0)
        drawing = Drawing(x, Axis(0, float(counts.max())), width=_WIDTH, height=_HEIGHT)
        for count, left, right in zip(counts.tolist(), edges, edges[1:], strict=False):
            if count:
                drawing.bar((float(left), float(right)), (0, count), "first")
        drawing.upright(result.statistic, "second", thin=False)
        drawing.x_axis("statistic (dashed), permutations", most=4)
        text = f"The statistic {result.statistic:.3g} and those of {len(permuted):,} permutations"
        return card(sentence, facts, drawing.svg(text))
    if math.isnan(result.pvalue):
        return card(sentence, facts)
    place = max(result.pvalue, _SMALLEST_P)
    drawing = Drawing(Axis(min(1e-4, place), 1.0, log=True), Axis(0, 1), width=_WIDTH, height=70)
    drawing.upright(0.05, "second", thin=False)
    drawing.dot(place, 0.5, "first", radius=5)
    drawing.x_axis("p-value; dashed: 0.05", most=4)
    return card(sentence, facts, drawing.svg(f"p-value {pvalue(result.pvalue)} on a log axis"))


@card_of.register
def _of_phase(result: PhaseResult) -> str:
    facts = [
        ("effect", _effect_text(result.effect)),
        ("invariant to", result.invariant_to),
        ("rows", f"{result.sizes[0]:,} and {result.sizes[1]:,}"),
        ("columns", _few(result.columns)),
        ("frequencies", f"{len(result.frequencies):,}"),
        ("null", result.null),
        ("warning", "too noisy: a large p-value says nothing" if result.too_noisy else ""),
    ]
    return card(f"{result.test}: p {_sign(result.pvalue)}", facts, _effects(_by_column(result.effect)))


@card_of.register
def _of_effect(result: EffectSize) -> str:
    facts = [("below", f"{upper(result.upper_bound())} SD (95 %)"), ("seen", f"{result.seen:.0%}")]
    return card(_effect_text(result), facts, _effects(_by_column(result)))


@card_of.register
def _of_noncentrality(result: Noncentrality) -> str:
    facts = [("95 % interval", interval(result.low, result.high)), ("reliable frequencies", f"{result.n_reliable:,}")]
    return card(f"Noncentrality {number(result.estimate)} per row", facts, _effects([row_of("", result)]))


@card_of.register
def _of_noise(result: ExtraNoise) -> str:
    sentence, *lines = repr(result).split("\n")
    ends = result.interval().tolist()
    rows = [
        (name, value, *end) for name, value, end in zip(result.columns, result.variances.tolist(), ends, strict=True)
    ]
    return card(sentence, [("", line.strip()) for line in lines], _effects(rows[:_LINES]))


def _by_column(effect: EffectSize) -> list[Row]:
    """Return the effect in the columns where it is surest to be large."""
    rows = [row_of(part.name, effect.in_column(part.name)) for part in effect.parts]
    return sorted(rows, key=lambda row: -row[2])[:_LINES]


def _effects(rows: Sequence[Row], margin: float | None = None) -> str:
    """Draw numbers with their intervals, one line each."""
    known = [row for row in rows if math.isfinite(row[1])]
    ends = [end for _, *numbers in known for end in numbers if math.isfinite(end)]
    if not ends:
        return ""
    ends += [0.0] if margin is None else [0.0, margin]
    low, high = min(ends), max(ends)
    high = high if high > low else low + 1.0
    left = 86.0 if any(name for name, *_ in known) else 10.0
    height = 18 * len(known) + 34
    drawing = Drawing(Axis(low, high), Axis(0, len(known)), width=_WIDTH, height=height, left=left, bottom=26)
    if margin is not None:
        drawing.upright(margin, "second", thin=False)
    if low < 0:
        drawing.upright(0.0, "muted")
    for place, (name, estimate, least, most) in enumerate(known):
        y = len(known) - place - 0.5
        drawing.line([max(least, low), min(most, high)], [y, y], "first", solid=True)
        drawing.dot(estimate, y, "first")
        if name:
            drawing.text(left - 6, float(drawing.down(y)) + 4, shortened(name, 12), anchor="end")
    drawing.x_axis(most=4)
    return drawing.svg("; ".join(f"{name or 'value'} {number(estimate, 2)}" for name, estimate, *_ in known))


@card_of.register
def _of_posterior(result: Posterior) -> str:
    numbers = (np.atleast_1d(values).tolist() for values in (result.mean(), *result.interval(0.9)))
    facts = [
        (name, f"{number(mean)} (90 % from {number(low)} to {number(high)})")
        for name, mean, low, high in zip(result.names, *numbers, strict=True)
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
    named = zip(result.columns, result.differences.tolist(), result.standard_errors.tolist(), strict=True)
    rows = [(name, value, value - 2 * error, value + 2 * error) for name, value, error in named]
    rows.sort(key=lambda row: -row[1] if math.isfinite(row[1]) else math.inf)
    return card(result.sentence, facts, _effects(rows[:_LINES]))


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


@card_of.register
def _of_plan(result: Plan) -> str:
    lines = zip(result.n.tolist(), result.k.tolist(), result.power.tolist(), strict=True)
    facts = [
        (f"{n:,} {result.units}" if n == k else f"{n:,} and {k:,} {result.units}", f"power {power:.2f}")
        for n, k, power in lines
    ][:8]
    facts.append(("simulated", f"{result.n_draws:,} data sets of each size"))
    if len(result.n) < 2:
        return card(result.sentence, facts)
    x = Axis(float(result.n[0]), float(max(result.n[-1], result.n[0] + 1)))
    drawing = Drawing(x, Axis(0, 1.02), width=_WIDTH, height=_HEIGHT + 20, left=40)
    drawing.y_axis(3)
    drawing.level(result.target, "second", thin=False)
    drawing.line(result.n, result.power, "first")
    for n, power in zip(result.n.tolist(), result.power.tolist(), strict=True):
        drawing.dot(n, power, "first", radius=3)
    drawing.x_axis(f"{result.units} (dashed: the target)", most=4)
    return card(result.sentence, facts, drawing.svg(f"Power against the number of {result.units}"))


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
