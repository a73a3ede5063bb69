"""The flip test: equal up to symmetric noise, exactly, at every sample size.

Pair the rows, z_i = x_i - y_i. Where X and Y are equal up to symmetric noise, z is symmetric about 0: flipping the sign
of any rows leaves its distribution as it is. With odd features s_i = sin(W z_i), S = sum s_i and V = sum s_i s_i' in
correlation form, every block of frequencies has the statistic

    T = S' (V + ridge)^-1 S

V is not centred, so that flips do not change it: the statistics of B flips are one product of signs (B x n) and
features (n x m), block by block of rows. One block of frequencies has single columns, which see differences in the
margins, the other has pairs and all of the columns, which see dependence. The largest of their standardised cube roots
is compared with the same of all flips, which is exact again. Everything taken from the data, the scale of the
frequencies too, is the same under flips.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, positive_int
from uptonoise.fourier import CosineSine, FlipSums, Signs, as_frequencies, joint_frequencies
from uptonoise.rows import ArrayRows, RowSource, SharedClustersWarning, as_rows, difference, sample_rows, two_clustered
from uptonoise.twosample.canonical import canonical
from uptonoise.twosample.docs import explained
from uptonoise.twosample.permutation import permutation_pvalue
from uptonoise.twosample.result import TwoSampleResult
from uptonoise.twosample.samples import Samples, check_same_clusters, read_samples, resident_samples

_RIDGE = 0.1
_RADII = (0.25, 0.5, 0.75, 1.0)  # of frequencies on one column, in units of one over the median difference
_REACH = 0.7  # of those on several columns
_MOST_FLIPS = 100_000
_MOST_PAIRINGS = 10_000
_SCALE_ROWS = 100_000  # at most, for the scale of the frequencies
_WHY = "the flip test"
_DIFFERENCES = "X - Y"
_MERGED = 5  # the k-th smallest of so many times k p-values decides; docs/results/verdicts.md
_N_JOINT = 20  # frequencies on pairs, and as many on all columns


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FlipResult(TwoSampleResult):
    """The outcome of :func:`flip_test`.

    Attributes
    ----------
    paired : bool
        Whether the pairs were given.
    n_pairs : int
        How many pairs of rows were used.
    pairing_pvalues : array of shape (n_pairings,)
        The p-value of each pairing; `pvalue` is :func:`merged_pvalue` of them.
    """

    test: ClassVar[str] = "Flip test"

    paired: bool
    n_pairs: int
    pairing_pvalues: Floats

    def _more(self) -> list[str]:
        if self.paired:
            return [f"{self.n_pairs:,} pairs as given"]
        n = len(self.pairing_pvalues)
        return [f"{self.n_pairs:,} pairs at random" + ("" if n == 1 else f", {n} times")]


@explained
def flip_test(
    X: Any,
    Y: Any,
    *,
    paired: bool = False,
    n_pairings: int = 1,
    n_flips: int = 1_000,
    clusters: Any = None,
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> FlipResult:
    """Test whether two samples differ beyond symmetric noise, exactly at every sample size; pairing costs some power.

    Null hypothesis: X - Y is symmetric, as with symmetric noise of any size and kind in each.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples, without weights. Of the larger one only as many rows as the other has are used.
    paired : bool
        Whether row i of X belongs to row i of Y; these may be in files. Otherwise rows are read and paired at random.
    n_pairings : int
        How many random pairings to merge, by :func:`merged_pvalue`. Many make the answer depend little on the seed.
    n_flips : int
        How many flips make the null.
    clusters : pair of arrays, or str, optional
        Ids of rows that belong together, as for :func:`phase_test`; each pairing takes one random row of each cluster.
    frequencies, random_state : array of shape (m, d), and None, int, Generator or RandomState
        Frequencies in place of the test's own, and the seed.

    Returns
    -------
    FlipResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.exponential(size=(2, 100))
    >>> un.flip_test(X, Y + rng.normal(size=100)).pvalue > 0.05, un.flip_test(X, 2 - Y).pvalue < 0.01
    (True, True)
    """
    positive_int(n_flips, "n_flips", most=_MOST_FLIPS)
    positive_int(n_pairings, "n_pairings", most=_MOST_PAIRINGS)
    keep, paired = frequencies is not None, checked_flag(paired, "paired")
    if paired:
        pairs = _given_pairs(X, Y, clusters, n_pairings)
    else:
        pairs = random_pairs(resident_samples(X, Y, needed=2, why=_WHY, clusters=clusters), keep_columns=keep)
    given = None if frequencies is None else as_frequencies(frequencies, len(pairs.columns))
    generator, seed = seeded_generator(random_state)
    return flip_of_pairs(pairs, generator, n_pairings, n_flips, given, seed)


def flip_of_pairs(
    pairs: Pairs,
    generator: np.random.Generator,
    n_pairings: int,
    n_flips: int = 1_000,
    frequencies: Floats | None = None,
    seed: int | None = None,
) -> FlipResult:
    """Test rows that were paired."""
    results = [
        _test_of_symmetry(pairs.differences(generator), frequencies, n_flips, generator) for _ in range(n_pairings)
    ]
    pvalues = np.array([pvalue for _, pvalue in results])
    return FlipResult(
        statistic=results[int(np.argmin(pvalues))][0],
        pvalue=merged_pvalue(pvalues),
        null=f"{n_flips:,} random flips of the differences",
        seed=seed,
        pairing_pvalues=pvalues,
        paired=pairs.paired,
        sizes=pairs.sizes,
        columns=pairs.columns,
        n_pairs=pairs.n_pairs,
        n_clusters=pairs.n_clusters,
    )


def merged_pvalue(pvalues: Floats) -> float:
    """Merge K p-values, whatever their dependence: K/k times the k-th smallest, with k a fifth of K.

    Under the null hypothesis, the number of p-values at most k a/K has a mean of at most k a, and so is at least k with
    probability a at most (Markov's inequality).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.flip import merged_pvalue
    >>> merged_pvalue(np.array([0.01, 0.2])), merged_pvalue(np.linspace(0.001, 0.1, 100))
    (0.02, 0.1)
    """
    n = len(pvalues)
    rank = -(-n // _MERGED)
    return min(1.0, float(np.sort(pvalues)[rank - 1] * n / rank))


class Pairs(NamedTuple):
    """How rows are paired: what gives the differences of a pairing, the numbers of rows, and the columns."""

    differences: Callable[[np.random.Generator], RowSource]
    paired: bool
    sizes: tuple[int, int]
    columns: tuple[str, ...]
    n_pairs: int
    n_clusters: tuple[int, int] | None = None


def random_pairs(samples: Samples, *, keep_columns: bool = False) -> Pairs:
    """Return pairs at random, other ones each time; of clusters one random row of each."""
    own = canonical(samples, keep_columns=keep_columns).samples
    n = min(own.n_units)

    def differences(generator: np.random.Generator) -> RowSource:
        left, right = own.one_row_each(generator)
        return as_rows(own.X[left[:n]] - own.Y[right[:n]], name=_DIFFERENCES)

    return Pairs(differences, False, samples.sizes, samples.columns, n, samples.n_clusters)


def pairs_as_given(samples: Samples) -> Pairs:
    """Return row i of X with row i of Y; of clusters, one random pair of each at a time."""
    _check_equal(samples.sizes)
    z = samples.X - samples.Y
    if samples.clusters is not None:
        check_same_clusters(samples.clusters)

    def differences(generator: np.random.Generator) -> RowSource:
        return as_rows(z if samples.clusters is None else z[samples.one_row_each(generator)[0]], name=_DIFFERENCES)

    return Pairs(differences, True, samples.sizes, samples.columns, samples.n_units[0], samples.n_clusters)


def _check_equal(sizes: tuple[int, int]) -> None:
    if sizes[0] != sizes[1]:
        raise ValueError(f"paired=True needs as many rows in X as in Y; got {sizes[0]} and {sizes[1]}")


def _given_pairs(X: Any, Y: Any, clusters: Any, n_pairings: int) -> Pairs:
    """Return pairs of rows as they come, which need not be in memory where their number is known."""
    left, right = two_clustered(X, Y, clusters=clusters)
    if left.bag_ids is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SharedClustersWarning)  # both rows of a pair are of the same unit
            return pairs_as_given(read_samples(left, right, needed=2, why=_WHY))
    if n_pairings > 1:
        raise ValueError(f"n_pairings must be 1 where the pairs are given; got {n_pairings}")
    if left.n_rows is None or right.n_rows is None:
        samples = read_samples(left, right, needed=2, why=_WHY)
        left, right = (
            ArrayRows(rows, name, samples.columns) for rows, name in zip((samples.X, samples.Y), "XY", strict=True)
        )
    sizes = int(left.n_rows or 0), int(right.n_rows or 0)
    _check_equal(sizes)
    if sizes[0] < 2:
        raise ValueError(f"X must have at least 2 rows for {_WHY}; got {sizes[0]}")
    differences = difference(left, right)
    return Pairs(lambda generator: differences, True, sizes, (left if left.named else right).columns, sizes[0])


def _test_of_symmetry(
    z: RowSource, given: Floats | None, n_flips: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the statistic and the p-value of the differences of a pairing."""
    scale_seed = int(generator.integers(2**63))
    if given is not None:
        blocks = [given]
    else:
        lengths = _flip_invariant_lengths(sample_rows([z], _SCALE_ROWS, np.random.default_rng(scale_seed)))
        blocks = [np.kron(np.array(_RADII)[:, None], np.eye(len(lengths))) / lengths]  # every radius on every column
        if len(lengths) > 1:
            joint = [joint_frequencies(_N_JOINT, len(lengths), generator, in_pairs=pairs) for pairs in (True, False)]
            blocks.append(_REACH * np.concatenate(joint) / lengths)
    signs = Signs(n_flips, generator)
    sums = z.fold(FlipSums(CosineSine(np.concatenate(blocks), "fast", _DIFFERENCES), signs))
    bounds = np.cumsum([0, *map(len, blocks)])
    of_blocks = []
    for ends in itertools.pairwise(bounds.tolist()):
        # Cube roots are nearly normal; in units of their own spread blocks can be compared.
        roots = np.cbrt(_statistics(sums, slice(*ends)))
        spread = roots.std()
        of_blocks.append((roots - roots.mean()) / (spread if spread > 0 else 1.0))
    largest = np.max(of_blocks, axis=0)
    return float(largest[0]), permutation_pvalue(largest)


def _flip_invariant_lengths(z: Floats) -> Floats:
    """Return the median of abs(z) in each column: of the values that are not 0 where most are, and 1 where all are."""
    sizes = np.abs(z)
    lengths = np.median(sizes, axis=0)
    for column in np.flatnonzero(lengths == 0):
        others = sizes[:, column][sizes[:, column] > 0]
        lengths[column] = np.median(others) if len(others) else 1.0
    return lengths


def _statistics(sums: FlipSums, place: slice) -> Floats:
    """Return T of a block of frequencies for the data and all flips."""
    products, flipped = sums.total()
    second = products[place, place]
    deviations = np.sqrt(np.diag(second))
    unit = np.divide(1, deviations, out=np.zeros(len(second)), where=deviations > 0)
    values, vectors = np.linalg.eigh(second * np.outer(unit, unit))
    root = unit[:, None] * vectors / np.sqrt(np.maximum(values, 0) + _RIDGE)
    return np.asarray(np.sum((flipped[:, place] @ root) ** 2, axis=1))
