"""The phase test: whether two samples differ beyond symmetric noise, of any size and kind in each.

Noise that is symmetric with a positive characteristic function multiplies phi by a positive number. So where the
samples differ by such noise alone, at every frequency w

    S(w) = Im(phi_X conj phi_Y) = s_X c_Y - c_X s_Y = 0        (c, s: the means of cos(w.x) and sin(w.x))

S is linear in the means of each sample, so its covariance comes from the covariances C_X and C_Y of [cos, sin], which
two sketches hold: with J_X = [-s_Y, c_Y] and J_Y = [s_X, -c_X], one pair a frequency,

    A = J_X C_X J_X' / n        B = J_Y C_Y J_Y' / k        Cov(S) = A + B

The statistic of a block of frequencies is T = S'(R + lam)^-1 S, with R = A + B and S in correlation form. With (w, V)
the eigenpairs of R, z = V'S, h = w/(w + lam), s1 = sum h and s2 = sum h^2,

    T = sum z^2/(w + lam)        E T = M = s1/c        Var T = 2 (s1/c^3 - (s1 - s2)/c^4)        c = 1 - s1/nu

is its law where R has nu degrees of freedom: the limit of random matrices for a regularised Hotelling statistic (Chen,
Paul, Prentice and Wang 2011). nu is Satterthwaite's for the two samples' covariances, with G and H the parts of
diag(h) that come from A and from B:

    nu = (s2 + s1^2) / ((|G|^2 + tr(G)^2)/(n - 1) + (|H|^2 + tr(H)^2)/(k - 1))

T is given the scaled chi-squared law with this mean and variance, and the blocks' p-values are merged by a weighted
Cauchy combination. lam grows with the square root of the number of frequencies, which keeps the level for heavy tails.

At unequal sizes the smaller sample, say Y, makes nearly all of R, and where its rows are skewed or mostly equal the few
others may by chance be too few: B is too small just where S is large, and the level is lost. Under the null hypothesis
the larger sample says what B should be, up to noise: with C_X in place of C_Y it is B'. Where B' and B differ by no
more than the error of B can explain, variances that are too small are raised to those of B', and a part of the
correlations is taken from it; the ridge is larger, nu smaller, and the smallest eigenvalues of R are cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc

from uptonoise._random import RandomState, seeded_generator
from uptonoise._threads import single_threaded_blas
from uptonoise.designs import BLOCK_WEIGHTS
from uptonoise.rows import Floats, two_samples
from uptonoise.sketch import Sketch
from uptonoise.twosample._result import TwoSampleResult

_RIDGE = 0.1
_RIDGE_ROWS = 20.0
_RIDGE_FREQUENCIES = 60.0
_UNEQUAL_RIDGE = 2.0  # how much larger the ridge is at sizes as unequal as can be
_CAUTION = 0.85  # nu is for Gaussian influence functions, which cosines and sines are not
_UNEQUAL_CAUTION = 0.15  # how much less at unequal sizes
_TOLERANCE = 2.0  # standard errors of a variance of the smaller sample that the larger one's may be off
_BORROWED = 0.3  # of the correlations, at sizes as unequal as can be
_UNEQUAL_CUT = 0.25  # of the largest eigenvalue, over the square root of the smaller size
_SMALLEST_C = 0.05
_ROUNDING = 1e-12  # of the variance of a row's influence: waves are good to 1e-7


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PhaseResult(TwoSampleResult):
    """The outcome of :func:`phase_test`.

    Attributes
    ----------
    block_pvalues : dict
        The p-value of each block of frequencies; `pvalue` merges them, and `statistic` is the mean of the blocks'
        statistics, each over its mean under the null hypothesis, with the same weights.
    frequencies : array of shape (m, d)
        The frequencies used.
    phase_differences : array of shape (m,)
        By how much the phase of X is ahead of that of Y at each frequency, in radians.
    standard_errors : array of shape (m,)
        Their standard errors, at most pi: a phase cannot be more uncertain than that.
    contributions : array of shape (m,)
        What each frequency adds to `statistic`.
    column_shares : array of shape (d,)
        The share of each column in what the frequencies contribute.
    """

    test: ClassVar[str] = "Phase test"

    block_pvalues: dict[str, float]
    frequencies: Floats
    phase_differences: Floats
    standard_errors: Floats
    contributions: Floats
    column_shares: Floats

    def _more(self) -> list[str]:
        blocks = ", ".join(f"{name} {pvalue:.3g}" for name, pvalue in self.block_pvalues.items())
        lines = [f"{len(self.frequencies)} frequencies; p-values: {blocks}"]
        if self.column_shares.any() and len(self.columns) > 1:
            most = np.argsort(-self.column_shares)[:5]
            shares = ", ".join(f"{self.columns[column]} {self.column_shares[column]:.0%}" for column in most)
            lines.append(f"columns that carry most of the statistic: {shares}")
        return lines


def phase_test(
    X: Any,
    Y: Any,
    *,
    weights: tuple[Any, Any] = (None, None),
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> PhaseResult:
    """Test whether two samples differ beyond symmetric noise, whatever its size and kind in each of them.

    It uses all rows, in one pass and bounded memory, and needs no resampling. The null hypothesis is that both phase
    functions are equal.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, RowSource, or Sketch
        The two samples; or two sketches with the same frequencies, as :meth:`Sketch.for_samples
        <uptonoise.Sketch.for_samples>` and :meth:`Sketch.like <uptonoise.Sketch.like>` make them.
    weights : pair of arrays or str, optional
        Weights for the rows of X and of Y, or the names of the columns that hold them.
    frequencies : array of shape (m, d), optional
        Frequencies in place of the test's own; two sketches bring theirs.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Returns
    -------
    PhaseResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, noisy = rng.exponential(size=(500, 2)), rng.exponential(size=(500, 2)) + rng.normal(size=(500, 2))
    >>> other = 2 - rng.exponential(size=(500, 2)) + rng.normal(size=(500, 2))
    >>> un.phase_test(X, noisy).pvalue > 0.05, un.phase_test(X, other).pvalue < 0.01
    (True, True)
    """
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise ValueError("weights must be a pair, those of X and those of Y (None for equal ones); got something else")
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        left, right, seed = *_comparable(X, Y, weights, frequencies), None
    else:
        generator, seed = seeded_generator(random_state)
        left, right = _sketched(X, Y, weights, frequencies, generator)
    for name, sketch in (("X", left), ("Y", right)):
        if sketch.n_rows < 2 or sketch.effective_size < 1 + 1e-9:
            raise ValueError(f"{name} must have at least 2 rows for the phase test; got {sketch.n_rows}")
    with single_threaded_blas:  # for matrices as small as these more threads only wait for each other
        return _of_sketches(left, right, seed)


def _comparable(X: Any, Y: Any, weights: tuple[Any, Any], frequencies: Any) -> tuple[Sketch, Sketch]:
    if not (isinstance(X, Sketch) and isinstance(Y, Sketch)):
        raise ValueError("X and Y must both be samples or both be sketches; make the other one with Sketch.like")
    if any(weight is not None for weight in weights) or frequencies is not None:
        raise ValueError("weights and frequencies must be left out for sketches, which bring their own")
    X.check_comparable(Y)
    return X, Y


def _sketched(
    X: Any, Y: Any, weights: tuple[Any, Any], frequencies: Any, generator: np.random.Generator
) -> tuple[Sketch, Sketch]:
    left, right = two_samples(X, Y, weights)
    own = frequencies is None
    empty = Sketch.for_samples(left, right, random_state=generator) if own else Sketch(frequencies)
    return Sketch.like(empty).update(left), Sketch.like(empty).update(right)


class _Sample(NamedTuple):
    """Means and covariances of cosines and sines at some frequencies, and the effective number of rows."""

    cos: Floats
    sin: Floats
    covariance: Floats
    size: float

    @classmethod
    def of(cls, sketch: Sketch, centre: Floats) -> _Sample:
        m, mean = sketch.n_frequencies, sketch.mean_about(centre)
        return cls(mean[:m], mean[m:], sketch.covariance_about(centre), sketch.effective_size)

    def at(self, block: slice) -> _Sample:
        m = len(self.cos)
        cosines = np.arange(m)[block]
        waves = np.concatenate([cosines, m + cosines])
        return _Sample(self.cos[block], self.sin[block], self.covariance[np.ix_(waves, waves)], self.size)

    def influences(self, other: _Sample) -> Floats:
        """Return the covariance over rows of Im(exp(i w.x) conj phi), phi the other sample's."""
        m = len(self.cos)
        weights = np.concatenate([-other.sin, other.cos])
        C = self.covariance * np.outer(weights, weights)
        return np.asarray(C[:m, :m] + C[:m, m:] + C[m:, :m] + C[m:, m:])


