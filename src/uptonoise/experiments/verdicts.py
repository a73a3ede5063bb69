"""How often each verdict of a comparison is given, where the truth is known (beyond the paper).

Where the samples differ at most by noise, the rate of the verdicts beyond noise should be at most alpha, 0.05. Where
the signals differ by more than the margin, "differ only by noise" and "differ, but by less than the margin" should come
at most at that rate, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.comparison import Verdict, compare
from uptonoise.experiments._alternatives import chi2
from uptonoise.experiments._figures import Figure, Rows, new_figure
from uptonoise.experiments._looks import cell_in_words, wilson_interval
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._noisy_distributions import NoisyPair
from uptonoise.experiments._signal_pairs import PAIRS
from uptonoise.plots import add_legend, dress, rows_of_names, short_name

Sampler = Callable[[np.random.Generator], tuple[Floats, Floats]]

_NONE, _NOISE, _OFFSET, _OTHER = "none", "noise", "noise and an offset", "another distribution"
_SMALL, _SYMMETRIC = "a shift of 0.05 SD", "the width"


def cells() -> Sequence[Measured]:
    """Return cells in which nothing, noise, an offset, a small shift, the width or the signal differs."""
    same = (
        (_NONE, "chi-squared", 500, 2, (0.0, 0.0), "gaussian", 0.0),
        (_NONE, "lognormal", 30, 1, (0.0, 0.0), "gaussian", 0.0),
        (_NOISE, "chi-squared", 500, 2, (1.0, 0.0), "gaussian", 0.0),
        (_NOISE, "lognormal", 2_000, 5, (0.5, 0.0), "t", 0.0),
        (_NOISE, "mixture", 100, 1, (2.0, 0.5), "cauchy", 0.0),
        (_NOISE, "gamma(0.5)", 200, 2, (200.0, 0.0), "gaussian", 0.0),
        (_OFFSET, "chi-squared", 500, 2, (1.0, 0.0), "gaussian", 1.0),
        (_OFFSET, "lognormal", 2_000, 5, (0.5, 0.0), "t", 1.0),
    )
    in_one_column = (
        (_NOISE, "one gamma", 800, (0.0, 0.5)),
        (_NOISE, "one gamma", 2_000, (0.0, 2.0)),
        (_OTHER, "exponential and mirror image", 2_000, (1.0, 0.0)),
        (_OTHER, "exponential and mirror image", 2_000, (16.0, 0.0)),
        (_OTHER, "chi-squared", 3_000, (1.0, 0.0)),
        (_OTHER, "chi-squared", 3_000, (3.0, 0.0)),
        (_OTHER, "two gammas", 2_000, (0.0, 1.0)),
    )
    without_noise: Sequence[tuple[str, str, str, Sampler]] = (
        (
            _OFFSET,
            "gamma(2) and gamma(2) + 1",
            "40, 50",
            lambda rng: (rng.gamma(2, size=40), rng.gamma(2, size=50) + 1),
        ),
        (_SMALL, "normal", "50000", lambda rng: (rng.normal(size=50_000), rng.normal(0.05, size=50_000))),
        (
            _SYMMETRIC,
            "N(0, 1) and N(0, 9)",
            "1000",
            lambda rng: (rng.normal(size=1_000), rng.normal(scale=3, size=1_000)),
        ),
    )
    cells = []
    for truth, name, n, d, noise, kind, shift in same:
        pair = NoisyPair(name, (n, n), d, noise, kind, shift)
        cells.append(_cell(truth, name, n, d, noise, pair.draw, kind))
    for truth, name, n, noise in in_one_column:
        cells.append(_cell(truth, name, str(n), 1, noise, partial(PAIRS[name].sample, n_rows=n, noise=noise)))
    for truth, name, sizes, sampler in without_noise:
        cells.append(_cell(truth, name, sizes, 1, (0.0, 0.0), sampler))
    for n, noise in ((500, (0.5, 0.5)), (2_000, (2.0, 0.0))):
        sampler = partial(chi2(5, noise).draw, sizes=(n, n))
        cells.append(_cell(_OTHER, "chi2(4)/4 and chi2(8)/8", str(n), 5, noise, sampler))
    return cells


def _cell(
    truth: str, signals: str, n: Any, d: int, noise: tuple[float, float], sampler: Sampler, kind: str = "gaussian"
) -> Measured:
    settings = {"differs": truth, "signals": signals, "N": n, "d": d, "noise": kind}
    return Measured(settings | {"n1": noise[0], "n2": noise[1]}, partial(_verdict, sampler=sampler))


def _verdict(generator: np.random.Generator, sampler: Sampler) -> dict[str, float]:
    comparison = compare(*sampler(generator), random_state=generator)
    rates = {verdict: float(comparison.verdict == verdict) for verdict in Verdict}
    return {"beyond noise": float(comparison.differs_beyond_noise)} | rates


# Groups of verdicts, by what they claim about the signals, in the order in which they are stacked.
_GROUPS = {
    "differ beyond noise": ("differ", "#D55E00", (Verdict.BEYOND_OFFSET, Verdict.OFFSET, Verdict.BEYOND_NOISE)),
    "differ, but by less than the margin": ("less than the margin", "#009E73", (Verdict.NEGLIGIBLE,)),
    "only by noise": ("only noise", "#0072B2", (Verdict.ONLY_NOISE,)),
    "no difference found": ("no difference", "#8FC7E8", (Verdict.NO_DIFFERENCE,)),
    "cannot be told": ("cannot be told", "#B8B8B8", (Verdict.NOT_RULED_OUT, Verdict.TOO_NOISY, Verdict.SYMMETRIC)),
}
_WIDE_ENOUGH = 0.17  # share of a bar beside whose text there is room


def _stacked(title: str, rows: Rows) -> Figure:
    """Draw how often each group of verdicts is given as one bar per cell, with 95 % intervals beyond noise."""
    truths = list(dict.fromkeys(row["differs"] for row in rows))
    rows = sorted(rows, key=lambda row: truths.index(row["differs"]))  # cells with the same truth together
    figure = new_figure(title, 11.5, 2.0 + 0.36 * len(rows))
    ax = figure.subplots()
    left, entries = np.zeros(len(rows)), []
    for name, (short, color, verdicts) in _GROUPS.items():
        shares = np.array([sum(float(row[verdict]) for verdict in verdicts) for row in rows])
        entries.append((ax.barh(range(len(rows)), shares, left=left, color=color, height=0.72), name))
        for y, (start, share) in enumerate(zip(left, shares, strict=True)):
            if share >= _WIDE_ENOUGH:
                ink = "white" if name == "only by noise" else "black"
                where: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
                ax.text(start + share / 2, y, f"{short} {share:.2f}", color=ink, **where)
        left += shares
    for y, row in enumerate(rows):
        ends = wilson_interval(float(row["beyond noise"]), int(row["repetitions"]))
        ax.hlines(y + 0.3, *ends, color="black", linewidth=1.2)
    names = []
    for row in rows:
        truth = row["differs"].replace("another distribution", "signal")
        names.append(short_name(f"{truth}: {cell_in_words(row, ('signals', 'N', 'd', 'noise', 'n1', 'n2'))}", 110))
    rows_of_names(ax, names)
    ax.set_xlim(0, 1)
    runs = f'share of {rows[0]["repetitions"]} runs; black lines: 95 % intervals of the share "beyond noise"'
    dress(ax, "", runs, grid="x")
    add_legend(ax, entries, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False)
    return figure


EXPERIMENT = MeasuredExperiment("verdicts", __doc__.splitlines()[0], cells(), repetitions=500, draw=_stacked)
