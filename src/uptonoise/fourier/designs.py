"""Where tests up to noise look: frequencies on single columns, on pairs of columns, and on all of them.

Dense directions are of no use in high dimension: abs(phi) is a product over columns, and a dense unit vector gives
each column too little frequency to show its skewness. Frequencies on one column see its margin whatever the other
columns do; frequencies on two and on all columns see dependence. Frequencies are tested in blocks, so that what a few
of them see is not lost among the others: those on single columns, those on pairs, and all of these together. High
frequencies are for positivity alone: phases there are mostly noise, but only there is phi of two points negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.fourier.scale import median_scale

SCALE_ROWS = 200
"""How many rows of each sample decide the scale of the frequencies."""

_N_OF_A_KIND = 60
_EACH_COLUMN = 2  # frequencies that each column has for itself, however many columns there are
_RADII = (0.42, 0.63, 0.21, 0.315, 0.14, 0.525)  # of frequencies on one column, in the order in which columns get them
_REACH = 0.5  # of the frequencies on several columns
_HIGH_RADII = (1.5, 2.4, 1.1, 1.75, 3.3, 2.05, 1.3, 2.8)  # many columns get only the first ones
_N_HIGH = 40
BLOCK_WEIGHTS = {"single columns": 2.0, "pairs of columns": 1.0, "all frequencies": 2.0, "high frequencies": 0.0}


class Design(NamedTuple):
    """Frequencies (m, d), and named blocks of them, each from a first row to the one after its last."""

    frequencies: Floats
    blocks: dict[str, tuple[int, int]]


def scaled_design(
    sample_rows: Callable[[int], list[Floats]], random_state: RandomState, n_frequencies: int | None = None
) -> tuple[Floats, dict[str, Any]]:
    """Return the frequencies of the default design and their provenance.

    `sample_rows` takes a seed and returns some rows of each sample, which decide the scale.
    """
    if n_frequencies is not None:
        positive_int(n_frequencies, "n_frequencies")
    generator, seed = seeded_generator(random_state)
    # Rows have their own generator: how many numbers it takes to sample them must not change the frequencies, nor the
    # order of the samples which rows are sampled.
    row_seed = int(generator.integers(2**63))
    lengths = _column_lengths(sample_rows(row_seed), np.random.default_rng(row_seed))
    design = default_design(lengths, generator, n_frequencies)
    provenance = {"design": "default", "lengths": lengths.tolist(), "seed": seed, "blocks": design.blocks}
    return design.frequencies, provenance


def _column_lengths(samples: list[Floats], generator: np.random.Generator) -> Floats:
    """Return the median distance of rows in each column, wherever each sample lies; 1 in all where no row differs."""
    pooled = np.concatenate([rows - np.median(rows, axis=0) for rows in samples])
    if (pooled == pooled[0]).all():
        return np.ones(pooled.shape[1])
    return np.asarray(median_scale(pooled, per_column=True, max_rows=2 * SCALE_ROWS, random_state=generator))


def default_design(lengths: Floats, generator: np.random.Generator, n_frequencies: int | None = None) -> Design:
    """Sample the frequencies of the phase test, in units of one over the columns' lengths.

    `n_frequencies` is the maximum number in all, of which each kind gets an equal share.
    """
    d = len(lengths)
    n, high = (_N_OF_A_KIND, high_columns(d)) if n_frequencies is None else _fitting(n_frequencies, d)
    kinds = [single_columns(max(n, _EACH_COLUMN * d), d, generator)]
    if d > 1:
        kinds.append(_REACH * column_pairs(n, d, generator))
    if d > 2:
        kinds.append(_REACH * all_columns(n, d, generator))
    blocks = {"single columns": (0, len(kinds[0]))}
    if d > 1:
        blocks["pairs of columns"] = (len(kinds[0]), len(kinds[0]) + n)
        blocks["all frequencies"] = (0, sum(map(len, kinds)))
    start = sum(map(len, kinds))
    blocks["high frequencies"] = (start, start + len(high))
    return Design(np.concatenate([*kinds, high]) / lengths, blocks)


def _fitting(n_frequencies: int, d: int) -> tuple[int, Floats]:
    """Return the number of frequencies of a kind, and the high ones, that together are within a maximum number."""
    high = high_columns(d, _N_HIGH * n_frequencies // (4 * _N_OF_A_KIND))
    kinds, singles = min(d, 3), _EACH_COLUMN * d
    left = n_frequencies - len(high)
    n = left // kinds
    if n < singles:  # the columns have theirs, and the other kinds share the rest
        n = left - singles if kinds == 1 else (left - singles) // (kinds - 1)
    if left < singles or n < 1:
        least = singles + len(high) + kinds - 1
        raise ValueError(f"n_frequencies must be at least {least} for {d} columns; got {n_frequencies}")
    return n, high


def high_columns(d: int, n_high: int = _N_HIGH) -> Floats:
    """Return frequencies on one column each, so high that the characteristic function of two points is negative."""
    each = min(len(_HIGH_RADII), max(_EACH_COLUMN, n_high // d))
    return column_grid(_HIGH_RADII[:each], d)


def single_columns(n_frequencies: int, d: int, generator: np.random.Generator) -> Floats:
    """Sample frequencies on one column each: the columns in turn, with another radius in each round."""
    round_, place = np.divmod(np.arange(n_frequencies), d)
    radii = np.resize(_RADII, round_[-1] + 1)[round_]
    later = round_ >= len(_RADII)
    radii[later] *= generator.uniform(0.5, 1.5, np.count_nonzero(later))
    frequencies = np.zeros((n_frequencies, d))
    frequencies[np.arange(n_frequencies), generator.permutation(d)[place]] = radii
    return frequencies


def column_grid(radii: tuple[float, ...], d: int) -> Floats:
    """Return every radius on every column."""
    return np.concatenate([radius * np.eye(d) for radius in radii])


def column_pairs(n_frequencies: int, d: int, generator: np.random.Generator) -> Floats:
    """Sample frequencies on two random columns each."""
    columns = np.argsort(generator.random((n_frequencies, d)), axis=1)[:, :2]
    frequencies = np.zeros((n_frequencies, d))
    np.put_along_axis(frequencies, columns, all_columns(n_frequencies, columns.shape[1], generator), axis=1)
    return frequencies


def all_columns(n_frequencies: int, d: int, generator: np.random.Generator) -> Floats:
    """Sample random directions, with lengths of a folded normal distribution, one in each of its equal parts."""
    directions = generator.standard_normal((n_frequencies, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    uniforms = (generator.permutation(n_frequencies) + generator.uniform(1e-3, 1 - 1e-3, n_frequencies)) / n_frequencies
    radii: Floats = ndtri((1 + uniforms) / 2)
    return radii[:, None] * directions