def _of_sketches(X: Sketch, Y: Sketch, seed: int | None) -> PhaseResult:
    centre = X.centre if X.centre is not None else np.zeros(X.n_columns)  # the result does not depend on it
    left, right = _Sample.of(X, centre), _Sample.of(Y, centre)
    places = (X if X.blocks.keys() >= Y.blocks.keys() else Y).blocks
    weights = np.array([BLOCK_WEIGHTS.get(name, 1.0) for name in places])
    weights /= weights.sum()
    pvalues, contributions = {}, np.zeros(X.n_frequencies)
    for weight, (name, place) in zip(weights, places.items(), strict=True):
        pvalues[name], added = _tested(left.at(place), right.at(place))
        contributions[place] += weight * added
    differences, errors = _phase_differences(left, right)
    named = X if X.named else Y
    return PhaseResult(
        statistic=float(contributions.sum()),
        pvalue=cauchy_combination(np.array(list(pvalues.values())), weights),
        sizes=(X.n_rows, Y.n_rows),
        columns=named.columns,
        null="ridge-regularised Hotelling law" + (", Cauchy combination of blocks" if len(places) > 1 else ""),
        seed=seed,
        block_pvalues=pvalues,
        frequencies=X.frequencies,
        phase_differences=differences,
        standard_errors=errors,
        contributions=contributions,
        column_shares=_column_shares(X.frequencies, contributions),
    )


