"""The output of a trained network, solved: at given features it is a linear model, which has an exact solution.

Features of a bag at near frequencies are nearly the same. Along what tells them apart, mini-batches move the weights of
the output very slowly, however long they train; so the frequencies that were learnt are worth more than the weights
that were learnt with them. Here the weights that fit best are found anew, ridge or logistic regression with a penalty
that is chosen by folds of the training part. They are kept where they do not make the loss on the bags kept aside
larger.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from torch import Tensor
from torch.nn import functional

from uptonoise.bags import Bags
from uptonoise.nets._labelled import LabelledBags
from uptonoise.nets._layers import BagNetwork
from uptonoise.nets._losses import Loss
from uptonoise.nets._noise import Augmentation
from uptonoise.nets._training import characteristic_of, mean_loss
from uptonoise.ridge import BagRidgeCV
from uptonoise.rows import Floats

_PENALTIES = np.geomspace(1e-7, 1e1, 25)  # times the sum of weights: features have variance 1
_LOGISTIC_PENALTIES = np.geomspace(1e-6, 1e-2, 5)
_NOISY_COPIES = 5  # of each bag, with noise of their own
_FOLDS = 3


class Parts(NamedTuple):
    """The bags of a fit: all of them, those to train on, and those kept aside, as they are judged by."""

    everything: LabelledBags
    training: LabelledBags
    validation: LabelledBags | None


class Table(NamedTuple):
    """Normalised features, one row for each bag and noisy copy of it, with targets, weights and the bag's number."""

    features: Floats
    targets: NDArray[Any]
    weights: Floats
    bags: NDArray[np.int64]


class Linear(NamedTuple):
    """Weights of shape (outputs, p), biases, and the penalty that they were found with."""

    weight: Floats
    bias: Floats
    penalty: float


Solver = Callable[[Table, "float | None"], "Linear | None"]
"""From a table and a penalty, or None for one to be chosen, to a solution, or None where there is none."""


def solve_output(network: BagNetwork, loss: Loss, solver: Solver, parts: Parts, augmentation: Augmentation) -> None:
    """Put the solution into a network, in place, unless it makes the loss on the bags kept aside larger."""
    found = solver(_table(network, parts.training, augmentation), None)
    if found is None:
        return
    if parts.validation is not None:
        weight, bias = (part.detach().cpu().numpy().copy() for part in (network.output.weight, network.output.bias))
        trained = mean_loss(network, loss, parts.validation, augmentation.judged_phi)
        _put(network, found)
        if not mean_loss(network, loss, parts.validation, augmentation.judged_phi) <= trained:
            _put(network, Linear(weight, bias, found.penalty))
            return
        found = solver(_table(network, parts.everything, augmentation), found.penalty) or found
    _put(network, found)


@torch.no_grad()
def _put(network: BagNetwork, found: Linear) -> None:
    network.output.weight.copy_(torch.as_tensor(found.weight))
    network.output.bias.copy_(torch.as_tensor(found.bias))


@torch.no_grad()
def _table(network: BagNetwork, bags: LabelledBags, augmentation: Augmentation) -> Table:
    counted = np.flatnonzero(bags.weights.cpu().numpy() > 0)
    picked = bags.part(counted) if len(counted) < len(bags) else bags
    number = 1 if augmentation.rows is None and augmentation.phi is None else _NOISY_COPIES
    features = np.concatenate([_features(network, picked, augmentation).cpu().double().numpy() for _ in range(number)])
    targets, weights = picked.targets.cpu().numpy(), picked.weights.cpu().double().numpy() / number
    repeated = (number, *[1] * (targets.ndim - 1))
    return Table(
        features, np.tile(targets, repeated), np.tile(weights, number), np.tile(np.arange(len(picked)), number)
    )


def _features(network: BagNetwork, bags: LabelledBags, augmentation: Augmentation) -> Tensor:
    sizes = torch.from_numpy(bags.sizes).to(bags.rows.device)
    rows = bags.rows if augmentation.rows is None else augmentation.rows(bags.rows, sizes)
    phi = characteristic_of(network.layer, rows, bags.offsets)
    if augmentation.phi is not None:
        phi = augmentation.phi(phi, sizes, network.layer.frequencies)
    normalised: Tensor = network.eval().norm(network.layer.features(phi, sizes))
    return normalised


def ridge(table: Table, penalty: float | None) -> Linear | None:
    """Return the least squares solution."""
    n_bags = int(table.bags.max()) + 1
    if n_bags < _FOLDS:
        return None
    penalties = _PENALTIES if penalty is None else np.array([penalty])
    model = BagRidgeCV("mean", alphas=penalties * table.weights.sum(), cv=_FOLDS)
    model.fit(Bags(table.features[:, None]), table.targets.astype(np.float64), table.weights, table.bags)
    return Linear(model.coef_, np.asarray(model.intercept_), model.best_params_["alpha"] / table.weights.sum())


def logistic(table: Table, penalty: float | None) -> Linear | None:
    """Return the weights of logistic regression, one row for each class."""
    fewest = int(np.bincount(table.targets[: int(table.bags.max()) + 1]).min())
    if fewest < _FOLDS:
        return None
    if penalty is None:
        folds = list(StratifiedGroupKFold(_FOLDS).split(table.features, table.targets, table.bags))
        losses = [sum(_held_out(table, one, *fold) for fold in folds) for one in _LOGISTIC_PENALTIES.tolist()]
        penalty = float(_LOGISTIC_PENALTIES[int(np.argmin(losses))])
    model = _regression(table, penalty, np.arange(len(table.bags)))
    weight, bias = model.coef_, model.intercept_
    if len(weight) == 1:  # two classes: logits of both, which differ by what was found
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return Linear(weight, bias, penalty)


def _regression(table: Table, penalty: float, rows: NDArray[np.int64]) -> LogisticRegression:
    weights = table.weights[rows]
    model = LogisticRegression(C=1 / (penalty * weights.sum()), max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is judged by its loss, however far it came
        return model.fit(table.features[rows], table.targets[rows], weights)


def _held_out(table: Table, penalty: float, train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
    """Return the loss on some rows of a model that was fitted on others."""
    model = _regression(table, penalty, train)
    logits = torch.from_numpy(model.decision_function(table.features[test]))
    logits = torch.stack([-logits, logits], dim=1) / 2 if logits.ndim == 1 else logits
    losses = functional.cross_entropy(logits, torch.from_numpy(table.targets[test]), reduction="none")
    return float(table.weights[test] @ losses.numpy())
