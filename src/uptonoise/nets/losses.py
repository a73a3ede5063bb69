"""What networks are trained to make small: losses of bags, and what their outputs mean.

==============  =====================  =============================================================
loss            outputs                predicts
==============  =====================  =============================================================
squared         one for each target    the mean
cross-entropy   one for each class     softmax of the outputs: probabilities of the classes
pinball         one for each quantile  the first, and each next one a positive step above the last
==============  =====================  =============================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from uptonoise._util.typing import Floats
from uptonoise.rows import as_real_array

_LEAST_PROBABILITY = 1e-6
_SMALLEST_STEP = 1e-3  # in standard deviations of the target: where quantiles start that are equal in the data


class Loss(ABC):
    """A loss of bags; `n_outputs` is the number of outputs that it needs."""

    def __init__(self, n_outputs: int) -> None:
        self.n_outputs = n_outputs

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag, of shape (n_bags,)."""
        return self.of_predicted(self.predicted(outputs), targets)

    def predicted(self, outputs: Tensor) -> Tensor:
        """Return what the outputs predict."""
        return outputs

    @abstractmethod
    def of_predicted(self, predicted: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag from what is predicted."""

    @abstractmethod
    def constant(self, targets: Tensor) -> Tensor:
        """Return the outputs of the best prediction that is the same for all bags, where training starts."""


class SquaredLoss(Loss):
    """The squared error, averaged over targets."""

    def of_predicted(self, predicted: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag from the targets that are predicted."""
        return (predicted - targets).square().mean(dim=1)

    def constant(self, targets: Tensor) -> Tensor:
        """Return the mean of the targets."""
        return targets.mean(dim=0)


class CrossEntropy(Loss):
    """Minus the logarithm of the probability that the true class got."""

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag, of shape (n_bags,)."""
        return functional.cross_entropy(outputs, targets, reduction="none")

    def predicted(self, outputs: Tensor) -> Tensor:
        """Return the probabilities of the classes."""
        return outputs.softmax(dim=1)

    def of_predicted(self, predicted: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag from the probabilities of the classes."""
        return -predicted.gather(1, targets[:, None])[:, 0].clamp(min=_LEAST_PROBABILITY).log()

    def constant(self, targets: Tensor) -> Tensor:
        """Return the logarithms of the classes' shares."""
        return (torch.bincount(targets, minlength=self.n_outputs) / len(targets)).log()


class PinballLoss(Loss):
    """The pinball loss, averaged over quantiles that never cross."""

    def __init__(self, quantiles: Floats) -> None:
        super().__init__(len(quantiles))
        self.quantiles = torch.tensor(quantiles)

    def predicted(self, outputs: Tensor) -> Tensor:
        """Return the quantiles, in increasing order."""
        return torch.cat([outputs[:, :1], functional.softplus(outputs[:, 1:])], dim=1).cumsum(dim=1)

    def of_predicted(self, predicted: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each bag from the quantiles."""
        above = targets - predicted
        levels = self.quantiles.to(predicted)
        return torch.maximum(levels * above, (levels - 1) * above).mean(dim=1)

    def constant(self, targets: Tensor) -> Tensor:
        """Return the outputs whose quantiles are those of all targets."""
        values = torch.quantile(targets.flatten().double(), self.quantiles.to(targets.device))
        steps = values.diff().clamp(min=_SMALLEST_STEP)
        return torch.cat([values[:1], _inverse_softplus(steps)]).to(targets.dtype)

    def shift(self, outputs: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
        """Return what to add to the outputs of all bags, so that each quantile has its share of targets below it.

        With all other weights as they are this makes the loss on these bags smallest, quantile after quantile: the
        first is moved by a quantile of the errors. Bag i has its target below the next one where the shift of its step
        is at least the step to the target, before softplus, less the output: a quantile of these numbers again.
        """
        outputs, targets, shifts = outputs.double(), targets.double().flatten(), []
        last = torch.zeros_like(targets)
        for number, level in enumerate(self.quantiles.tolist()):
            output, above = outputs[:, number], targets - last
            wanted = (above if number == 0 else _inverse_softplus(above.clamp(min=_SMALLEST_STEP))) - output
            shifts.append(_quantile(wanted, weights.double(), level))
            step = output + shifts[-1]
            last = last + (step if number == 0 else functional.softplus(step))
        return torch.stack(shifts)


def _inverse_softplus(steps: Tensor) -> Tensor:
    """Return what softplus makes into these steps."""
    return steps + (-torch.expm1(-steps)).log()


def _quantile(values: Tensor, weights: Tensor, level: float) -> Tensor:
    """Return the weighted quantile below which a fresh value is with the probability `level`, on average.

    Of n values with equal weights the k-th smallest has the level k/(n + 1).
    """
    order = values.argsort()
    levels = weights[order].cumsum(0) / (weights.sum() + weights.mean())
    place = int(torch.searchsorted(levels, level).clamp(1, len(values) - 1))
    low, high = levels[place - 1], levels[place]
    share = ((level - low) / (high - low)).clamp(0, 1) if high > low else torch.ones_like(low)
    return torch.lerp(values[order[place - 1]], values[order[place]], share)


def as_quantiles(quantiles: float | Sequence[float] | Any) -> Floats:
    """Return levels of quantiles as an array, or raise where they are not increasing numbers between 0 and 1."""
    levels = np.atleast_1d(as_real_array(quantiles, "quantiles")).astype(np.float64)
    inside = bool(((levels > 0) & (levels < 1)).all())
    if levels.ndim != 1 or len(levels) == 0 or not inside or (np.diff(levels) <= 0).any():
        raise ValueError(f"quantiles must be one or more increasing numbers between 0 and 1; got {quantiles!r}")
    return levels