def _phase_differences(left: _Sample, right: _Sample) -> tuple[Floats, Floats]:
    """Return arg(phi_X conj phi_Y) and its standard error, which is that of S over abs(phi_X phi_Y)."""
    product = (left.cos + 1j * left.sin) * (right.cos - 1j * right.sin)
    variances = np.diag(left.influences(right)) / left.size + np.diag(right.influences(left)) / right.size
    size = np.abs(product)
    errors = np.divide(np.sqrt(variances), size, out=np.full(len(size), np.pi), where=size > 0)
    return np.angle(product), np.minimum(errors, np.pi)


def _column_shares(frequencies: Floats, contributions: Floats) -> Floats:
    """Share out what frequencies contribute over columns, each in units of its own frequencies."""
    units = np.sqrt(np.mean(frequencies**2, axis=0))
    squares = np.divide(frequencies, units, out=np.zeros_like(frequencies), where=units > 0) ** 2
    lengths = squares.sum(axis=1, keepdims=True)
    squares = np.divide(squares, lengths, out=np.zeros_like(squares), where=lengths > 0)
    shares = np.maximum(contributions, 0) @ squares
    return np.asarray(shares / shares.sum() if shares.sum() > 0 else shares)


class _Spread(NamedTuple):
    """An estimate of a part of Cov(S), with its degrees of freedom."""

    covariance: Floats
    freedom: float


def _tested(left: _Sample, right: _Sample) -> tuple[float, Floats]:
    """Return the p-value of a block, and what each frequency adds to its statistic over its null mean."""
    S = left.sin * right.cos - left.cos * right.sin
    smaller, larger = sorted((left.size, right.size))
    A = _Spread(left.influences(right) / left.size, left.size - 1)
    B = _Spread(right.influences(left) / right.size, right.size - 1)
    unequal = 1 - smaller / larger
    if left.size < right.size:
        A = _guarded(A, right, left.size, unequal)
    elif right.size < left.size:
        B = _guarded(B, left, right.size, unequal)
    return _ridge_test(S, A, B, smaller, unequal)


