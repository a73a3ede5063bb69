"""How networks are trained: Adam on mini-batches of bags, the weights of the best epoch, and an output that is solved.

The rate of epoch t is rate_0 / (1 + decay t), or rate_(t-1) / (1 + decay t). All randomness comes from one numpy
Generator, so that a seed gives the same network, and torch's global seed is left alone.

The output of a trained network is a linear model at given inputs, which has an exact solution. Features of a bag at
near frequencies are nearly the same. Along what tells them apart, mini-batches move the weights of the output very
slowly, however long they train; so the frequencies that were learnt are worth more than the weights that were learnt
with them. Here the weights are found that make the loss of training with its penalty smallest, by ridge or logistic
regression. They are kept unless they make the loss on the bags kept aside larger.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from torch import Tensor, nn

from uptonoise._util.progress import Progress
from uptonoise._util.threads import SharedLimit
from uptonoise._util.typing import Floats
from uptonoise._util.warning import warn
from uptonoise.engines.gpu.cuda import torch_device
from uptonoise.engines.gpu.features import as_vector
from uptonoise.nets.inputs import Indices, LabelledBags, Parts
from uptonoise.nets.layers import BagNetwork, FourierLayer, PhiAugmentation
from uptonoise.nets.losses import Loss
from uptonoise.nets.noise import Augmentation
from uptonoise.nets.parameters import Schedule

_BLOCK_ELEMENTS = 2**20  # rows times frequencies in memory at once where no gradient is wanted
_LARGEST_ROW = 1e6
_WORTH_THREADS = 2**18  # rows times frequencies in one step, about a millisecond of sines and cosines
_NOISY_COPIES = 5  # of each bag, with noise of their own, for the output
_LEAST_PENALTY = 1e-9
_DIVERGED = 1e4  # targets are standardised: a loss of 1 is what the constant prediction has


@dataclass(frozen=True)
class Settings:
    """The numbers of a training run; `patience` is the number of epochs without a better one before it stops."""

    learning_rate: float
    decay: float
    n_epochs: int
    batch_size: int
    frequency_penalty: float
    output_penalty: float
    patience: int | None
    schedule: Schedule = "hyperbolic"

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, from the initial one."""
        if self.schedule == "cumulative":
            return float(self.learning_rate / np.prod(1 + self.decay * np.arange(epoch + 1)))
        return self.learning_rate / (1 + self.decay * epoch)


def train(
    network: BagNetwork,
    loss: Loss,
    parts: Parts,
    settings: Settings,
    augmentation: Augmentation,
    generator: np.random.Generator,
    progress: Progress,
) -> tuple[dict[str, list[float]], int]:
    """Train a network in place; it is left with the weights of the best epoch, or of the last without validation.

    Returns columns with one number for each epoch, and the epoch whose weights were kept.
    """
    bags, validation = parts.training, parts.validation
    optimizer = torch.optim.Adam(_parameter_groups(network, settings), lr=settings.learning_rate)
    history: dict[str, list[float]] = {"epoch": [], "learning_rate": [], "loss": [], "validation_loss": []}
    best, least, kept, diverged = 0, np.inf, deepcopy(network.state_dict()), False
    elements = len(bags.rows) / len(bags) * settings.batch_size * len(network.layer.frequencies)
    with progress, threads_for(elements):
        for epoch in range(settings.n_epochs):
            for group in optimizer.param_groups:
                group["lr"] = settings.rate(epoch)
            trained = _train_epoch(network, loss, bags, settings.batch_size, augmentation, generator, optimizer)
            judged = trained if validation is None else mean_loss(network, loss, validation, augmentation.judged_phi)
            diverged = not (trained < _DIVERGED and judged < _DIVERGED)  # neither is true of NaN
            if diverged:
                message = (
                    f"training diverged in epoch {epoch}: the loss reached "
                    f"{judged if trained < _DIVERGED else trained:.3g}. Lower learning_rate (it is "
                    f"{settings.learning_rate:g}), or raise batch_size ({settings.batch_size}) or decay "
                    f"({settings.decay:g})"
                )
                if np.isinf(least):
                    raise ValueError(f"{message}; no epoch before it had a usable loss")
                warn(f"{message}; the weights of the best epoch are kept", ConvergenceWarning)
                break
            row = (epoch, settings.rate(epoch), trained, np.nan if validation is None else judged)
            for column, number in zip(history.values(), row, strict=True):
                column.append(number)
            progress.advance()
            if judged < least:
                best, least, kept = epoch, judged, deepcopy(network.state_dict())
            elif validation is not None and settings.patience is not None and epoch - best >= settings.patience:
                break
    if validation is not None or diverged:
        network.load_state_dict(kept)
    else:
        best = settings.n_epochs - 1
    network.eval()
    return history, best


