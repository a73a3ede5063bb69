"""The phase test: whether two samples differ beyond symmetric noise, of any size and kind in each.

The statistic of each block of frequencies, from two sketches, is that of :mod:`uptonoise.twosample.phase.statistic`; the blocks'
p-values are merged by a weighted Cauchy combination. Equal phases are symmetry of X - Y only, so the positivity of
:mod:`uptonoise.twosample.phase.positivity` has a tenth of the level: the p-value is the smaller one of the phases' over 0.9
and the positivity's over 0.1. Up to an offset, :mod:`uptonoise.twosample.phase.offset` estimates it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.fourier import Sketch
from uptonoise.rows import LEAST_CLUSTERS, RowSource, cluster_hashes, two_clustered, warn_of_shared
from uptonoise.twosample.phase.effect import EffectSize, effect_size, powers_against, reference_effects
from uptonoise.twosample.phase.offset import Shift, fitted_shift
from uptonoise.twosample.phase.places import Places, centre_of, comparable
from uptonoise.twosample.phase.positivity import positivity as positivity_test
from uptonoise.twosample.phase.statistic import Ridge, Sample, decomposed
from uptonoise.twosample.result import TwoSampleResult

Invariance = Literal["noise", "noise+shift"]

POSITIVITY_SHARE = 0.1  # of the level
_ALPHA = 0.05  # of the test whose power against the reference effect is told
_TOO_NOISY = 0.2  # power against the reference effect
_POSITIVITY_SEED = 0
_ROUNDING = 1e-5  # of waves, which are good to 1e-7
_NO_VETO = 0.99  # the largest p-value of a block that counts: none can undo what others find


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PhaseResult(TwoSampleResult):
    """The outcome of :func:`phase_test`.

    Attributes
    ----------
    invariant_to : str
        What does not count as a difference: "noise" or "noise+shift".
    phase_pvalue : float
        The p-value of the phases, merged from those of the blocks.
    positivity_pvalue : float or None
        The p-value of positivity; None where it was not asked for.
    block_pvalues : dict
        The p-value of each block of frequencies. `statistic` is the mean of the blocks' statistics, each over its mean
        under the null hypothesis, weighted as they are merged.
    effect : EffectSize
        How large the difference is, with its interval: small p-values come from large samples too.
    reference_power : float
        The power that the phases had at these sizes and noises against a reference effect: one column of the less
        noisy sample moved by half of its spread (up to a shift, its skewness changed by 1); the median over columns.
    shift : array of shape (d,) or None
        Up to a shift: by how much X lies further than Y, in each column.
    shift_interval : array of shape (d, 2) or None
        The 95 % intervals of that.
    frequencies : array of shape (m, d)
        The frequencies used.
    phase_differences : array of shape (m,)
        By how much the phase of X is ahead of that of Y at each frequency, in radians.
    standard_errors : array of shape (m,)
        Their standard errors, at most pi: a phase cannot be more uncertain than that.
    contributions : array of shape (m,)
        What each frequency adds to `statistic`; 0 for those that only positivity looks at.
    column_shares : array of shape (d,)
        The share of each column in what the frequencies contribute.
    """

    test: ClassVar[str] = "Phase test"

    invariant_to: str
    phase_pvalue: float
    positivity_pvalue: float | None
    block_pvalues: dict[str, float]
    effect: EffectSize
    reference_power: float
    shift: Floats | None
    shift_interval: Floats | None
    frequencies: Floats
    phase_differences: Floats
    standard_errors: Floats
    contributions: Floats
    column_shares: Floats

    @property
    def too_noisy(self) -> bool:
        """Whether the test could hardly have seen the reference effect: a large p-value then says nothing."""
        return self.reference_power < _TOO_NOISY

    def equivalent(self, margin: float, alpha: float = 0.05) -> bool:
        """Tell whether the effect is below `margin`, with confidence 1 - alpha."""
        return self.effect.equivalent(margin, alpha)

    def _more(self) -> list[str]:
        lines = [f"up to {self.invariant_to.replace('+', ' and ')}; {self.effect!r}"]
        if self.too_noisy and self.pvalue > 0.05:
            reference = "a shift by half of the spread" if self.shift is None else "a change of the skewness by 1"
            power = f"{self.reference_power:.2f}"
            lines.append(f"too noisy to tell, or too few rows: {reference} would be seen with probability {power}")
        blocks = ", ".join(f"{name} {pvalue:.3g}" for name, pvalue in self.block_pvalues.items())
        positivity = "" if self.positivity_pvalue is None else f"; positivity {self.positivity_pvalue:.3g}"
        lines.append(f"{len(self.frequencies)} frequencies; p-values: {blocks}{positivity}")
        if self.shift is not None and self.shift_interval is not None:
            shown = zip(self.columns, self.shift, self.shift_interval, strict=True)
            shifts = [f"{name} {value:.3g} ({low:.3g} to {high:.3g})" for name, value, (low, high) in shown]
            lines.append("shift of X: " + ", ".join(shifts[:5]) + (", ..." if len(shifts) > 5 else ""))
        if self.column_shares.any() and len(self.columns) > 1:
            most = np.argsort(-self.column_shares)[:5]
            shares = ", ".join(f"{self.columns[column]} {self.column_shares[column]:.0%}" for column in most)
            lines.append(f"columns that carry most of the statistic: {shares}")
        return lines


def phase_test(
    X: Any,
    Y: Any,
    *,
    invariant_to: Invariance = "noise",
    positivity: bool = True,
    weights: tuple[Any, Any] = (None, None),
    clusters: Any = None,
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> PhaseResult:
    """Test whether two samples differ beyond symmetric noise, whatever its size and kind in each of them.

    It uses all rows, in one pass and bounded memory, and needs no resampling. The null hypothesis is that the two
    characteristic functions have the same phase everywhere.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, Bags, RowSource, or Sketch
        The two samples; two Bags are two samples of clusters. Or two sketches with the same frequencies, as :meth:`Sketch.for_samples
        <uptonoise.Sketch.for_samples>` and :meth:`Sketch.like <uptonoise.Sketch.like>` make them.
    invariant_to : {"noise", "noise+shift"}
        Whether an unknown translation, as of an instrument without a calibrated zero, counts as a difference. With
        "noise+shift" it does not, and is estimated.
    positivity : bool
        Whether to look also for differences that are symmetric, but of no noise with a positive characteristic
        function, as between two points and one. It has a tenth of the level.
    weights : pair of arrays or str, optional
        Weights for the rows of X and of Y, or the names of the columns that hold them.
    clusters : pair of arrays, or str, optional
        An id for each row of X and of Y, or the column of both that holds them: rows with the same id belong together,
        as the cells of a patient, and only clusters are independent. :func:`~uptonoise.blocks` makes ids of consecutive
        rows. At least 3 clusters in each sample; below 10 it can find large differences only.
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
    >>> moved = un.phase_test(X + 3, noisy, invariant_to="noise+shift")
    >>> moved.pvalue > 0.05, bool((np.abs(moved.shift - 3) < 0.3).all())
    (True, True)
    """
    if not isinstance(invariant_to, str) or invariant_to not in get_args(Invariance):
        raise ValueError(f"invariant_to must be one of {', '.join(get_args(Invariance))}; got {invariant_to!r}")
    left, right, seed = as_sketches(X, Y, weights, frequencies, random_state, clusters=clusters)
    with single_threaded_blas:  # for matrices as small as these more threads only wait for each other
        return _of_sketches(left, right, invariant_to, bool(positivity), seed)


def as_sketches(
    X: Any,
    Y: Any,
    weights: tuple[Any, Any],
    frequencies: Any,
    random_state: RandomState,
    n_frequencies: int | None = None,
    clusters: Any = None,
) -> tuple[Sketch, Sketch, int | None]:
    """Return sketches of two samples, or the two that were given, and the seed of their frequencies."""
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise ValueError("weights must be a pair, those of X and those of Y (None for equal ones); got something else")
    seed = None
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        if any(weight is not None for weight in weights) or frequencies is not None or clusters is not None:
            raise ValueError("weights, clusters and frequencies must be left out for sketches, which bring their own")
        left, right = comparable(X, Y)
    else:
        generator, seed = seeded_generator(random_state)
        sources = two_clustered(X, Y, (weights[0], weights[1]), clusters)
        own = frequencies is None
        if own:
            empty = Sketch.for_samples(*sources, n_frequencies=n_frequencies, random_state=generator)
        else:
            empty = Sketch(frequencies)
        left, right = (Sketch.like(empty).update(source, complete=True) for source in sources)
        warn_of_shared(_shared_ids(left, right, sources[0]), (sources[0].name, sources[1].name))
    for name, given, sketch in (("X", X, left), ("Y", Y, right)):
        check_size(given.name if isinstance(given, RowSource) else name, sketch)
    return left, right, seed


def check_size(name: str, sketch: Sketch) -> None:
    """Raise where a sketch has too few rows, or too few clusters, for any test."""
    if sketch.n_clusters is not None and sketch.n_clusters < LEAST_CLUSTERS:
        raise ValueError(
            f"{name} must have at least {LEAST_CLUSTERS} clusters; got {sketch.n_clusters}, with "
            f"{counted(sketch.n_rows, 'row')}. Rows within a cluster cannot replace clusters"
        )
    if sketch.n_rows < 2 or sketch.effective_size < 1 + 1e-9:
        worth = "" if sketch.n_rows < 2 else f", with weights worth {sketch.effective_size:.3g}"
        raise ValueError(f"{name} must have at least 2 rows; got {sketch.n_rows}{worth}")


def _of_sketches(X: Sketch, Y: Sketch, invariant_to: Invariance, positive: bool, seed: int | None) -> PhaseResult:
    left, right, nuisance, shift = _aligned(X, Y, invariant_to)
    places = Places.of(X, Y)
    blocks: dict[str, Ridge] = {}
    contributions = np.zeros(X.n_frequencies)
    for (name, place), weight in zip(places.blocks.items(), places.weights, strict=True):
        decomposition = decomposed(left.at(place), right.at(place))
        at_place = None if nuisance is None else nuisance[place]
        blocks[name] = decomposition.test(at_place)
        contributions[place] += weight * blocks[name].contributions
        if place == places.largest:
            effect = effect_size(left.at(place), right.at(place), decomposition, at_place)
    pvalues = {name: float(block.pvalue) for name, block in blocks.items()}
    of_phases = float(cauchy_combination(np.array(list(pvalues.values())), places.weights))
    if shift is None and not any(block.has_rank for block in blocks.values()):
        of_phases = _of_constants(left, right)
    positivity_pvalue = of_positivity(left, right) if positive else None
    differences, errors = _phase_differences(left, right)
    return PhaseResult(
        statistic=float(contributions.sum()),
        pvalue=with_positivity(of_phases, positivity_pvalue),
        sizes=(X.n_rows, Y.n_rows),
        columns=(X if X.named else Y).columns,
        null="ridge-regularised Hotelling law" + (", Cauchy combination of blocks" if len(blocks) > 1 else ""),
        seed=seed,
        **cluster_counts(X, Y),
        invariant_to=invariant_to,
        phase_pvalue=of_phases,
        positivity_pvalue=positivity_pvalue,
        block_pvalues=pvalues,
        effect=effect,
        reference_power=_reference_power(left, right, X.frequencies, places, blocks, shift is not None, positive),
        shift=None if shift is None else shift.shift,
        shift_interval=None if shift is None else shift.interval(),
        frequencies=X.frequencies,
        phase_differences=differences,
        standard_errors=errors,
        contributions=contributions,
        column_shares=_column_shares(X.frequencies, contributions),
    )


def _shared_ids(left: Sketch, right: Sketch, source: RowSource) -> list[Any]:
    """Return the ids of clusters that both samples have."""
    shared = np.intersect1d(left.cluster_hashes, right.cluster_hashes, assume_unique=True)
    if len(shared) == 0 or source.bag_ids is None:
        return []
    known = set(shared.tolist())
    return [cluster for cluster in source.bag_ids if int(cluster_hashes([cluster])[0]) in known]


def cluster_counts(X: Sketch, Y: Sketch) -> dict[str, Any]:
    """Return the fields of a result that tell how many clusters there are, and what they are worth."""
    if X.n_clusters is None or Y.n_clusters is None:
        return {}
    return {
        "n_clusters": (X.n_clusters, Y.n_clusters),
        "independent_rows": (X.independent_rows, Y.independent_rows),
    }


def _of_constants(left: Sample, right: Sample) -> float:
    """Return the p-value where no row differs from the others of its sample: that of the flip test."""
    differ = bool(np.abs(left.S(right)).max() > _ROUNDING)
    return float(2.0 ** (1 - np.minimum(left.size, right.size))) if differ else 1.0


def _reference_power(
    left: Sample,
    right: Sample,
    frequencies: Floats,
    places: Places,
    blocks: dict[str, Ridge],
    up_to_shift: bool,
    positive: bool,
) -> float:
    """Return the power of the best block against the reference effect, in the middle one of the columns."""
    level = _ALPHA * (1 - POSITIVITY_SHARE if positive else 1.0)
    effects = reference_effects(left, right, frequencies, places.largest, up_to_shift)
    powers = [
        powers_against(block, effects[place], level * weight)
        for place, block, weight in zip(places.blocks.values(), blocks.values(), places.weights, strict=True)
    ]
    return float(np.median(np.max(powers, axis=0)))


def _aligned(X: Sketch, Y: Sketch, invariant_to: Invariance) -> tuple[Sample, Sample, Floats | None, Shift | None]:
    """Return both samples, and up to a shift without it, with the directions that it moves S in and the shift."""
    if invariant_to == "noise+shift":
        return fitted_shift(X, Y)
    centre = centre_of(X)
    return Sample.of(X, centre), Sample.of(Y, centre), None, None


def of_positivity(left: Sample, right: Sample) -> float:
    """Return the p-value of positivity, by draws from the same seed for all samples."""
    return positivity_test(left, right, np.random.default_rng(_POSITIVITY_SEED)).pvalue


def with_positivity(of_phases: float, positivity_pvalue: float | None) -> float:
    """Return the p-value of both parts, valid however they depend."""
    if positivity_pvalue is None:
        return of_phases
    return min(1.0, of_phases / (1 - POSITIVITY_SHARE), positivity_pvalue / POSITIVITY_SHARE)


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


def cauchy_combination(pvalues: Floats, weights: Floats) -> Floats:
    """Merge p-values along the last axis into one that is valid, nearly, however they depend (Liu and Xie 2020).

    The weights sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.phase.test import cauchy_combination
    >>> cauchy_combination(np.array([0.5, 0.01]), np.array([0.5, 0.5])).round(4)
    np.float64(0.02)
    """
    cotangents = np.tan((0.5 - np.clip(pvalues, 1e-14, _NO_VETO)) * np.pi) @ weights
    # Where tan loses its digits the combination is that of the inverses.
    inverses = (1 / np.maximum(pvalues, np.finfo(np.float64).tiny)) @ weights
    smallest = pvalues.min(axis=-1)
    merged = np.where(smallest < 1e-14, 1 / inverses, 0.5 - np.arctan(cotangents) / np.pi)
    return np.where(smallest >= _NO_VETO, smallest, np.minimum(merged, 1.0))
