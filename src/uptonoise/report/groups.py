"""The page of many groups: which stand out, how alike they are, how noisy each is, and all pairs.

Pairs are told by their effects. The p-value says whether a pair differs, not by how much: of many rows all are small.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
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
    """A pair of groups: its effect, the column that differs most, and whether it differs."""

    first: str
    second: str
    adjusted: float
    effect: EffectSize
    column: str
    differs: bool


class GroupLine(NamedTuple):
    """A group: its rows, from how many others it differs, by how much and in which columns, and its noise."""

    name: str
    size: int
    n_differ: int
    typical: float
    columns: list[str]
    noise: float
    noisiest: NoiseAdded | None


class Cell(NamedTuple):
    """A cell of the matrix."""

    text: str
    shade: int
    label: str


def groups_context(groups: GroupComparison) -> dict[str, Any]:
    """Return what the template of groups shows."""
    names = _shown(groups)
    with single_threaded_blas:
        measured = _Measured.of(groups, names)
    order = _by_similarity(measured.effects)
    pairs = measured.lines(groups)
    differing, others = [pair for pair in pairs if pair.differs], [pair for pair in pairs if not pair.differs]
    lines = measured.group_lines(groups)
    n_differ = len(groups.differing)
    label = "no pair differs" if n_differ == 0 else f"{counted(n_differ, 'pair')} differ" + "s" * (n_differ == 1)
    return {
        "groups": groups,
        "label": label,
        "tone": "beyond" if n_differ else "none",
        "n_pairs": len(groups.names) * (len(groups.names) - 1) // 2,
        "n_left_out": len(groups.names) - len(names),
        "matrix": [(names[i], [measured.cell(groups, i, j) for j in order]) for i in order],
        "ordered": [names[i] for i in order],
        "tree": _tree(measured.effects, names) if len(names) > 2 else None,
        "standing_out": _standing_out(groups, lines),
        "n_shown": len(names),
        "by_noise": sorted(lines, key=lambda line: -line.noise if math.isfinite(line.noise) else math.inf),
        "quietest": names[measured.quietest],
        "listed": differing[:_LISTED_PAIRS],
        "folded": differing[_LISTED_PAIRS:],
        "others": others,
        "noise_picture": _noise_picture(lines),
        "missing": [] if groups.two is None else list(groups.two.missing),
    }


def _standing_out(groups: GroupComparison, lines: list[GroupLine]) -> list[GroupLine]:
    """Return the groups that differ from all others; without any, those that differ from any, most often first."""
    outliers = groups.outliers
    lines = [line for line in lines if line.n_differ and (line.name in outliers or not outliers)]
    return sorted(lines, key=lambda line: (-line.n_differ, -line.typical))


def _shown(groups: GroupComparison) -> list[str]:
    """Return the groups that the matrix has: all, or those that differ most often."""
    if len(groups.names) <= _MOST_IN_MATRIX:
        return list(groups.names)
    differing = np.sum(groups.pairs.adjusted <= groups.alpha, axis=1)
    most = np.argsort(-differing, kind="stable")[:_MOST_IN_MATRIX]
    return [groups.names[place] for place in sorted(most.tolist())]


class _Noise(NamedTuple):
    """How much noisier a group is than the quietest one."""

    size: float = math.nan  # in SD of the quietest group
    clearest: NoiseAdded | None = None

    @classmethod
    def of(cls, pair: Pair, different: list[str], names: tuple[str, str], spreads: Floats, quietest: int) -> _Noise:
        """Return the median over the columns in which the signals agree, and the column where it is clearest."""
        extra, sign = noise_difference(pair, None), -1 if quietest == 0 else 1
        other = names[1 - quietest]
        shares, noises = [], []
        for column, name in enumerate(extra.columns):
            error = float(extra.standard_errors[column])
            if name in different or not math.isfinite(error) or not spreads[column] > 0:
                continue
            variance, reach = sign * float(extra.variances[column]), _NORMAL_95 * error
            shares.append(variance / spreads[column] ** 2)
            noise = NoiseAdded.of(name, (other, names[quietest]), variance, variance - reach, variance + reach)
            noises += [noise] if noise is not None and noise.sample == other else []
        if not shares:
            return cls()
        size = math.sqrt(max(0.0, float(np.median(shares)))) if noises else 0.0
        return cls(size, max(noises, key=lambda noise: noise.low / noise.sd, default=None))


class _Measured(NamedTuple):
    """Effects of all pairs of the shown groups, and the noise of each against the quietest one."""

    names: list[str]
    sizes: dict[tuple[int, int], EffectSize]
    columns: dict[tuple[int, int], list[str]]  # that clearly differ
    effects: Floats
    quietest: int
    noises: list[_Noise]

    @classmethod
    def of(cls, groups: GroupComparison, names: list[str]) -> _Measured:
        sketches = [groups.sketches[name] for name in names]
        spreads = np.array([column_spreads(sketch, sketch) for sketch in sketches])
        middle = np.median(spreads, axis=0)
        relative = np.divide(spreads, middle, out=np.ones_like(spreads), where=middle > 0)
        quietest = int(np.argmin(np.median(relative, axis=1)))
        sizes, columns = dict[tuple[int, int], EffectSize](), dict[tuple[int, int], list[str]]()
        noises = [_Noise()] * len(names)
        noises[quietest] = _Noise(0.0)
        coded = [name for name in groups.columns if split_name(name, groups.input.categories)]
        for i, j in itertools.combinations(range(len(names)), 2):
            both = names[i], names[j]
            sizes[i, j] = groups.effect(*both)
            columns[i, j] = _columns_of(sizes[i, j])
            if quietest in (i, j):
                place, pair = (i, j).index(quietest), Pair.of(sketches[i], sketches[j])
                without_noise = [*columns[i, j], *coded]
                noises[(i, j)[1 - place]] = _Noise.of(pair, without_noise, both, spreads[quietest], place)
        effects = np.zeros((len(names), len(names)))
        for (i, j), effect in sizes.items():
            effects[i, j] = effects[j, i] = effect.estimate if math.isfinite(effect.estimate) else math.nan
        return cls(names, sizes, columns, effects, quietest, noises)

    def lines(self, groups: GroupComparison) -> list[PairLine]:
        """Return all pairs: those that differ first, and of these the largest lower end of the effect."""
        lines = []
        for (i, j), effect in self.sizes.items():
            first, second = self.names[i], self.names[j]
            adjusted, columns = _adjusted(groups, first, second), self.columns[i, j]
            differs = adjusted <= groups.alpha
            lines.append(PairLine(first, second, adjusted, effect, columns[0] if columns else "", differs))
        return sorted(lines, key=lambda line: (not line.differs, -line.effect.low, line.adjusted))

    def group_lines(self, groups: GroupComparison) -> list[GroupLine]:
        """Return what is known of each group."""
        sizes = dict(zip(groups.names, groups.pairs.sizes, strict=True))
        lines = []
        for i, name in enumerate(self.names):
            others = [j for j in range(len(self.names)) if j != i]
            differing = [j for j in others if _adjusted(groups, name, self.names[j]) <= groups.alpha]
            columns = [self.columns[min(i, j), max(i, j)][:1] for j in differing]
            often = [column for column, _ in Counter(itertools.chain(*columns)).most_common(3)]
            typical = float(np.median(self.effects[i, differing])) if differing else 0.0
            size, clearest = self.noises[i]
            lines.append(GroupLine(name, int(sizes[name]), len(differing), typical, often, size, clearest))
        return lines

    def cell(self, groups: GroupComparison, i: int, j: int) -> Cell:
        """Return a cell of the matrix: the effect, darker where it is larger, and plain where the pair agrees."""
        if i == j:
            return Cell("", 0, "the same group")
        value = float(self.effects[i, j])
        differs = _adjusted(groups, self.names[i], self.names[j]) <= groups.alpha
        shade = 1 + sum(value >= least for least in _SHADES) if differs else 0
        told = "differ" if differs else "no difference found"
        return Cell(f"{value:.2f}" if value < 10 else number(value, 2), shade, told)


def _adjusted(groups: GroupComparison, first: str, second: str) -> float:
    i, j = groups.names.index(first), groups.names.index(second)
    return float(groups.pairs.adjusted[i, j])


def _columns_of(effect: EffectSize) -> list[str]:
    """Return the columns that clearly differ, the largest effect first."""
    alpha = 0.05 / max(1, len(effect.parts))
    lows = {part.name: part.lower(alpha) for part in effect.parts}
    return [name for name, low in sorted(lows.items(), key=lambda item: -item[1]) if low > 0]


def _by_similarity(effects: Floats) -> list[int]:
    """Return the groups in an order that puts those with small effects side by side."""
    if len(effects) < 3:
        return list(range(len(effects)))
    return [int(leaf) for leaf in dendrogram(_linked(effects), no_plot=True)["leaves"]]


def _linked(effects: Floats) -> Any:
    finite = effects[np.isfinite(effects)]
    distances = np.nan_to_num(effects, nan=float(finite.max(initial=1.0)))
    return linkage(squareform(distances, checks=False), method="average", optimal_ordering=len(effects) <= 40)


def _tree(effects: Floats, names: list[str]) -> Picture:
    """Draw which groups are alike: two branches meet at the mean effect between them."""
    tree = dendrogram(_linked(effects), no_plot=True)
    top = max(max(max(heights) for heights in tree["dcoord"]), 1e-9)
    n = len(names)
    drawing = Drawing(Axis(0, 1.04 * top), Axis(0, n), width=460, height=22 * n + 46, left=120, right=12)
    for places, heights in zip(tree["icoord"], tree["dcoord"], strict=True):
        drawing.line(heights, [n - place / 10 for place in places], "first", solid=True)
    for row, leaf in enumerate(tree["leaves"]):
        drawing.text(114, float(drawing.down(n - row - 0.5)) + 4, shortened(names[leaf], 18), anchor="end")
    drawing.x_axis("mean effect between branches (SD)")
    return Picture(
        Markup(drawing.svg(f"Tree of {n} groups by their effects; the matrix has the numbers.")),
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
        Markup(drawing.svg("Extra noise of the groups, the noisiest first; the table has the numbers.")),
        "Extra noise against the quietest group: the median over columns in which the signals agree.",
    )
