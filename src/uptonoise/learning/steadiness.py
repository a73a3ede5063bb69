"""How far the rows of a bag alone may move what a model makes of its phases, and predictions drawn to their mean by it.

A model predicts f from the phases theta_j of a bag of N rows. A row x moves it by about h(x)/N, where

    h(x)  =  sum_j  (df/dtheta_j) sin(w_j.x - theta_j) / abs(phi_j)

so that f has the sampling variance

    e  =  (sum of h(x)^2 over rows  +  p) / N^2

where p, the mean of h(x)^2 over the rows of the bags that the model was fitted on, counts as one row: it is all that is
known of a bag of one row, whose own h is 0. An abs(phi) below 0.1/sqrt(N) is noise, and counts as that. Unlike the
errors of single phases, e knows that those at near frequencies are alike, and what the model makes of their
differences. It leaves out that the rows also say how far each phase is drawn to its mean.

Predictions that vary by V between the bags that the model was fitted on, about the mean f0, are drawn to it where they
are less reliable than nearly all of theirs, whose e is at most e0:

    f'  =  f0 + k (f - f0)        k  =  V / (V + max(e - e0, 0))

So bags with more noise or with fewer rows go to the mean as far as they tell nothing else, and no prediction of a bag
like those of fit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier import Characteristic, CosineSine, bags_of_rows, unit
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.rows import Accumulator, Block, RowSource

_KNOWN = 0.9  # of the bags of fit have no larger error than what counts as known
_LEAST_AMPLITUDE = 0.1  # over sqrt(N)


class _InfluencePart(NamedTuple):
    """Of some bags, their increasing numbers, and the sums of squared influences of their rows, one row a target."""

    bags: NDArray[np.int64]
    squares: Floats


class InfluenceSums(Accumulator[_InfluencePart]):
    """The sum over each bag's rows of (weight * sum_j of coefficients * waves)^2, with coefficients of its own."""

    needs_known_bags = True

    def __init__(self, waves: CosineSine, coefficients: Floats) -> None:
        self.waves = waves
        self.block_rows = waves.block_rows
        self.coefficients = coefficients
        self.squares = np.zeros(coefficients.shape[:2])

    def part(self, block: Block) -> _InfluencePart:
        """Return the sums of the bags that have rows in the block."""
        of_rows = bags_of_rows(block, self.waves.name)
        bags, place = np.unique(of_rows, return_inverse=True)
        waves = self.waves(block.values)
        moved = [np.einsum("rk,rk->r", waves, one[of_rows]) for one in self.coefficients]
        if block.weights is not None:
            moved = [one * block.weights for one in moved]
        return _InfluencePart(bags, np.array([np.bincount(place, one**2, len(bags)) for one in moved]))

    def add(self, part: _InfluencePart) -> None:
        """Add the sums of the next rows."""
        self.squares[:, part.bags] += part.squares

    def total(self) -> _InfluencePart:
        """Return the sums of all rows so far."""
        return _InfluencePart(np.arange(len(self.squares[0])), self.squares)

    def empty(self) -> InfluenceSums:
        """Return the same without any rows."""
        return InfluenceSums(self.waves, self.coefficients)

    def renumbered(self, part: _InfluencePart, numbers: NDArray[np.int64]) -> _InfluencePart:
        """Return a part with other numbers of its bags."""
        bags = numbers[part.bags]
        order = np.argsort(bags)
        return _InfluencePart(bags[order], part.squares[:, order])


class Influences(NamedTuple):
    """What rows do to predictions.

    Attributes
    ----------
    squares : array of shape (n_targets, n_bags)
        The sum over a bag's rows of the squared influence of each, with its weight.
    weight, size : array of shape (n_bags,)
        The sum of a bag's weights, and its effective number of rows.
    """

    squares: Floats
    weight: Floats
    size: Floats

    @classmethod
    def of(
        cls, source: RowSource, found: Characteristic, frequencies: Floats, gradients: Floats, precision: Any = "fast"
    ) -> Self:
        """Return the influences of the rows of bags.

        Parameters
        ----------
        source : RowSource
            The rows of the bags, which are read once more.
        found : Characteristic
            Their characteristic functions, of shape (n_bags, m).
        frequencies : array of shape (m, d)
            Where.
        gradients : array of shape (n_targets, n_bags, m)
            How each prediction changes with each phase.
        precision : {"fast", "float64"}
            As for :func:`~uptonoise.ecf`.

        Examples
        --------
        The variance of a phase, from the rows of each bag, and between bags of the same law:

        >>> import numpy as np
        >>> from uptonoise.fourier import characteristic_function
        >>> from uptonoise.learning.steadiness import Influences
        >>> from uptonoise.rows import as_rows
        >>> bags, W = np.random.default_rng(0).gamma(2, size=(2_000, 100, 1)), np.array([[0.5]])
        >>> found = characteristic_function(bags, W)
        >>> influences = Influences.of(as_rows(bags), found, W, np.ones((1, 2_000, 1)))
        >>> bool(0.95 < influences.errors(influences.of_one_row()).mean() / np.angle(found.phi).var() < 1.1)
        True
        """
        size = found.effective_size
        if source.bag_ids is None:
            return cls(np.zeros(gradients.shape[:2]), found.weight, size)
        per_row = gradients / np.maximum(np.abs(found.phi), _LEAST_AMPLITUDE / np.sqrt(size)[:, None])
        phases = unit(found.phi)
        coefficients = np.concatenate([-per_row * phases.imag, per_row * phases.real], axis=2)
        sums = source.fold(InfluenceSums(CosineSine(frequencies, precision, source.name), coefficients))
        return cls(sums.squares, found.weight, size)

    def of_one_row(self) -> Floats:
        """Return the mean squared influence of a row, of shape (n_targets,)."""
        return np.asarray(np.mean(self.squares / self.weight**2 * self.size, axis=1))

    def errors(self, of_one_row: Floats) -> Floats:
        """Return the sampling variances of predictions, of shape (n_targets, n_bags)."""
        return np.asarray(self.squares / self.weight**2 + of_one_row[:, None] / self.size**2)


