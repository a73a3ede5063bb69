"""The sampling error of predictions from phases; unreliable predictions are shrunk towards their mean.

A model predicts f from the phases theta_j of a bag of N rows. A row x moves it by about h(x)/N, where

    h(x)  =  sum_j  (df/dtheta_j) sin(w_j.x - theta_j) / abs(phi_j)

so that f has the sampling variance

    e  =  (sum of h(x)^2 over rows  +  p) / N^2

where p, the mean of h(x)^2 over the rows of the bags of fit, counts as one row: it is all that is known of a bag of one
row, whose own h is 0. An abs(phi) below 0.1/sqrt(N) is noise, and counts as 0.1/sqrt(N). Unlike the errors of single
phases, e takes into account that errors at nearby frequencies are similar, and how the model uses their differences. It
leaves out that the rows also decide how far each phase is shrunk.

Predictions that vary by V between the bags of fit, about the mean f0, are shrunk towards it where they are less
reliable than nearly all of those, whose e is at most e0:

    f'  =  f0 + k (f - f0)        k  =  V / (V + max(e - e0, 0))

So predictions of bags with more noise or fewer rows shrink towards the mean as far as they are not reliable, and no
prediction of a bag like those of fit changes.

e holds for small errors. Noise that turns phases right round can take f anywhere, with a small e. So where f is further
from f0 than D, the furthest prediction of a bag of fit, e counts as at least e0 + (f - f0)^2 - D^2. Noise that a model
is fitted against can do that to some bags of fit, too: so V is at most the variance of the targets, and D at most one
and a half times the distance of the furthest target.

Where noise has drowned the rows, phases turn at random: their errors are bounded, and so e is, but nothing is left to
predict from. Of a bag is seen

    q  =  (sum_j g_j^2 max(1 - 3 / ((N + 2) abs(phi_j)^2), 0))  /  (sum_j g_j^2)        g_j  =  df/dtheta_j

which is about 0.01 where phi is nothing but sampling error, and 0 for a bag of one row. Where q is less than half of
q0, which nine in ten bags of fit have, k is at most q / (q0 / 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.fourier import Characteristic, CosineSine, bags_of_rows, unit
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.learning.mean_features import PartByBag, SumsByBag
from uptonoise.rows import Block, RowSource

_KNOWN = 0.9  # of the bags of fit have no larger error than what counts as known
_LEAST_AMPLITUDE = 0.1  # over sqrt(N)
_WIDEST = 1.5  # times the distance of the furthest target: no prediction of fit counts beyond
_UNSEEN = 3.0  # over N + 2: a squared amplitude below that may be chance, and is that of one row
_SEEN_SHARE = 0.5  # of what nearly all bags of fit show: who shows less is shrunk


class InfluenceSums(SumsByBag):
    """The sum over each bag's rows of (weight * sum_j coefficient_j feature_j)^2, with the bag's own coefficients.

    Coefficients have the shape (n_targets, n_bags, m).
    """

    needs_known_bags = True

    def __init__(self, features: CosineSine, coefficients: Floats) -> None:
        super().__init__(coefficients.shape[1], coefficients.shape[0])
        self.features, self.coefficients = features, coefficients
        self.block_rows = features.block_rows

    def part(self, block: Block) -> PartByBag:
        """Return the sums of the bags that have rows in the block."""
        bag_of_row = bags_of_rows(block, self.features.name)
        bags, place = np.unique(bag_of_row, return_inverse=True)
        features = self.features(block.values)
        influences = [np.einsum("rk,rk->r", features, of_target[bag_of_row]) for of_target in self.coefficients]
        if block.weights is not None:
            influences = [of_target * block.weights for of_target in influences]
        squares = [np.bincount(place, of_target**2, len(bags)) for of_target in influences]
        return bags, np.stack(squares, axis=1)


class Influences(NamedTuple):
    """What rows do to predictions."""

    squares: Floats  # the sum over a bag's rows of the squared influence of each, with its weight: (n_targets, n_bags)
    weight: Floats  # the sum of a bag's weights
    size: Floats  # the effective number of rows of a bag

    @classmethod
    def of(
        cls,
        source: RowSource,
        characteristic: Characteristic,
        frequencies: Floats,
        gradients: Floats,
        precision: Any = "fast",
    ) -> Self:
        """Return the influences of the rows of bags, which are read once more.

        `gradients`, of shape (n_targets, n_bags, m), tell how each prediction changes with each phase.
        """
        phi, weight, size = characteristic.phi, characteristic.weight, characteristic.effective_size
        if source.bag_ids is None:
            return cls(np.zeros(gradients.shape[:2]), weight, size)
        per_row = gradients / np.maximum(np.abs(phi), _LEAST_AMPLITUDE / np.sqrt(size)[:, None])
        phases = unit(phi)
        coefficients = np.concatenate([-per_row * phases.imag, per_row * phases.real], axis=2)
        sums = source.fold(InfluenceSums(CosineSine(frequencies, precision, source.name), coefficients)).sums
        return cls(np.ascontiguousarray(sums[: len(weight)].T), weight, size)

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
    """Predictions, of shape (n_targets, n_bags), what rows do to them, and how much of what they rest on is seen."""

    values: Floats
    influences: Influences
    seen: Floats

    @classmethod
    def of(cls, X: Any, first: PhaseFeatures, second: FourierFeatures | None, coef: Floats, intercept: Floats) -> Self:
        """Return the predictions of a model that is linear in fitted features of which :func:`knows_errors` holds.

        `coef` has the shape (n_targets, p), and `intercept` (n_targets,).
        """
        source = first.fitted_rows(X)
        if not source.can_be_read_again:
            raise ValueError(
                f"{source.name} is read twice, and an iterator can be read only once; read it into Bags, or fit with "
                "steady=False"
            )
        characteristic = first.characteristic(source)
        features = first.from_characteristic(characteristic)
        slopes = coef[:, None]
        if second is not None:
            # The second layer is cos(v.F) and sin(v.F), with derivatives -sin(v.F) and cos(v.F) times v.
            features = second.transform(features)
            derivatives = coef[:, None, 1::2] * features[:, ::2] - coef[:, None, ::2] * features[:, 1::2]
            slopes = derivatives @ second.frequencies_
        phases = unit(characteristic.phi)
        kept = first.reliability_.kept(characteristic.phi, characteristic.effective_size)
        gradients = kept * (slopes[..., 1::2] * phases.real - slopes[..., ::2] * phases.imag)
        gradients /= np.sqrt(phases.shape[1])
        influences = Influences.of(source, characteristic, first.frequencies_, gradients, first.precision)
        # How much of the phases that predictions depend on is more than chance; what depends on nothing is safe.
        squares = np.maximum(np.abs(characteristic.phi) ** 2, np.finfo(np.float64).tiny)
        shares = np.maximum(1 - _UNSEEN / ((characteristic.effective_size[:, None] + _UNSEEN - 1) * squares), 0)
        dependence = gradients**2
        total, seen = dependence.sum(axis=2), (dependence * shares).sum(axis=2)
        seen = np.divide(seen, total, out=np.ones_like(total), where=total > 0)
        return cls(coef @ features.T + intercept[:, None], influences, seen)

    @classmethod
    def joined(cls, parts: Sequence[Predicted]) -> Predicted:
        """Return the predictions of several sets of bags together."""
        values, influences, seen = zip(*parts, strict=True)
        together = Influences(*(np.concatenate(fields, axis=-1) for fields in zip(*influences, strict=True)))
        return cls(np.concatenate(values, axis=1), together, np.concatenate(seen, axis=1))


class Steadiness(NamedTuple):
    """What is learnt from predictions of the bags of fit, one number per target."""

    centre: Floats  # their mean, f0
    spread: Floats  # their variance, V, or that of the targets
    known: Floats  # the sampling variance that nearly all of them keep, e0
    of_one_row: Floats  # the mean squared influence of a row, p
    reach: Floats  # how far from their mean predictions may be, D
    seen: Floats  # how much of nearly all of the bags is seen, q0

    @classmethod
    def learnt(cls, predicted: Predicted, targets: Floats, weights: Floats) -> Steadiness:
        """Learn from predictions of bags with targets, of shape (n_bags, n_targets), and weights."""
        shares = weights / weights.sum()
        centre = predicted.values @ shares
        moved = np.stack([predicted.values, targets.T]) - centre[:, None]
        spread = (moved**2 @ shares).min(axis=0)
        furthest = np.abs(moved[:, :, weights > 0]).max(axis=2)
        reach = np.minimum(furthest[0], _WIDEST * furthest[1])
        of_one_row = predicted.influences.of_one_row()
        errors = predicted.influences.errors(of_one_row)
        known = np.quantile(errors[:, weights > 0], _KNOWN, axis=1)
        seen = np.quantile(predicted.seen[:, weights > 0], 1 - _KNOWN, axis=1)
        return cls(centre, spread, known, of_one_row, reach, seen)

    def shrunk(self, predicted: Predicted) -> Floats:
        """Return predictions, shrunk towards the mean by their reliability."""
        spread, centre = self.spread[:, None], self.centre[:, None]
        beyond = (predicted.values - centre) ** 2 - self.reach[:, None] ** 2
        more = np.maximum(predicted.influences.errors(self.of_one_row) - self.known[:, None], np.maximum(beyond, 0))
        kept = np.divide(spread, spread + more, out=np.ones_like(more), where=more > 0)
        expected = _SEEN_SHARE * self.seen[:, None]
        kept = np.minimum(kept, np.divide(predicted.seen, expected, out=np.ones_like(kept), where=expected > 0))
        return np.asarray(centre + kept * (predicted.values - centre))
