"""The output of a trained network, solved: at given inputs it is a linear model, which has an exact solution.

Features of a bag at near frequencies are nearly the same. Along what tells them apart, mini-batches move the weights of
the output very slowly, however long they train; so the frequencies that were learnt are worth more than the weights
that were learnt with them. Here the weights are found that make the loss of training with its penalty smallest, by
ridge or logistic regression. They are kept unless they make the loss on the bags kept aside larger.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from uptonoise._util.typing import Floats
from uptonoise.nets.inputs import Indices, LabelledBags
from uptonoise.nets.layers import BagNetwork
from uptonoise.nets.losses import Loss
from uptonoise.nets.noise import Augmentation
from uptonoise.nets.training import inputs_of, mean_loss

_NOISY_COPIES = 5  # of each bag, with noise of their own
_LEAST_PENALTY = 1e-9


class Parts(NamedTuple):
    """The bags of a fit: all, those to train on, those kept aside, as they are judged by, and the numbers of these."""

    everything: LabelledBags
    training: LabelledBags
    validation: LabelledBags | None
    held_out: Indices


@torch.no_grad()
def solve_output(network: BagNetwork, loss: Loss, penalty: float, parts: Parts, augmentation: Augmentation) -> None:
    """Put the solution into a network, in place, unless it makes the loss on the bags kept aside larger."""
    if parts.validation is not None:
        trained = deepcopy(network.output.state_dict())
        before = mean_loss(network, loss, parts.validation, augmentation.judged_phi)
        _solve(network, parts.training, penalty, augmentation)
        if not mean_loss(network, loss, parts.validation, augmentation.judged_phi) <= before:
            network.output.load_state_dict(trained)
            return
    _solve(network, parts.everything, penalty, augmentation)


def _solve(network: BagNetwork, bags: LabelledBags, penalty: float, augmentation: Augmentation) -> None:
    """Put the solution for these bags, with noisy copies where there is noise, into a network."""
    counted = np.flatnonzero(bags.weights.cpu().numpy() > 0)
    picked = bags.part(counted) if len(counted) < len(bags) else bags
    number = 1 if augmentation.rows is None and augmentation.phi is None else _NOISY_COPIES
    inputs = []
    for _ in range(number):
        rows = picked.rows if augmentation.rows is None else augmentation.rows(picked.rows, picked.sizes)
        inputs.append(inputs_of(network, replace(picked, rows=rows), augmentation.phi).cpu().double().numpy())
    places = np.tile(np.arange(len(picked)), number)
    targets, weights = picked.targets.cpu().numpy(), picked.weights.cpu().double().numpy() / number
    solver = ridge if picked.targets.is_floating_point() else logistic
    weight, bias = solver(np.concatenate(inputs), targets[places], weights[places], max(penalty, _LEAST_PENALTY))
    network.output.weight.copy_(torch.as_tensor(weight))
    network.output.bias.copy_(torch.as_tensor(bias))


def ridge(inputs: Floats, targets: NDArray[Any], weights: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return weights and biases of ridge regression; the loss is the mean over bags and targets."""
    targets = targets.astype(np.float64)
    model = Ridge(alpha=penalty / 2 * weights.sum() * targets.shape[1])
    model.fit(inputs, targets, weights)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def logistic(inputs: Floats, targets: NDArray[Any], weights: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return weights and biases of logistic regression, one row for each class."""
    strength = penalty * weights.sum()
    two = int(targets.max()) == 1  # one row, of which each class gets a half, with a quarter of the squares
    model = LogisticRegression(C=(2 if two else 1) / strength, max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the result is judged by its loss, however far it came
        model.fit(inputs, targets, weights)
    weight, bias = model.coef_, model.intercept_
    return (np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2) if two else (weight, bias)