def _parameter_groups(network: BagNetwork, settings: Settings) -> list[dict[str, Any]]:
    """Return parameters with their penalties; Adam adds `weight_decay` times a parameter to its gradient."""
    named = dict(network.named_parameters())
    weights = [part for name, part in named.items() if name.endswith("weight")]
    return [
        {"params": [network.layer.frequencies], "weight_decay": settings.frequency_penalty},
        {"params": weights, "weight_decay": settings.output_penalty},
        {"params": [part for name, part in named.items() if name.endswith("bias")]},
    ]


def _train_epoch(
    network: BagNetwork,
    loss: Loss,
    bags: LabelledBags,
    batch_size: int,
    augmentation: Augmentation,
    generator: np.random.Generator,
    optimizer: torch.optim.Optimizer,
) -> float:
    """Go once over all bags and return their mean loss, each at the weights that its batch met."""
    network.train()
    if isinstance(network.norm, nn.BatchNorm1d):
        network.norm.reset_running_stats()  # plain means, which know no forgetting
    total = torch.zeros((), device=bags.rows.device)
    for picked in batches(len(bags), batch_size, generator):
        batch = bags.part(picked)
        sizes = batch.sizes
        rows = batch.rows if augmentation.rows is None else augmentation.rows(batch.rows, sizes)
        batch_loss = (batch.weights * loss(network(rows, sizes, augmentation.phi), batch.targets)).mean()
        optimizer.zero_grad()
        batch_loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += batch_loss.detach() * len(picked)
    return float(total) / len(bags)


