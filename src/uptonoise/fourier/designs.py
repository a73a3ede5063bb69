"""Where tests up to noise look: frequencies on single columns, on pairs of columns, and on all of them.

Dense directions are of no use in high dimension: abs(phi) is a product over columns, and a dense unit vector gives
each column too little frequency to show its skewness. Frequencies on one column see its margin whatever the other
columns do; frequencies on two and on all columns see dependence. Frequencies are tested in blocks, so that what a few
of them see is not lost among the others: those on single columns, those on pairs, and all of these together. High
frequencies are for positivity alone: phases there are mostly noise, but only there is phi of two points negative. Those
of the block "effect" measure how large a difference is: up to one over the standard deviation of the less spread-out
sample, which the other frequencies do not reach where noise makes the columns long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.fourier.lengths import RareLengths, lengths_and_order
from uptonoise.fourier.spread import spread_of_amplitudes

MOST_FREQUENCIES = 2_000
"""How many frequencies a sketch of the default design has at most: its covariance then takes 128 MB."""

MOST_COLUMNS = MOST_FREQUENCIES // 2 - 1  # each with a low and a high frequency
_MOST_GROUPS = 2_000
_GROUP_BYTES = 512 << 20  # of the covariances of all groups
_PAIR_PRODUCTS = 8e9  # the third power of the number of frequencies, over all pairs of groups: a minute
_PAIR_SECONDS = 2.1e-7  # of one core, times the square of the number of frequencies
_MOST_SECONDS = 3_600
_N_OF_A_KIND = 60
_EACH_COLUMN = 2  # frequencies that each column has for itself, unless there are very many columns
_LEAST_PER_COLUMN, _LEAST_MORE = 2, 20  # frequencies that any design needs
_RADII = (0.42, 0.63, 0.21, 0.315, 0.14, 0.525)  # of frequencies on one column, in the order in which columns get them
_REACH = 0.5  # of the frequencies on several columns
_HIGH_RADII = (1.5, 2.4, 1.1, 1.75, 3.3, 2.05, 1.3, 2.8)  # many columns get only the first ones
_N_HIGH = 40
_EFFECT_RADII = {6: (0.3, 0.5, 0.7, 0.85, 1.0, 1.15), 4: (0.4, 0.7, 0.95, 1.15), 3: (0.45, 0.8, 1.1)}
_SCALE_RATIO = 1.7  # of two scales at which many samples are measured
_MOST_SCALES = 3
_POINTS = 1_000  # values of a column, at equal steps of their ranks, that tell its spread
_GRID = np.geomspace(0.01, 30, 60)  # frequencies, times the length of the column, at which they are looked at
_EFFECT_SHARE = 4  # the effect gets at most one in this many of a given number of frequencies
SKEWNESS = "skewness of columns"
"""What is tested of the frequencies on single columns beside each of them: one combination for each column."""

BLOCK_WEIGHTS = {
    "single columns": 1.0,
    SKEWNESS: 1.0,
    "pairs of columns": 1.0,
    "all frequencies": 2.0,
    "high frequencies": 0.0,
    "effect": 0.0,
}


class FewerFrequenciesWarning(UserWarning):
    """There are so many columns or groups that each gets fewer frequencies than usual."""


class Design(NamedTuple):
    """Frequencies (m, d), and named blocks of them, each from a first row to the one after its last."""

    frequencies: Floats
    blocks: dict[str, tuple[int, int]]


def scaled_design(
    samples: Sequence[Floats],
    rare_lengths: RareLengths,
    generator: np.random.Generator,
    seed: int | None,
    n_frequencies: int | None = None,
    most: int | None = None,
) -> tuple[Floats, dict[str, Any]]:
    """Return the frequencies of the default design, at most so many, and their provenance, with the generator's seed.

    The scale is that of some rows of each sample; `rare_lengths` looks at all rows for the scale of columns that are
    constant in these. Columns get their frequencies in an order that only their values decide, so that another order
    of the columns changes nothing.
    """
    lengths, order = lengths_and_order(samples, rare_lengths)
    spreads = np.zeros((len(samples), len(lengths)))
    for sample, rows in enumerate(samples):
        if len(rows) < 2:
            continue
        ranks = np.rint(np.linspace(0, len(rows) - 1, min(len(rows), _POINTS))).astype(np.int64)
        for column, length in enumerate(lengths):
            with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused with the rows
                points = np.sort((rows[:, column] - np.median(rows[:, column])) / length)[ranks]
                phases = np.outer(_GRID, points)
                squares = np.cos(phases).mean(axis=1) ** 2 + np.sin(phases).mean(axis=1) ** 2
            spreads[sample, column] = spread_of_amplitudes(_GRID / length, squares, len(rows))
    spreads = np.where((spreads > 0).any(axis=0), spreads, lengths)
    beginning = generator.bit_generator.state
    design = default_design(lengths[order], generator, n_frequencies, spreads[:, order])
    wanted, most = len(design.frequencies), most or MOST_FREQUENCIES
    if wanted > most:
        generator.bit_generator.state = beginning
        fewer = max(most, _LEAST_PER_COLUMN * len(lengths) + _LEAST_MORE)
        design = default_design(lengths[order], generator, fewer, spreads[:, order])
        warn(
            f"{len(design.frequencies):,} frequencies are used in place of {wanted:,}, so that the sketches of "
            f"{counted(len(spreads), 'sample')} with {counted(len(lengths), 'column')} fit into memory; fewer columns "
            "get more each",
            FewerFrequenciesWarning,
        )
    frequencies = np.empty_like(design.frequencies)
    frequencies[:, order] = design.frequencies
    return frequencies, {"design": "default", "lengths": lengths.tolist(), "seed": seed, "blocks": design.blocks}


def check_design(columns: Sequence[str], name: str, n_frequencies: int | None = None) -> None:
    """Raise where a sample has more columns than frequencies are affordable, or more frequencies were asked for."""
    if len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"{name} must have at most {MOST_COLUMNS} columns, since memory grows with their square; got "
            f"{len(columns):,}. Choose those that matter"
        )
    if n_frequencies is not None and positive_int(n_frequencies, "n_frequencies") > MOST_FREQUENCIES:
        raise ValueError(
            f"n_frequencies must be at most {MOST_FREQUENCIES:,}, since memory grows with their square; got "
            f"{n_frequencies:,}"
        )


def pair_seconds(n_groups: int, n_frequencies: int) -> float:
    """Return how long the phase tests of all pairs of so many sketches take about, on one core.

    Examples
    --------
    >>> from uptonoise.fourier.designs import pair_seconds
    >>> print(f"{pair_seconds(1_000, 24):.0f} s")
    60 s
    """
    return _PAIR_SECONDS * n_groups * (n_groups - 1) / 2 * n_frequencies**2


def affordable_frequencies(n_groups: int) -> int:
    """Return how many frequencies so many sketches may have; raise where there are too many of them.

    Examples
    --------
    >>> from uptonoise.fourier.designs import affordable_frequencies
    >>> affordable_frequencies(3), affordable_frequencies(200), affordable_frequencies(1_000)
    (1386, 73, 25)
    """
    if n_groups > _MOST_GROUPS:
        raise ValueError(
            f"groups must be at most {_MOST_GROUPS:,}, as all pairs are compared; got {n_groups:,}. Merge groups, or "
            "compare some of them"
        )
    by_memory = (_GROUP_BYTES / (8 * 4 * max(n_groups, 1))) ** 0.5
    by_time = (_PAIR_PRODUCTS / max(n_groups * (n_groups - 1) / 2, 1)) ** (1 / 3)
    return min(MOST_FREQUENCIES, int(by_memory), int(by_time))


def check_groups(n_groups: int, n_columns: int) -> None:
    """Raise where all pairs of so many groups take too much memory or time, even with the fewest frequencies."""
    affordable_frequencies(n_groups)
    n_frequencies = _LEAST_PER_COLUMN * n_columns + _LEAST_MORE
    seconds = pair_seconds(n_groups, n_frequencies)
    bytes_needed = 2 * n_groups * (2 * n_frequencies) ** 2 * 8  # sketches, and their moments side by side
    if seconds > _MOST_SECONDS or bytes_needed > 2 * _GROUP_BYTES:
        raise ValueError(
            f"groups must be fewer, or have fewer columns: all pairs of {n_groups:,} groups with {n_columns:,} columns "
            f"take about {bytes_needed / 2**30:.1f} GB and {seconds / 60:,.0f} minutes. Choose groups or columns"
        )


def default_design(
    lengths: Floats, generator: np.random.Generator, n_frequencies: int | None = None, spreads: Floats | None = None
) -> Design:
    """Sample the frequencies of the phase test, in units of one over the columns' lengths.

    `n_frequencies` is the maximum number in all, of which each kind gets an equal share. With `spreads`, of shape
    (n_samples, d), there are also frequencies that measure the effect, if the maximum leaves room for them.
    """
    d = len(lengths)
    effect = np.zeros((0, d))
    if spreads is not None:
        # Up to one over the spread of the less spread-out sample. Of many samples any two may be compared: then there
        # are some for each of a few scales, from the least spread to the second largest.
        known = np.sort(np.where(spreads > 0, spreads, np.nan), axis=0)  # NaN last
        least = np.where(np.isnan(known[0]), 1.0, known[0])
        ratios = np.fmax(known[-2] / least, 1.0) if len(known) > 2 else np.ones_like(least)
        ratios = np.where(np.isnan(ratios), 1.0, ratios)
        n_scales = 1 + min(_MOST_SCALES - 1, int(np.ceil(np.log(ratios.max()) / np.log(_SCALE_RATIO))))
        scales = least * ratios ** (np.arange(n_scales) / max(n_scales - 1, 1))[:, None]
        on_each = np.array(_EFFECT_RADII[6 if d * n_scales <= 4 else 4 if d * n_scales <= 10 else 3])
        effect = np.concatenate([np.kron(on_each[:, None], np.eye(d)) / scale for scale in scales])
    if n_frequencies is not None:
        effect = effect[: len(effect) if _EFFECT_SHARE * len(effect) <= n_frequencies else 0]
        n_frequencies -= len(effect)
    n, n_high = _N_OF_A_KIND, max(_EACH_COLUMN, _N_HIGH // d)
    if n_frequencies is not None:
        n, n_high = _fitting(n_frequencies, d)
    # So high that the characteristic function of two points is negative: every radius on every column.
    high = np.kron(np.array(_HIGH_RADII[:n_high])[:, None], np.eye(d))
    # On single columns: the columns in turn, with another radius in each round.
    round_, place = np.divmod(np.arange(max(n, min(_EACH_COLUMN, n_high) * d)), d)
    radii = np.resize(_RADII, round_[-1] + 1)[round_]
    later = round_ >= len(_RADII)
    radii[later] *= generator.uniform(0.5, 1.5, np.count_nonzero(later))
    kinds = [np.zeros((len(radii), d))]
    kinds[0][np.arange(len(radii)), generator.permutation(d)[place]] = radii
    if d > 1:
        kinds.append(_REACH * joint_frequencies(n, d, generator, in_pairs=True))
    if d > 2:
        kinds.append(_REACH * joint_frequencies(n, d, generator, in_pairs=False))
    blocks = {"single columns": (0, len(kinds[0]))}
    if d > 1:
        blocks["pairs of columns"] = (len(kinds[0]), len(kinds[0]) + n)
        blocks["all frequencies"] = (0, sum(map(len, kinds)))
    start = sum(map(len, kinds))
    blocks["high frequencies"] = (start, start + len(high))
    if len(effect):
        blocks["effect"] = (start + len(high), start + len(high) + len(effect))
    return Design(np.concatenate([np.concatenate([*kinds, high]) / lengths, effect]), blocks)


def _fitting(n_frequencies: int, d: int) -> tuple[int, int]:
    """Return how many frequencies of a kind, and high ones on each column, are together within a maximum number."""
    kinds = min(d, 3)
    each = _EACH_COLUMN if 2 * _EACH_COLUMN * d + kinds - 1 <= n_frequencies else 1
    n_high = min(len(_HIGH_RADII), max(each, _N_HIGH * n_frequencies // (4 * _N_OF_A_KIND) // d))
    singles, left = each * d, n_frequencies - n_high * d
    n = left // kinds
    if n < singles:  # the columns have theirs, and the other kinds share the rest
        n = left - singles if kinds == 1 else (left - singles) // (kinds - 1)
    if left < singles or n < 1:
        least = singles + n_high * d + kinds - 1
        raise ValueError(f"n_frequencies must be at least {least} for {d} columns; got {n_frequencies}")
    return n, n_high


def joint_frequencies(n_frequencies: int, d: int, generator: np.random.Generator, *, in_pairs: bool) -> Floats:
    """Sample frequencies on two random columns each, or on all columns.

    Directions are random, with lengths of a folded normal distribution, one in each of its equal parts.
    """
    columns = np.broadcast_to(np.arange(d), (n_frequencies, d))
    if in_pairs:
        columns = np.argsort(generator.random((n_frequencies, d)), axis=1)[:, :2]
    directions = generator.standard_normal(columns.shape)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    uniforms = (generator.permutation(n_frequencies) + generator.uniform(1e-3, 1 - 1e-3, n_frequencies)) / n_frequencies
    frequencies = np.zeros((n_frequencies, d))
    np.put_along_axis(frequencies, columns, ndtri((1 + uniforms) / 2)[:, None] * directions, axis=1)
    return frequencies