def knows_errors(first: Any, second: Any) -> bool:
    """Tell whether the sampling errors of a model are known: of shrunk phases, or of Fourier features of these."""
    return hasattr(first, "reliability_") and (second is None or isinstance(second, FourierFeatures))


class Predicted(NamedTuple):
    """Predictions, of shape (n_targets, n_bags), and what rows do to them."""

    values: Floats
    influences: Influences

    @classmethod
    def of(cls, X: Any, first: PhaseFeatures, second: FourierFeatures | None, coef: Floats, intercept: Floats) -> Self:
        """Return what a model that is linear in features makes of bags.

        Parameters
        ----------
        X : bags
            As for :meth:`PhaseFeatures.transform`.
        first, second : transformers
            The features: fitted, and such that :func:`knows_errors` holds.
        coef : array of shape (n_targets, p)
            The coefficients.
        intercept : array of shape (n_targets,)
            The intercepts.
        """
        source = first.fitted_rows(X)
        if not source.can_be_read_again:
            raise ValueError(
                f"{source.name} is read twice, and an iterator can be read only once; read it into Bags, or fit with "
                "steady=False"
            )
        found = first.characteristic(source)
        features = first.from_characteristic(found)
        slopes = coef[:, None]
        if second is not None:
            # The waves of the second level; the derivative of cos(v.F) and sin(v.F) is theirs, times v.
            features = second.transform(features)
            turned = coef[:, None, 1::2] * features[:, ::2] - coef[:, None, ::2] * features[:, 1::2]
            slopes = turned @ second.frequencies_
        phases, kept = unit(found.phi), first.reliability_.kept(found.phi, found.effective_size)
        gradients = kept * (slopes[..., 1::2] * phases.real - slopes[..., ::2] * phases.imag)
        gradients /= np.sqrt(phases.shape[1])
        influences = Influences.of(source, found, first.frequencies_, gradients, first.precision)
        return cls(coef @ features.T + intercept[:, None], influences)

    @classmethod
    def joined(cls, parts: Sequence[Predicted]) -> Predicted:
        """Return the predictions of several sets of bags together."""
        values, influences = zip(*parts, strict=True)
        together = Influences(*(np.concatenate(fields, axis=-1) for fields in zip(*influences, strict=True)))
        return cls(np.concatenate(values, axis=1), together)


class Steadiness(NamedTuple):
    """What is learnt from predictions of the bags that a model was fitted on, one number a target.

    Attributes
    ----------
    centre : array of shape (n_targets,)
        Their mean, f0.
    spread : array of shape (n_targets,)
        Their variance, V.
    known : array of shape (n_targets,)
        The sampling variance that nearly all of them keep, e0.
    of_one_row : array of shape (n_targets,)
        The mean squared influence of a row, p.
    """

    centre: Floats
    spread: Floats
    known: Floats
    of_one_row: Floats

    @classmethod
    def learnt(cls, predicted: Predicted, weights: Floats) -> Steadiness:
        """Learn from predictions of bags with weights.

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise.learning.steadiness import Influences, Predicted, Steadiness
        >>> sizes = np.full(3, 100.0)
        >>> of_fit = Predicted(np.array([[0.0, 2.0, 4.0]]), Influences(np.full((1, 3), 0.1), sizes, sizes))
        >>> noisy = Influences(np.array([[0.1, 0.1, 1e9]]), sizes, sizes)
        >>> Steadiness.learnt(of_fit, np.ones(3)).drawn(of_fit._replace(influences=noisy)).round(3)
        array([[0., 2., 2.]])
        """
        shares = weights / weights.sum()
        centre = predicted.values @ shares
        spread = (predicted.values - centre[:, None]) ** 2 @ shares
        of_one_row = predicted.influences.of_one_row()
        errors = predicted.influences.errors(of_one_row)
        return cls(centre, spread, np.quantile(errors[:, weights > 0], _KNOWN, axis=1), of_one_row)

    def drawn(self, predicted: Predicted) -> Floats:
        """Return predictions, drawn to the mean by their reliability."""
        spread, centre = self.spread[:, None], self.centre[:, None]
        more = np.maximum(predicted.influences.errors(self.of_one_row) - self.known[:, None], 0)
        kept = np.divide(spread, spread + more, out=np.ones_like(more), where=more > 0)
        return np.asarray(centre + kept * (predicted.values - centre))