def batches(n_bags: int, batch_size: int, generator: np.random.Generator) -> list[Indices]:
    """Return the numbers of all bags in random order, in batches of nearly equal size, at least two bags in each.

    A batch of one bag has no variance to normalise by.
    """
    count = min(-(-n_bags // batch_size), max(n_bags // 2, 1))
    return np.array_split(generator.permutation(n_bags), count)


@torch.no_grad()
def mean_loss(network: BagNetwork, loss: Loss, bags: LabelledBags, augment: PhiAugmentation | None) -> float:
    """Return the weighted mean of the loss over bags."""
    outputs = network.output(inputs_of(network, bags, augment))
    return float((bags.weights * loss(outputs, bags.targets)).sum() / bags.weights.sum())


@torch.no_grad()
def inputs_of(network: BagNetwork, bags: LabelledBags, augment: PhiAugmentation | None) -> Tensor:
    """Return what the linear output gets for bags, each seen by itself; `augment` changes their phi."""
    network.eval()
    phi = characteristic_of(network.layer, bags.rows, bags.offsets)
    if augment is not None:
        phi = augment(phi, bags.sizes, network.layer.frequencies)
    return network.inputs(phi, bags.sizes)


@torch.no_grad()
def characteristic_of(layer: FourierLayer, rows: Tensor, offsets: Indices) -> Tensor:
    """Return phi of each bag, of shape (n_bags, m, 2), a block of rows after the other on the layer's device.

    A bag is cut from its own start, so that what else is in the call does not change how it is summed.
    """
    device = layer.frequencies.device
    block_rows = max(1, _BLOCK_ELEMENTS // len(layer.frequencies))
    # No piece has rows of two bags, or more rows than a block.
    counts = -(-np.diff(offsets) // block_rows)
    bag_of_piece = np.repeat(np.arange(len(counts)), counts)
    number_in_bag = np.arange(len(bag_of_piece)) - np.repeat(np.cumsum(counts) - counts, counts)
    edges = np.append(offsets[bag_of_piece] + block_rows * number_in_bag, offsets[-1])
    sums, first = [], 0
    while first < len(bag_of_piece):
        last = max(first + 1, int(np.searchsorted(edges, edges[first] + block_rows, side="right")) - 1)
        sizes = torch.from_numpy(np.diff(edges[first : last + 1])).to(device)
        phi = layer.characteristic(rows[edges[first] : edges[last]].to(device), sizes)
        sums.append(phi.double() * sizes[:, None, None])
        first = last
    total = torch.zeros(len(offsets) - 1, *sums[0].shape[1:], dtype=torch.float64, device=device)
    total.index_add_(0, torch.from_numpy(bag_of_piece).to(device), torch.cat(sums))
    sizes = torch.from_numpy(np.diff(offsets)).to(device)
    return (total / sizes[:, None, None]).to(layer.frequencies.dtype)


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


def validation_split(
    strata: NDArray[Any], counts: NDArray[np.bool_], fraction: float, generator: np.random.Generator
) -> tuple[Indices, Indices]:
    """Return the numbers of the bags to train on and of those to validate by, among those that count.

    The latter are a fraction of each stratum, at least one bag in all, and never a whole stratum.
    """
    order = generator.permutation(np.flatnonzero(counts))
    members = [order[strata[order] == stratum] for stratum in np.unique(strata[order])]
    numbers = [min(round(fraction * len(bags)), len(bags) - 1) for bags in members]
    if fraction > 0 and not any(numbers):
        numbers[int(np.argmax([len(bags) for bags in members]))] = 1
    validation = np.concatenate([bags[:number] for bags, number in zip(members, numbers, strict=True)])
    if len(order) - len(validation) < 2:
        raise ValueError(
            f"validation_fraction={fraction:g} of {len(order)} bags leaves {len(order) - len(validation)} to train on; "
            "give a smaller one, or 0 for no early stopping"
        )
    return np.setdiff1d(order, validation), np.sort(validation)


@contextmanager
def _limited_torch() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


_one_thread = SharedLimit(_limited_torch)


@contextmanager
def threads_for(elements: float) -> Iterator[None]:
    """Keep torch to one thread where a step has few elements, rows times frequencies.

    At every small step torch's threads wait for each other, for long on busy cores.
    """
    if elements >= _WORTH_THREADS:
        yield
        return
    with _one_thread():
        torch.set_num_threads(1)  # OpenMP counts threads for each caller
        yield


def as_device(device: str) -> torch.device:
    """Return a torch device, the GPU where there is one for "auto"; raise where it is not there."""
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    known: torch.device = torch_device(device, '"auto", ')
    return known


def standard_rows(values: Floats | Tensor, centre: Floats, scale: Floats) -> Tensor:
    """Return rows as a float32 tensor where they are, about a centre and in units of a scale.

    Raises where float32 is not enough.
    """
    if isinstance(values, Tensor):
        standard = (values - as_vector(centre, values.device)).float()
        standard /= as_vector(scale, values.device).float()
    else:
        array = np.empty(values.shape, dtype=np.float32)
        with np.errstate(over="ignore"):
            np.subtract(values, centre, out=array, casting="same_kind")
            array /= scale.astype(np.float32)
        standard = torch.from_numpy(array)
    low, high = (float(value) for value in torch.aminmax(standard))
    largest = max(high, -low)
    if not largest < _LARGEST_ROW:
        raise ValueError(
            f"X reaches {largest:.3g} scales from the mean of the training rows, where float32 has no correct digit of "
            "a phase; clip or transform its columns, or give a larger scale"
        )
    return standard
