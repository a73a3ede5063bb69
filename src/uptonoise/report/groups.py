"""The page of many groups: which stand out, how alike they are, how noisy each is, and all pairs.

Pairs are told by their effects. The p-value says whether a pair differs, not by how much: of many rows all are small.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

from uptonoise._util.drawing import Axis, Drawing, shortened
from uptonoise._util.numbers import number
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison import GroupComparison, NoiseAdded
from uptonoise.report.pictures import Picture
from uptonoise.rows import split_name
from uptonoise.twosample import EffectSize, Pair, column_spreads, noise_difference

_MOST_IN_MATRIX = 16  # groups, each pair of which takes a fraction of a second
_LISTED_PAIRS = 12
_NORMAL_95 = 1.96
_SHADES = (0.2, 0.5, 1.0, 2.0)  # SD, from which on a cell is darker


class PairLine(NamedTuple):
    """A pair of groups: its effect, the columns that clearly differ, the clearest first, and whether it differs."""

    first: str
    second: str
    adjusted: float
    effect: EffectSize
    columns: list[str]
    differs: bool


class GroupLine(NamedTuple):
    """A group: its rows, from how many others it differs, by how much and in which columns, and its noise."""

    name: str
    size: int
    n_differ: int
    typical: float
    columns: list[str]
    noise: float  # in SD of the quietest group
    noisiest: NoiseAdded | None


def groups_context(groups: GroupComparison) -> dict[str, Any]:
    """Return what the template of groups shows."""
    names = list(groups.names)
    if len(names) > _MOST_IN_MATRIX:  # those that differ most often
        often = np.sum(groups.pairs.adjusted <= groups.alpha, axis=1)
        names = [names[place] for place in sorted(np.argsort(-often, kind="stable")[:_MOST_IN_MATRIX].tolist())]
    with single_threaded_blas():
        pairs = _pairs(groups, names)
        quietest, lines = _lines(groups, names, pairs)
    effects = np.zeros((len(names), len(names)))
    for (i, j), pair in pairs.items():
        effects[i, j] = effects[j, i] = pair.effect.estimate if math.isfinite(pair.effect.estimate) else math.nan
    tree = _linked(effects) if len(names) > 2 else None
    order = list(range(len(names))) if tree is None else [int(leaf) for leaf in tree["leaves"]]
    # Those that differ first, and of these the largest lower end of the effect.
    ranked = sorted(pairs.values(), key=lambda pair: (not pair.differs, -pair.effect.low, pair.adjusted))
    differing = [pair for pair in ranked if pair.differs]
    # The groups that differ from all others; without any, those that differ from any.
    standing_out = [line for line in lines if line.n_differ and (line.name in groups.outliers or not groups.outliers)]
    n_differ, n_groups = len(groups.differing), len(groups.names)
    label = "no pair differs" if n_differ == 0 else f"{counted(n_differ, 'pair')} differ" + "s" * (n_differ == 1)
    return {
        "groups": groups,
        "label": label,
        "tone": "beyond" if n_differ else "none",
        "n_pairs": n_groups * (n_groups - 1) // 2,
        "n_left_out": n_groups - len(names),
        "matrix": [(names[i], [_cell(pairs.get((min(i, j), max(i, j)))) for j in order]) for i in order],
        "ordered": [names[i] for i in order],
        "tree": None if tree is None else _tree(tree, names),
        "standing_out": sorted(standing_out, key=lambda line: (-line.n_differ, -line.typical)),
        "n_shown": len(names),
        "by_noise": sorted(lines, key=lambda line: -line.noise if math.isfinite(line.noise) else math.inf),
        "quietest": quietest,
        "listed": differing[:_LISTED_PAIRS],
        "folded": differing[_LISTED_PAIRS:],
        "others": ranked[len(differing) :],
        "noise_picture": _noise_picture(lines),
        "missing": [] if groups.two is None else list(groups.two.missing),
    }


def _pairs(groups: GroupComparison, names: list[str]) -> dict[tuple[int, int], PairLine]:
    """Return what is known of each pair of the shown groups."""
    pairs = {}
    for i, j in itertools.combinations(range(len(names)), 2):
        effect = groups.effect(names[i], names[j])
        alpha = 0.05 / max(1, len(effect.parts))
        lows = {part.name: part.lower(alpha) for part in effect.parts}
        columns = [name for name, low in sorted(lows.items(), key=lambda item: -item[1]) if low > 0]
        adjusted = float(groups.pairs.adjusted[groups.names.index(names[i]), groups.names.index(names[j])])
        pairs[i, j] = PairLine(names[i], names[j], adjusted, effect, columns, adjusted <= groups.alpha)
    return pairs


def _lines(
    groups: GroupComparison, names: list[str], pairs: dict[tuple[int, int], PairLine]
) -> tuple[str, list[GroupLine]]:
    """Return the quietest group, and what is known of each."""
    sketches = [groups.sketches[name] for name in names]
    spreads = np.array([column_spreads(sketch, sketch) for sketch in sketches])
    middle = np.median(spreads, axis=0)
    relative = np.divide(spreads, middle, out=np.ones_like(spreads), where=middle > 0)
    quietest = int(np.argmin(np.median(relative, axis=1)))
    lines = []
    for i, name in enumerate(names):
        differing = [pair for place, pair in pairs.items() if i in place and pair.differs]
        often = Counter(column for pair in differing for column in pair.columns[:1]).most_common(3)
        sizes = [pair.effect.estimate if math.isfinite(pair.effect.estimate) else math.nan for pair in differing]
        noise: tuple[float, NoiseAdded | None] = (0.0, None)
        if i != quietest:
            first, second = min(i, quietest), max(i, quietest)
            both = Pair.of(sketches[first], sketches[second])
            noise = _noise(groups, both, pairs[first, second], name, spreads[quietest])
        rows, typical = int(groups.pairs.sizes[groups.names.index(name)]), float(np.median(sizes)) if sizes else 0.0
        lines.append(GroupLine(name, rows, len(differing), typical, [column for column, _ in often], *noise))
    return names[quietest], lines


def _noise(
    groups: GroupComparison, sketches: Pair, pair: PairLine, name: str, spreads: Floats
) -> tuple[float, NoiseAdded | None]:
    """Return how much noisier a group is than the quietest one, in the SD of that one, and where it is clearest.

    It is the median over the columns in which the signals agree; NaN where there is none.
    """
    extra, sign = noise_difference(sketches, None), 1 if name == pair.first else -1
    quietest = pair.second if name == pair.first else pair.first
    shares, found = [], []
    for place, column in enumerate(extra.columns):
        error = float(extra.standard_errors[place])
        signal = column in pair.columns or split_name(column, groups.input.categories)
        if signal or not math.isfinite(error) or not spreads[place] > 0:
            continue
        variance, reach = sign * float(extra.variances[place]), _NORMAL_95 * error
        shares.append(variance / spreads[place] ** 2)
        noise = NoiseAdded.of(column, (name, quietest), variance, variance - reach, variance + reach)
        found += [noise] if noise is not None and noise.sample == name else []
    if not shares:
        return math.nan, None
    size = math.sqrt(max(0.0, float(np.median(shares)))) if found else 0.0
    return size, max(found, key=lambda noise: noise.low / noise.sd, default=None)


def _cell(pair: PairLine | None) -> tuple[str, int, str]:
    """Return the text, shade and label of a cell: darker for larger effects, and plain where the pair agrees."""
    if pair is None:
        return "", 0, "the same group"
    value = pair.effect.estimate if math.isfinite(pair.effect.estimate) else math.nan
    shade = 1 + sum(value >= least for least in _SHADES) if pair.differs else 0
    told = "differ" if pair.differs else "no difference found"
    return f"{value:.2f}" if value < 10 else number(value, 2), shade, told


def _linked(effects: Floats) -> Any:
    """Return the tree of the groups, which puts those with small effects side by side."""
    distances = np.nan_to_num(effects, nan=float(effects[np.isfinite(effects)].max(initial=1.0)))
    optimal = len(effects) <= 40
    return dendrogram(
        linkage(squareform(distances, checks=False), method="average", optimal_ordering=optimal), no_plot=True
    )


def _tree(tree: Any, names: list[str]) -> Picture:
    """Draw which groups are alike: two branches meet at the mean effect between them."""
    top = max(max(max(heights) for heights in tree["dcoord"]), 1e-9)
    n = len(names)
    drawing = Drawing(Axis(0, 1.04 * top), Axis(0, n), width=460, height=22 * n + 46, left=120, right=12)
    for places, heights in zip(tree["icoord"], tree["dcoord"], strict=True):
        drawing.line(heights, [n - place / 10 for place in places], "first", solid=True)
    for row, leaf in enumerate(tree["leaves"]):
        drawing.text(114, float(drawing.down(n - row - 0.5)) + 4, shortened(names[leaf], 18), anchor="end")
    drawing.x_axis("mean effect between branches (SD)")
    return Picture(
        drawing.svg(f"Tree of {n} groups by their effects; the matrix has the numbers."),
        "Which groups are alike: branches meet at the mean effect between their groups.",
    )


def _noise_picture(lines: list[GroupLine]) -> Picture | None:
    """Draw the noise of the groups, the noisiest first."""
    known = sorted((line for line in lines if math.isfinite(line.noise)), key=lambda line: -line.noise)
    if len(known) < 2 or known[0].noise == 0:
        return None
    n = len(known)
    drawing = Drawing(Axis(0, known[0].noise), Axis(0, n), width=460, height=22 * n + 46, left=120, right=44)
    for row, line in enumerate(known):
        middle = n - row - 0.5
        drawing.bar((0, line.noise), (middle - 0.32, middle + 0.32), "second")
        down = float(drawing.down(middle)) + 4
        drawing.text(114, down, shortened(line.name, 18), anchor="end")
        drawing.text(float(drawing.across(line.noise)) + 5, down, number(line.noise, 2))
    drawing.x_axis("extra noise, in SD of the quietest group")
    return Picture(
        drawing.svg("Extra noise of the groups, the noisiest first; the table has the numbers."),
        "Extra noise against the quietest group: the median over columns in which the signals agree.",
    )
