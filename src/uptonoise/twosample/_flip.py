"""The flip test: equal up to symmetric noise, exactly, at every sample size.

Pair the rows, z_i = x_i - y_i. Where X and Y are equal up to symmetric noise, z is symmetric about 0: flipping the sign
of any rows leaves its law as it is. With odd features s_i = sin(W z_i), S = sum s_i and V = sum s_i s_i' in correlation
form, every block of frequencies has the statistic

    T = S' (V + ridge)^-1 S

V is not centred, so that flips do not change it: the statistics of B flips are one product of signs (B x n) and
features (n x m). One block has single columns, which see differences in the margins, the other has pairs and all of
the columns, which see dependence. The largest of their standardised cube roots is compared with the same of all flips,
which is exact again. Everything taken from the data, the scale of the frequencies too, is the same under flips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uptonoise._random import RandomState, seeded_generator
from uptonoise.characteristic import Waves
from uptonoise.designs import all_columns, column_grid, column_pairs
from uptonoise.frequencies import as_frequencies, positive_int
from uptonoise.rows import Floats
from uptonoise.twosample._permutation import permutation_pvalue
from uptonoise.twosample._result import TwoSampleResult
from uptonoise.twosample._row_sums import flip_invariant_lengths, signed_sine_sums
from uptonoise.twosample._samples import Samples, resident_samples

_RIDGE = 0.1
_RADII = (0.25, 0.5, 0.75, 1.0)  # of frequencies on one column, in units of one over the median difference
_REACH = 0.7  # of those on several columns
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
        The p-value of each pairing; `pvalue` is their number times the smallest.
    """

    test: ClassVar[str] = "Flip test"

    paired: bool
    n_pairs: int
    pairing_pvalues: Floats

    def _more(self) -> list[str]:
        if self.paired:
            return [f"{self.n_pairs:,} pairs as given"]
        n = len(self.pairing_pvalues)
        return [f"{self.n_pairs:,} pairs at random" + ("" if n == 1 else f", {n} times; {n} x the smallest p-value")]


def flip_test(
    X: Any,
    Y: Any,
    *,
    paired: bool = False,
    n_pairings: int = 1,
    n_flips: int = 1_000,
    frequencies: Any = None,
    random_state: RandomState = None,
) -> FlipResult:
    """Test whether two samples differ beyond symmetric noise, exactly at every sample size.

    It holds its level whatever the two noises and however few the rows; pairing the rows costs some power.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples; they are read into memory. Of the larger one only as many rows as the other has are used.
    paired : bool
        Whether row i of X and row i of Y belong together, as the same patient on two devices. Otherwise rows are paired
        at random.
    n_pairings : int
        How many random pairings to merge: their number times the smallest p-value, which is valid however they depend.
        It gains power where rows are few.
    n_flips : int
        How many flips make the null.
    frequencies : array of shape (m, d), optional
        Frequencies in place of the test's own.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    FlipResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, noisy = rng.exponential(size=100), rng.exponential(size=100) + rng.normal(size=100)
    >>> other = 2 - rng.exponential(size=100)
    >>> un.flip_test(X, noisy, random_state=0).pvalue > 0.05, un.flip_test(X, other, random_state=0).pvalue < 0.01
    (True, True)
    """
    positive_int(n_pairings, "n_pairings")
    positive_int(n_flips, "n_flips")
    samples = resident_samples(X, Y, needed=2, why="the flip test")
    if paired and samples.sizes[0] != samples.sizes[1]:
        raise ValueError(f"paired=True needs as many rows in X as in Y; got {samples.sizes[0]} and {samples.sizes[1]}")
    if paired and n_pairings > 1:
        raise ValueError(f"n_pairings must be 1 where the pairs are given; got {n_pairings}")
    given = None if frequencies is None else as_frequencies(frequencies, len(samples.columns))
    generator, seed = seeded_generator(random_state)
    results = [
        _of_differences(_differences(samples, paired, generator), given, n_flips, generator) for _ in range(n_pairings)
    ]
    pvalues = np.array([pvalue for _, pvalue in results])
    return FlipResult(
        statistic=results[int(np.argmin(pvalues))][0],
        pvalue=min(1.0, float(n_pairings * pvalues.min())),
        sizes=samples.sizes,
        columns=samples.columns,
        null=f"{n_flips:,} random flips of the differences",
        seed=seed,
        paired=bool(paired),
        n_pairs=min(samples.sizes),
        pairing_pvalues=pvalues,
    )


def _differences(samples: Samples, paired: bool, generator: np.random.Generator) -> Floats:
    if paired:
        return samples.X - samples.Y
    n = min(samples.sizes)
    left, right = (generator.permutation(size)[:n] for size in samples.sizes)
    return samples.X[left] - samples.Y[right]


def _of_differences(
    z: Floats, given: Floats | None, n_flips: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the statistic and the p-value of one pairing."""
    blocks = _own_blocks(flip_invariant_lengths(z), generator) if given is None else [given]
    signs = list(_sign_blocks(len(z), Waves(np.concatenate(blocks), "fast").block_rows, n_flips, generator))
    standardised = [_standardised(_flipped_statistics(z, block, signs)) for block in blocks]
    largest = np.max(standardised, axis=0)
    return float(largest[0]), permutation_pvalue(largest)


def _own_blocks(lengths: Floats, generator: np.random.Generator) -> list[Floats]:
    d = len(lengths)
    kinds = [column_grid(_RADII, d)]
    if d > 1:
        pairs, dense = column_pairs(_N_JOINT, d, generator), all_columns(_N_JOINT, d, generator)
        kinds.append(_REACH * np.concatenate([pairs, dense]))
    return [kind / lengths for kind in kinds]


def _sign_blocks(
    n_rows: int, block_rows: int, n_flips: int, generator: np.random.Generator
) -> Iterator[NDArray[np.int8]]:
    """Yield signs for blocks of rows; row 0 leaves the data as they came."""
    for start in range(0, n_rows, block_rows):
        size = min(block_rows, n_rows - start)
        signs = generator.integers(0, 2, (n_flips + 1, size), dtype=np.int8)
        signs *= 2
        signs -= 1
        signs[0] = 1
        yield signs


def _flipped_statistics(z: Floats, frequencies: Floats, signs: list[NDArray[np.int8]]) -> Floats:
    """Return T for the data and all flips."""
    second, sums = signed_sine_sums(z, frequencies, signs)
    deviations = np.sqrt(np.diag(second))
    unit = np.divide(1, deviations, out=np.zeros(len(frequencies)), where=deviations > 0)
    values, vectors = np.linalg.eigh(second * np.outer(unit, unit))
    root = unit[:, None] * vectors / np.sqrt(np.maximum(values, 0) + _RIDGE)
    return np.asarray(np.sum((sums @ root) ** 2, axis=1))


def _standardised(statistics: Floats) -> Floats:
    """Return cube roots, which are nearly normal, in units of their own spread, so that blocks can be compared."""
    roots = np.cbrt(statistics)
    spread = roots.std()
    return np.asarray((roots - roots.mean()) / (spread if spread > 0 else 1.0))
