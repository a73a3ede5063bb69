"""Predictions that noise cannot make much worse than the constant one: bounded, and shrunk by what is left of a bag.

With the constant prediction c, and hat functions h_k of the loudness of a bag, which is log(1 + N abs(phi)^2) averaged
over the frequencies (about 0.6 where phi is nothing but sampling error),

    f  =  c + w(loudness) (clip(f) - c)        w = sum_k w_k h_k,  0 <= w_1 <= w_2 <= ... <= 1

The weights make the loss of bags smallest that the network was not trained on, with noise of many sizes. It is convex
in the weights for each of the losses.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.nets.inputs import LabelledBags
from uptonoise.nets.layers import BagNetwork
from uptonoise.nets.losses import Loss
from uptonoise.nets.noise import Noise
from uptonoise.nets.training import characteristic_of

DROWNING = 1_000.0
"""The largest noise that predictions are made steady against, in standard deviations: it leaves nothing of a bag."""
_COPIES = 20  # of each bag, with noise of their own
_MOST_BAGS = 500
_LEVELS = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.65, 1.0])  # of the quantiles that are knots
_KNOTS = len(_LEVELS)
_MARGIN = 0.1  # of the range of the targets, on either side


def loudness(phi: Tensor, sizes: Tensor) -> Floats:
    """Return log(1 + N abs(phi)^2), averaged over frequencies, of each bag.

    The logarithm comes first: a few frequencies near 0 stay loud under any noise.
    """
    squares = sizes[:, None] * phi.double().square().sum(dim=-1)
    return np.asarray(squares.log1p().mean(dim=1).cpu().numpy())


class Steadiness(NamedTuple):
    """The range of predictions, and the weights by which they are shrunk.

    Attributes
    ----------
    knots, weights : array of shape (k,)
        The weight at each knot of the loudness.
    constant : array of shape (n_outputs,)
        The prediction for bags of which noise has left nothing.
    bounds : array of shape (2, n_outputs)
        The smallest and the largest prediction.
    """

    knots: Floats
    weights: Floats
    constant: Floats
    bounds: Floats

    @classmethod
    def learnt(
        cls, network: BagNetwork, loss: Loss, everything: LabelledBags, aside: LabelledBags, noise: Noise
    ) -> Self:
        """Learn from copies of bags kept aside, with noise on their rows."""
        bags = aside.part(np.flatnonzero(aside.weights.cpu().numpy() > 0)[:_MOST_BAGS])
        copies, loudnesses = [], []
        for _ in range(_COPIES):
            phi = characteristic_of(network.layer, noise.on_rows(bags.rows, bags.sizes), bags.offsets)
            with torch.no_grad():
                outputs = network.eval().head(phi, bags.sizes)
            copies.append(loss.predicted(outputs.cpu().double()).numpy())
            loudnesses.append(loudness(phi, bags.sizes))
        predicted, loud = np.concatenate(copies), np.concatenate(loudnesses)
        targets = bags.targets.cpu()
        known = everything.targets.cpu()[everything.weights.cpu() > 0]
        constant = loss.predicted(loss.constant(known)[None].double())[0].numpy()
        if known.is_floating_point():
            low, high = known.double().amin(dim=0).numpy(), known.double().amax(dim=0).numpy()
            bounds = np.stack([low - _MARGIN * (high - low), high + _MARGIN * (high - low)])
            targets = targets.double()
        else:
            bounds = np.array([[0.0], [1.0]])
        bounds = np.broadcast_to(bounds, (2, len(constant))).copy()
        fresh = cls(np.quantile(loud, _LEVELS), np.ones(_KNOTS), constant, bounds)
        repeated = targets.repeat(_COPIES, *([1] * (targets.ndim - 1)))
        weights = bags.weights.cpu().double().repeat(_COPIES)
        return fresh._replace(weights=fresh._best_weights(predicted, loud, loss, repeated, weights))

    @classmethod
    def checked(cls, arrays: dict[str, Any], n_outputs: int) -> Self:
        """Return what a file holds, or raise where its parts do not fit together."""
        steadiness = cls(**arrays)
        k = len(steadiness.knots)
        shapes = tuple(np.shape(part) for part in steadiness)
        if shapes != ((k,), (k,), (n_outputs,), (2, n_outputs)) or (np.diff(steadiness.knots) < 0).any():
            raise ValueError("what keeps predictions steady does not fit together")
        return steadiness

    def applied(self, predicted: Floats, loud: Floats) -> Floats:
        """Return predictions within their bounds, shrunk towards the constant one."""
        weights = np.interp(loud, self.knots, self.weights)[:, None]
        return np.asarray(self.constant + weights * (np.clip(predicted, *self.bounds) - self.constant))

    def _best_weights(self, predicted: Floats, loud: Floats, loss: Loss, targets: Tensor, weights: Tensor) -> Floats:
        """Return the weights that make the loss smallest."""
        hats = torch.tensor(np.stack([np.interp(loud, self.knots, unit) for unit in np.eye(_KNOTS)], axis=1))
        constant = torch.tensor(self.constant)
        moved = torch.tensor(np.clip(predicted, *self.bounds)) - constant

        def value(steps: Floats) -> tuple[float, Floats]:
            free = torch.tensor(steps, requires_grad=True)
            shrunk = constant + (hats @ free.cumsum(0).clamp(max=1.0))[:, None] * moved
            total = (weights * loss.of_predicted(shrunk, targets)).sum() / weights.sum()
            total.backward()  # type: ignore[no-untyped-call]
            assert free.grad is not None
            return float(total.detach()), free.grad.numpy()

        start = np.full(_KNOTS, 0.9 / _KNOTS)
        best = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * _KNOTS)
        return np.asarray(np.minimum(np.cumsum(best.x), 1.0))
