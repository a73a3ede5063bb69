"""Do two samples differ at all? The maximum mean discrepancy with a permutation null: the yardstick.

With the kernel matrix K of the pooled rows centred in rows and columns, and p the 0/1 vector of the rows called X,

    MMD^2 = (1/n + 1/k)^2 p' K p

so all permutations together are one product of labels and K, taken in blocks of rows and only over half of the
symmetric matrix; or a product of labels and the thin factor of K, where it has one. It is the estimate with the
diagonal, as :func:`uptonoise.mmd`.

In one or two columns the kernel of thousands of rows has a rank of some dozens, up to rounding: K = F F'. A pivoted
Cholesky decomposition (Fine and Scheinberg 2001) takes the row with the largest error into F until no diagonal entry of
K - F F' is above the tolerance. That bounds every entry of it, since K - F F' is positive semi-definite.

Two sketches need no permutations: where the samples have the same distribution, the difference of the mean cosines and
sines is Gaussian with covariance (1/n + 1/k) C, C their pooled covariance. So MMD^2 is a weighted sum of chi-squared
variables, to which a shifted gamma distribution with the same three cumulants is fitted (Hall 1983; Buckley and
Eagleson 1988).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise.fourier import Sketch, as_complex, as_frequencies, median_length, sample_frequencies, squared_mmd
from uptonoise.rows import Block, keyed_rows
from uptonoise.twosample.canonical import canonical
from uptonoise.twosample.cluster_permutation import cluster_means_by_label, cluster_mmd
from uptonoise.twosample.docs import explained
from uptonoise.twosample.permutation import check_permutations, feature_means_by_label, label_blocks, permutation_fields
from uptonoise.twosample.phase import Pair, comparable
from uptonoise.twosample.result import SMALLEST_PVALUE, TwoSampleResult
from uptonoise.twosample.samples import Samples, read_samples

Method = Literal["quadratic", "fourier"]

_MOST_LENGTHS = 1e150  # whose square is still a number
_SCALE_ROWS = 1_000  # of both samples, that tell the length of the kernel
_BLOCK_ROWS = 512
_KEPT_ROWS = 5_000  # of both samples up to which the kernel matrix, of 50 MB then, is not computed again
_SHOWN = 5
_ROUNDING = 1e-12  # of squared cosines and sines
_TOLERANCE = 1e-8  # of entries of the kernel, which are at most 1; other kernel matrices here are of float32
_MOST_COLUMNS = 2
_LEAST_SAVING = 12  # rows per column of F from which on the product with F is cheaper than that with K


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MmdResult(TwoSampleResult):
    """The outcome of :func:`mmd_test`.

    Attributes
    ----------
    method : str
        "quadratic", "fourier" or "sketches".
    scale : float, array of shape (d,), or None
        The length of the Gaussian kernel, or its length in each column; None where frequencies were given.
    permuted : array of shape (n_permutations,)
        The statistics of the permutations; none for sketches.
    """

    test: ClassVar[str] = "MMD test"
    hidden: ClassVar[tuple[str, ...]] = ("permuted",)

    method: str
    scale: float | Floats | None
    permuted: Floats

    def _more(self) -> list[str]:
        if self.scale is None:
            return [f"frequencies given, {self.method}"]
        lengths = np.atleast_1d(self.scale)[:_SHOWN]
        more = ", ..." if np.size(self.scale) > _SHOWN else ""
        return [f"Gaussian kernel of length {', '.join(f'{length:.4g}' for length in lengths)}{more}, {self.method}"]


@explained
def mmd_test(
    X: Any,
    Y: Any,
    *,
    scale: float | Literal["median"] = "median",
    n_permutations: int = 1_000,
    method: Method = "quadratic",
    n_frequencies: int = 100,
    clusters: Any = None,
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> MmdResult:
    """Test whether two samples differ at all, noise included. Null hypothesis: X and Y have the same distribution.

    Parameters
    ----------
    X, Y : array, frame, RowSource, or Sketch
        The two samples, which are read into memory; or two sketches with the same frequencies.
    scale : float or "median"
        The length of the Gaussian kernel in all columns; "median" gives each column one, by its own median distance.
    n_permutations : int
        How many permutations make the null.
    method : {"quadratic", "fourier"}
        The exact kernel, in time quadratic in the number of rows, or random frequencies, in linear time.
    clusters : pair of arrays, or str, optional
        Ids of rows that belong together, as for :func:`phase_test`; clusters are permuted then.
    n_frequencies, frequencies : int, and array of shape (m, d), optional
        How many frequencies "fourier" samples, or frequencies in their place.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    MmdResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 2)), rng.normal(size=(150, 2))
    >>> un.mmd_test(X, Y, random_state=0).pvalue > 0.05, un.mmd_test(X, 2 * Y, random_state=0).pvalue < 0.01
    (True, True)
    """
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}; got {method!r}")
    if frequencies is not None and method != "fourier":
        raise ValueError('frequencies must be left out where method is not "fourier"')
    check_permutations(n_permutations, n_frequencies)
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        return mmd_of_pair(Pair.of(*comparable(X, Y, clusters)))
    samples = read_samples(X, Y, needed=2, why="the MMD test", clusters=clusters)
    generator, seed = seeded_generator(random_state)
    return mmd_of_samples(samples, generator, method, scale, n_permutations, n_frequencies, frequencies, seed)


def mmd_of_samples(
    samples: Samples,
    generator: np.random.Generator,
    method: Method,
    scale: float | Literal["median"] = "median",
    n_permutations: int = 1_000,
    n_frequencies: int = 100,
    frequencies: Any = None,
    seed: int | None = None,
) -> MmdResult:
    """Test by permutations whether two samples in memory differ at all."""
    own = canonical(samples, keep_columns=frequencies is not None)
    X, Y = own.samples.X, own.samples.Y
    length: float | Floats | None = None
    if frequencies is None and (not isinstance(scale, str) or scale != "median"):
        if not isinstance(scale, numbers.Real) or not 0 < scale < np.inf:
            raise ValueError(f'scale must be "median" or a positive length; got {scale!r}')
        largest = max(float(np.abs(rows).max()) for rows in (X, Y))
        if not largest < _MOST_LENGTHS * float(scale):
            raise ValueError(f"scale must not be so small against values up to {largest:.3g}; got {scale!r}")
        length = float(scale)
    elif frequencies is None and np.ptp(X, axis=0).max() == 0 and (X[0] == Y).all():
        length = 1.0  # all rows are equal: any kernel says that nothing differs
    elif frequencies is None:
        d = len(samples.columns)
        sampler = generator if d == 1 else np.random.default_rng(int(generator.integers(2**63)))
        _, rows = keyed_rows([Block(X), Block(Y)], d, _SCALE_ROWS, sampler)
        if d == 1:
            length = median_length(rows, (X, Y))
        else:  # of each column first, and in units of these of all together
            of_columns = [median_length(rows[:, [place]], (X[:, [place]], Y[:, [place]])) for place in range(d)]
            units = np.where(np.isnan(of_columns), 1.0, of_columns)
            length = units * median_length(rows / units, (X / units, Y / units))
    if length is not None and method == "quadratic":
        statistics = _quadratic(own.samples, length, n_permutations, generator)
    else:
        d = len(samples.columns)
        if length is not None:
            frequencies = sample_frequencies(n_frequencies, d, random_state=generator) / length
        means_by_label = feature_means_by_label if samples.clusters is None else cluster_means_by_label
        means = means_by_label(own.samples, as_frequencies(frequencies, d), n_permutations, generator)
        statistics = squared_mmd(as_complex(means[0]), as_complex(means[1]))
    given = length.take(own.places) * own.units if isinstance(length, np.ndarray) else length
    return MmdResult(**permutation_fields(samples, statistics, seed), method=method, scale=given)


def mmd_of_pair(pair: Pair) -> MmdResult:
    """Test from two sketches whether the samples differ at all."""
    left, right = pair.left, pair.right
    n, k = float(left.size), float(right.size)
    statistic = float(np.mean(np.abs(left.phi - right.phi) ** 2))
    if pair.is_clustered:
        # The covariance of the difference is the sum of both samples' own, as clusters of other sizes vary otherwise.
        # The degrees of freedom are those of Brunner, Dette and Munk (1997) for a form that is not studentised.
        parts = [left.covariance / left.size, right.covariance / right.size]
        trace, square = float(np.trace(parts[0] + parts[1])), float(np.sum((parts[0] + parts[1]) ** 2))
        varies = square > 0
        if varies:
            spread = float(np.trace(parts[0])) ** 2 / (n - 1) + float(np.trace(parts[1])) ** 2 / (k - 1)
            pvalue = fdtrc(trace**2 / square, trace**2 / spread, statistic * len(left.phi) / trace)
    else:
        pooled = ((n - 1) * left.covariance + (k - 1) * right.covariance) / (n + k - 2)
        covariance = pooled * (1 / n + 1 / k) / pair.X.n_frequencies
        squared = covariance @ covariance
        first, second, third = np.trace(covariance), 2 * np.trace(squared), 8 * np.sum(squared * covariance)
        varies = bool(third > 0)
        if varies:
            freedom = 8 * second**3 / third**2
            pvalue = chdtrc(freedom, max(0.0, freedom + (statistic - first) * np.sqrt(2 * freedom / second)))
    if not varies:
        pvalue = 1.0 if statistic <= _ROUNDING else 0.0
    return MmdResult(
        statistic=statistic,
        pvalue=float(np.maximum(pvalue, SMALLEST_PVALUE)),
        sizes=pair.sizes,
        columns=pair.columns,
        null="F distribution" if pair.is_clustered else "weighted sum of chi-squared variables",
        seed=None,
        **pair.cluster_counts,
        method="sketches",
        scale=None,
        permuted=np.empty(0),
    )


def _quadratic(samples: Samples, length: float | Floats, n_permutations: int, generator: np.random.Generator) -> Floats:
    """Return MMD squared of the data and of all permutations, from p'Kp, K centred in rows and columns."""
    rows = np.concatenate([samples.X, samples.Y])
    rows = (rows - np.median(rows, axis=0)) / length
    if samples.clusters is not None:
        return cluster_mmd(samples, _kernel_blocks(rows, whole=True), n_permutations, generator)
    n_rows, (n, k) = len(rows), samples.sizes
    labels = next(label_blocks(samples.sizes, [n_rows], n_permutations, generator))
    # The thin factor F, of shape (n_rows, rank), row by row of its transpose; a wide one would cost more than K.
    most = n_rows // _LEAST_SAVING if rows.shape[1] <= _MOST_COLUMNS else 0
    columns, errors = np.empty((most, n_rows)), np.ones(n_rows)
    for rank in range(most):
        pivot = int(errors.argmax())
        if errors[pivot] <= _TOLERANCE:
            factor = columns[:rank].T
            sums = np.sum((labels @ (factor - factor.mean(axis=0))) ** 2, axis=1)
            return np.asarray(np.maximum(sums, 0) * (1 / n + 1 / k) ** 2)
        column = np.exp(-0.5 * np.sum((rows - rows[pivot]) ** 2, axis=1))
        column -= columns[:rank, pivot] @ columns[:rank]
        columns[rank] = column / np.sqrt(errors[pivot])
        errors -= columns[rank] ** 2
    kept = list(_kernel_blocks(rows, whole=False)) if n_rows <= _KEPT_ROWS else None
    totals, sums = np.zeros(n_rows), np.zeros(len(labels))
    for start, kernel in kept or _kernel_blocks(rows, whole=False):
        stop = start + len(kernel)
        totals[start:stop] += kernel.sum(axis=1, dtype=np.float64)
        totals[stop:] += kernel[:, len(kernel) :].sum(axis=0, dtype=np.float64)
    means = totals / n_rows
    for start, kernel in kept or _kernel_blocks(rows, whole=False):
        stop = start + len(kernel)
        centred = kernel - (means[start:stop, None] + (means[start:] - means.mean())).astype(np.float32)
        centred[:, len(kernel) :] *= 2  # the other half of the symmetric matrix
        products = labels[:, start:stop] @ centred
        products *= labels[:, start:]
        sums += products.sum(axis=1, dtype=np.float64)
    return np.asarray(np.maximum(sums, 0) * (1 / n + 1 / k) ** 2)


def _kernel_blocks(rows: Floats, whole: bool) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield rows of the Gaussian kernel matrix in float32, whole or from the diagonal on."""
    squares = (rows**2).sum(axis=1)
    for start in range(0, len(rows), _BLOCK_ROWS):
        stop, first = start + _BLOCK_ROWS, 0 if whole else start
        halves = rows[start:stop] @ rows[first:].T
        halves -= squares[start:stop, None] / 2
        halves -= squares[first:] / 2
        with np.errstate(over="ignore"):  # so far apart that the kernel is 0
            exponents = np.minimum(halves, 0).astype(np.float32)
        yield start, np.exp(exponents)
