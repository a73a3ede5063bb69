"""The phase test: whether two samples differ beyond symmetric noise, of any size and kind in each.

The statistic of each block of frequencies, from two sketches, is that of :mod:`uptonoise.twosample._ridge`; the blocks'
p-values are merged by a weighted Cauchy combination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uptonoise._random import RandomState, seeded_generator
from uptonoise._threads import single_threaded_blas
from uptonoise.designs import BLOCK_WEIGHTS
from uptonoise.rows import Floats, two_samples
from uptonoise.sketch import Sketch
from uptonoise.twosample._result import TwoSampleResult
from uptonoise.twosample._ridge import Sample, ridge


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


def _of_sketches(X: Sketch, Y: Sketch, seed: int | None) -> PhaseResult:
    centre = X.centre if X.centre is not None else np.zeros(X.n_columns)  # the result does not depend on it
    left, right = Sample.of(X, centre), Sample.of(Y, centre)
    places = (X if X.blocks.keys() >= Y.blocks.keys() else Y).blocks
    weights = np.array([BLOCK_WEIGHTS.get(name, 1.0) for name in places])
    weights /= weights.sum()
    pvalues, contributions = {}, np.zeros(X.n_frequencies)
    for weight, (name, place) in zip(weights, places.items(), strict=True):
        block = ridge(left.at(place), right.at(place))
        pvalues[name] = float(block.pvalue)
        contributions[place] += weight * block.contributions
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


def _phase_differences(left: Sample, right: Sample) -> tuple[Floats, Floats]:
    """Return arg(phi_X conj phi_Y) and its standard error, which is that of S over abs(phi_X phi_Y)."""
    product = left.phi * right.phi.conj()
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
