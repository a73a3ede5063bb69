"""The output of a trained network, solved: at given inputs it is a linear model, which has an exact solution.

Features of a bag at near frequencies are nearly the same. Along what tells them apart, mini-batches move the weights of
the output very slowly, however long they train; so the frequencies that were learnt are worth more than the weights
that were learnt with them. Here the weights are found that make the loss of training with its penalty smallest, by
ridge or logistic regression. They are kept unless they make the loss on the bags kept aside larger.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.nets.labelled import Indices, LabelledBags
from uptonoise.nets.layers import BagNetwork
from uptonoise.nets.losses import Loss
from uptonoise.nets.noise import Augmentation
from uptonoise.nets.training import characteristic_of, mean_loss

_NOISY_COPIES = 5  # of each bag, with noise of their own
_LEAST_PENALTY = 1e-9


class Parts(NamedTuple):
    """The bags of a fit: all, those to train on, those kept aside, as they are judged by, and the numbers of these."""

    everything: LabelledBags
    training: LabelledBags
    validation: LabelledBags | None
    held_out: Indices


class Table(NamedTuple):
    """What the output gets, one row for each bag and noisy copy of it, with targets and weights."""

    features: Floats
    targets: NDArray[Any]
    weights: Floats


class Linear(NamedTuple):
    """Weights of shape (outputs, p), and biases."""

    weight: Floats
    bias: Floats


Solver = Callable[[Table, float], Linear]
"""From a table and the penalty of the output's weights to a solution."""


def solve_output(
    network: BagNetwork, loss: Loss, solver: Solver, penalty: float, parts: Parts, augmentation: Augmentation
) -> None:
    """Put the solution into a network, in place, unless it makes the loss on the bags kept aside larger."""
    penalty = max(penalty, _LEAST_PENALTY)
    if parts.validation is not None:
        trained = Linear(*(part.detach().cpu().double().numpy() for part in network.output.parameters()))
        before = mean_loss(network, loss, parts.validation, augmentation.judged_phi)
        _put(network, solver(_table(network, parts.training, augmentation), penalty))
        if not mean_loss(network, loss, parts.validation, augmentation.judged_phi) <= before:
            _put(network, trained)
            return
    _put(network, solver(_table(network, parts.everything, augmentation), penalty))


@torch.no_grad()
def _put(network: BagNetwork, solution: Linear) -> None:
    network.output.weight.copy_(torch.as_tensor(solution.weight))
    network.output.bias.copy_(torch.as_tensor(solution.bias))


@torch.no_grad()
def _table(network: BagNetwork, bags: LabelledBags, augmentation: Augmentation) -> Table:
    counted = np.flatnonzero(bags.weights.cpu().numpy() > 0)
    picked = bags.part(counted) if len(counted) < len(bags) else bags
    number = 1 if augmentation.rows is None and augmentation.phi is None else _NOISY_COPIES
    features = [_features(network, picked, augmentation).cpu().double().numpy() for _ in range(number)]
    places = np.tile(np.arange(len(picked)), number)
    targets, weights = picked.targets.cpu().numpy(), picked.weights.cpu().double().numpy() / number
    return Table(np.concatenate(features), targets[places], weights[places])


def _features(network: BagNetwork, bags: LabelledBags, augmentation: Augmentation) -> Tensor:
    sizes = torch.from_numpy(bags.sizes).to(bags.rows.device)
    rows = bags.rows if augmentation.rows is None else augmentation.rows(bags.rows, sizes)
    phi = characteristic_of(network.layer, rows, bags.offsets)
    if augmentation.phi is not None:
        phi = augmentation.phi(phi, sizes, network.layer.frequencies)
    return network.eval().inputs(phi, sizes)


def ridge(table: Table, penalty: float) -> Linear:
    """Return the weights of ridge regression; the loss is the mean over bags and targets."""
    targets = table.targets.astype(np.float64)
    model = Ridge(alpha=penalty / 2 * table.weights.sum() * targets.shape[1])
    model.fit(table.features, targets, table.weights)
    return Linear(np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_))


def logistic(table: Table, penalty: float) -> Linear:
    """Return the weights of logistic regression, one row for each class."""
    strength = penalty * table.weights.sum()
    two = int(table.targets.max()) == 1  # one row, of which each class gets a half, with a quarter of the squares
    model = LogisticRegression(C=(2 if two else 1) / strength, max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the result is judged by its loss, however far it came
        model.fit(table.features, table.targets, table.weights)
    if not two:
        return Linear(model.coef_, model.intercept_)
    return Linear(*(np.concatenate([-part, part]) / 2 for part in (model.coef_, model.intercept_)))