def _guarded(spread: _Spread, large: _Sample, size: float, unequal: float) -> _Spread:
    """Return the smaller sample's part of Cov(S), guarded by what the larger sample says that it should be."""
    tiny = np.finfo(np.float64).tiny
    expected = large.influences(large) / size
    variances, wanted = np.maximum(np.diag(spread.covariance), tiny), np.maximum(np.diag(expected), tiny)
    # An influence is at most abs(phi), so its fourth moment is at most abs(phi)^2 times its variance.
    kurtosis = (large.cos**2 + large.sin**2) / (size * wanted)
    error = _TOLERANCE * wanted * np.sqrt(kurtosis / size)
    gap = wanted - variances
    # Beyond the error the samples differ in noise, and the larger one says nothing about the smaller.
    alike = np.minimum(1, error / np.maximum(np.abs(gap), tiny)) ** 2
    raised = alike * np.maximum(gap, 0)
    # Less noise means stronger correlations: those of a larger sample with less noise would be too strong.
    not_cleaner = np.minimum(1, error / 4 / np.maximum(-gap, tiny)) ** 2
    borrowed = _BORROWED * unequal * float(np.mean(alike * not_cleaner))
    own, other = _correlations(spread.covariance, variances), _correlations(expected, wanted)
    sd = np.sqrt(variances + unequal * raised)
    freedom = 1 / ((1 - borrowed) ** 2 / spread.freedom + borrowed**2 / (large.size - 1))
    return _Spread(((1 - borrowed) * own + borrowed * other) * np.outer(sd, sd), freedom)


def _correlations(covariance: Floats, variances: Floats) -> Floats:
    sd = np.sqrt(variances)
    return np.asarray(covariance / np.outer(sd, sd))


def _ridge_test(S: Floats, left: _Spread, right: _Spread, smaller: float, unequal: float) -> tuple[float, Floats]:
    """Test S = 0, where the two parts together estimate its covariance; return what :func:`_tested` does."""
    variances = np.diag(left.covariance) + np.diag(right.covariance)
    used = variances > _ROUNDING / smaller
    contributions = np.zeros(len(S))
    if not used.any():  # neither sample varies at any frequency that the other lets through
        return 1.0, contributions
    sd = np.sqrt(variances[used])
    A, B = (part.covariance[np.ix_(used, used)] / np.outer(sd, sd) for part in (left, right))
    w, V = np.linalg.eigh(A + B)
    kept = w >= _UNEQUAL_CUT * np.sqrt(unequal / smaller) * w[-1]
    w, V = np.maximum(w[kept], 0), V[:, kept]
    lam = max(_RIDGE, _RIDGE_ROWS / smaller) * max(1.0, np.sqrt(len(S) / _RIDGE_FREQUENCIES))
    lam *= 1 + _UNEQUAL_RIDGE * unequal
    whitened = V / np.sqrt(w + lam)
    scores = S[used] / sd
    added = scores * (whitened @ (whitened.T @ scores))
    h, G = w / (w + lam), whitened.T @ A @ whitened
    nu = (_CAUTION - _UNEQUAL_CAUTION * unequal) * _satterthwaite(h, G, left.freedom, right.freedom)
    mean, freedom = _null_moments(h, nu)
    T = float(added.sum())
    contributions[used] = added / mean
    return float(chdtrc(freedom, T * freedom / mean)), contributions


def _satterthwaite(h: Floats, G: Floats, freedom_G: float, freedom_H: float) -> float:
    """Return the degrees of freedom of a sum of two Wishart matrices with means G and diag(h) - G."""
    H = np.diag(h) - G
    spread = (np.sum(G**2) + np.trace(G) ** 2) / freedom_G + (np.sum(H**2) + np.trace(H) ** 2) / freedom_H
    return float((np.sum(h**2) + h.sum() ** 2) / spread)


def _null_moments(h: Floats, nu: float) -> tuple[float, float]:
    """Return the mean of T and the degrees of freedom of its scaled chi-squared law."""
    s1, s2 = float(h.sum()), float(np.sum(h**2))
    c = max(1 - s1 / nu, _SMALLEST_C)
    mean = s1 / c
    variance = max(2 * (s1 / c**3 - (s1 - s2) / c**4), 2 * s2 / c**2)
    return mean, 2 * mean**2 / variance


def cauchy_combination(pvalues: Floats, weights: Floats) -> float:
    """Merge p-values into one that is valid, nearly, however they depend (Liu and Xie 2020); the weights sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample._phase import cauchy_combination
    >>> round(cauchy_combination(np.array([0.5, 0.01]), np.array([0.5, 0.5])), 4)
    0.02
    """
    smallest = float(pvalues.min())
    if smallest < 1e-14:  # where tan loses its digits the combination is this
        inverses = weights / np.maximum(pvalues, np.finfo(np.float64).tiny)
        return min(1.0, float(1 / inverses.sum()))
    if smallest == 1:
        return 1.0
    inside = np.minimum(pvalues, 1 - 1e-15)
    return float(0.5 - np.arctan(weights @ np.tan((0.5 - inside) * np.pi)) / np.pi)
