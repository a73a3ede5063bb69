"""What the networks' estimators share: reading bags, building the network, training it and predicting."""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.nn import functional

from uptonoise._util.parameters import with_parameters
from uptonoise._util.progress import Progress
from uptonoise._util.random import as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_flag, checked_number, positive_int
from uptonoise.bags import checked_weights
from uptonoise.engines.gpu.rows import TensorRows
from uptonoise.fourier import as_frequencies, median_scale, sample_frequencies
from uptonoise.learning import NOISE_BOUNDS, BagRidgeCV, fitted_columns, given_targets
from uptonoise.nets.inputs import Indices, LabelledBags, Parts, ReadBags, read_bags
from uptonoise.nets.layers import BagNetwork, FourierLayer, Normalisation, PhaseLayer, Statistics
from uptonoise.nets.losses import Loss
from uptonoise.nets.noise import Augmentation, Noise, NoiseSettings
from uptonoise.nets.parameters import PAPER_SETTINGS, Schedule, checked_widths, documented
from uptonoise.nets.saving import SavedNetwork
from uptonoise.nets.steadiness import DROWNING, Steadiness, loudness
from uptonoise.nets.training import (
    Settings,
    as_device,
    characteristic_of,
    solve_output,
    standard_rows,
    threads_for,
    train,
    validation_split,
)
from uptonoise.rows import as_real_array

_MEDIANS = ("median", "median-per-column")


class Targets(NamedTuple):
    """The targets of bags as a loss takes them, a weight for each bag, and strata for the validation part."""

    values: Tensor
    weights: Floats
    strata: NDArray[Any]


class BagNet(SavedNetwork):
    """An estimator that trains a :class:`BagNetwork`; subclasses say which layer, which targets and which loss."""

    _ridge_features: ClassVar[str] = "fourier"

    @classmethod
    def paper(cls, **options: Any) -> Self:
        """Return the paper's setting: batch normalisation, batches of 10 bags, 120 epochs, no early stopping.

        The epsilon of the normalisation and the schedule of the learning rate are those of the authors' public code.
        That code also predicts by the statistics of the test batch: ``statistics="batch"``. Unlike it, the output
        starts at 0, the normalisation has no weights of its own, and an epoch meets each bag once.

        Parameters
        ----------
        **options
            Other parameters of the estimator; :func:`paper_grid` has those that the paper tunes.

        Returns
        -------
        estimator of this class

        Examples
        --------
        >>> from uptonoise.nets import PhaseNetRegressor
        >>> PhaseNetRegressor.paper(learning_rate=0.003).batch_size
        10
        """
        return cls(**(PAPER_SETTINGS | options))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.non_deterministic = self.random_state is None
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    @documented
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        {bags}
            The bags.
        y : array of shape (n_bags,), or (n_bags, n_targets) for the squared loss, optional
            The targets; by default the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            A weight for each bag.

        Returns
        -------
        self
        """
        continues = checked_flag(self.warm_start, "warm_start") and hasattr(self, "network_")
        settings, device = self._settings(), as_device(self.device)
        noise = NoiseSettings.checked(self.noise_augmentation, self.noise_target, self.noise_domain)
        generator = as_generator(self.random_state)
        bags = read_bags(X, self, device, fitted_columns(self) if continues else None)
        if len(bags) < 2:
            raise ValueError(f"X must have at least 2 bags; got n_samples={len(bags)}")
        weights = checked_weights(sample_weight, len(bags))
        if not continues and hasattr(self, "network_"):
            del self.network_  # where this fit fails, there is no model, rather than halves of two
        targets = self._fit_targets(given_targets(y, bags), weights, continues)
        fraction = checked_number(self.validation_fraction, "validation_fraction", most=1.0)
        picked, held_out = validation_split(targets.strata, targets.weights > 0, fraction, generator)
        means, variances = bags.moments()
        if not continues:
            self._fit_rows(bags, means)
        variances = variances / self.scale_**2
        loss = self._loss()
        network = self._start(bags, targets, picked, loss, generator, continues).to(device)
        everything = self._labelled(bags, targets, picked, device)
        augmentation = Augmentation()
        if noise is not None:
            augmentation = noise.augmentation(everything.rows, variances, generator)
        validation = augmentation.judged(everything.part(held_out)) if len(held_out) else None
        parts = Parts(everything, everything.part(picked), validation, held_out)
        progress = Progress(f"training {type(self).__name__}", settings.n_epochs, self.progress, units="epochs")
        history, best_epoch = train(network, loss, parts, settings, augmentation, generator, progress)
        self._finish(network, loss, parts, augmentation)
        self.steadiness_ = self._learn_steadiness(network, loss, parts, variances, generator)
        self.network_ = network.to("cpu")  # so that a pickle can be read where there is no GPU
        before = self.history_ if continues else {}
        self.history_ = {name: np.append(before.get(name, []), np.array(column)) for name, column in history.items()}
        self.best_epoch_ = best_epoch
        self.noise_range_ = None if noise is None else noise.range
        return self

    def _labelled(self, bags: ReadBags, targets: Targets, picked: Indices, device: torch.device) -> LabelledBags:
        """Return bags in the network's units, with weights whose mean over the bags picked is 1."""
        weights = (targets.weights / targets.weights[picked].mean()).astype(np.float32)
        return LabelledBags(
            standard_rows(bags.values, self.centre_, self.scale_).to(device),
            bags.offsets,
            targets.values.to(device),
            torch.from_numpy(weights).to(device),
        )

    def _start(
        self,
        bags: ReadBags,
        targets: Targets,
        picked: Indices,
        loss: Loss,
        generator: np.random.Generator,
        continues: bool,
    ) -> BagNetwork:
        """Return a network to train: a copy of the last one, or a new one that predicts a constant."""
        if continues:
            m = len(self.network_.layer.frequencies)
            if (self.frequencies is None or isinstance(self.frequencies, str)) and self.n_frequencies != m:
                raise ValueError(
                    f"warm_start=True goes on with the network of the last fit, which has {m} frequencies; got "
                    f"n_frequencies={self.n_frequencies!r}"
                )
            return deepcopy(self.network_)
        frequencies = self._first_frequencies(bags, targets, picked, generator)
        seed = int(generator.integers(2**31)) if checked_widths(self.hidden) else 0
        network = self._new_network(frequencies, loss.n_outputs, seed)
        with torch.no_grad():
            network.output.bias.copy_(loss.constant(targets.values[picked]))
        return network

    @property
    def frequencies_(self) -> Floats:
        """The frequencies that were learnt, of shape (m, d), in the units of the data."""
        check_is_fitted(self)
        return np.asarray(self.network_.layer.frequencies.detach().double().numpy() / self.scale_)

    @documented
    def amplitudes(self, X: Any) -> Floats:
        """Return abs(phi) of each bag at the learnt frequencies, to be compared with 1/sqrt(n) for a bag of n rows.

        {bags_to}
        array of shape (n_bags, m)

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise.nets import FourierNetRegressor
        >>> bags = np.random.default_rng(0).gamma(2, size=(30, 20, 1))
        >>> model = FourierNetRegressor(8, n_epochs=2, device="cpu", random_state=0).fit(bags, np.arange(30.0))
        >>> model.amplitudes(bags).shape
        (30, 8)
        """
        _, phi, _ = self._with_phi(X)
        return np.asarray(phi.double().norm(dim=-1).cpu().numpy())

    @abstractmethod
    def _fit_targets(self, y: Any, weights: Floats, continues: bool) -> Targets:
        """Check targets, and learn how they are to be written as numbers unless training continues."""

    @abstractmethod
    def _loss(self) -> Loss:
        """Return what is made small."""

    def _finish(self, network: BagNetwork, loss: Any, parts: Parts, augmentation: Augmentation) -> None:
        """Improve the output of a trained network in place, at the frequencies that were learnt."""
        if self.solve_output:
            solve_output(network, loss, self.output_penalty, parts, augmentation)

    def _learn_steadiness(
        self, network: BagNetwork, loss: Loss, parts: Parts, variances: Floats, generator: np.random.Generator
    ) -> Steadiness | None:
        """Learn from bags kept aside, with noise, how far predictions are shrunk; from all bags where none are."""
        if not checked_flag(self.steady, "steady"):
            return None
        aside = parts.everything.part(parts.held_out) if len(parts.held_out) else parts.everything
        seed = int(generator.integers(2**63))
        noise = Noise(parts.everything.rows, variances, seed, bounds=(*NOISE_BOUNDS, DROWNING))
        return Steadiness.learnt(network, loss, parts.everything, aside, noise)

    def _settings(self) -> Settings:
        rate = checked_number(self.learning_rate, "learning_rate", above=True)
        n_epochs = positive_int(self.n_epochs, "n_epochs")
        batch_size = positive_int(self.batch_size, "batch_size")
        known = get_args(Normalisation)
        if self.normalisation is not None and not (isinstance(self.normalisation, str) and self.normalisation in known):
            raise ValueError(f"normalisation must be one of {', '.join(known)}, or None; got {self.normalisation!r}")
        for name in ("bias", "solve_output"):
            checked_flag(getattr(self, name), name)
        if batch_size < 2 and self.normalisation is not None:
            raise ValueError(f"batch_size must be at least 2 for a normalisation; got {batch_size}")
        checked_choice(self.schedule, get_args(Schedule), "schedule")
        self._check_statistics()
        if self.epsilon is not None:
            checked_number(self.epsilon, "epsilon", above=True)
        return Settings(
            rate,
            rate / n_epochs if self.decay is None else checked_number(self.decay, "decay"),
            n_epochs,
            batch_size,
            checked_number(self.frequency_penalty, "frequency_penalty"),
            checked_number(self.output_penalty, "output_penalty"),
            None if self.patience is None else positive_int(self.patience, "patience"),
            self.schedule,
        )

    def _check_statistics(self) -> None:
        checked_choice(self.statistics, get_args(Statistics), "statistics")
        if self.statistics == "batch" and self.normalisation is None:
            raise ValueError('statistics="batch" has no meaning without a normalisation; got normalisation=None')

    def _fit_rows(self, bags: ReadBags, means: Floats) -> None:
        """Remember the columns, and the centre and the scale of the rows."""
        factor = checked_number(self.scale_factor, "scale_factor", above=True)
        n_columns = len(bags.columns.columns)
        if not isinstance(self.scale, str):
            lengths = as_real_array(self.scale, "scale").astype(np.float64)
            if lengths.shape not in {(), (n_columns,)} or not (np.isfinite(lengths).all() and (lengths > 0).all()):
                raise ValueError(f"scale must be a positive length, or {n_columns} of them; got {self.scale!r}")
        elif self.scale in _MEDIANS:
            sample = TensorRows(bags.values) if isinstance(bags.values, Tensor) else bags.values
            lengths = np.asarray(median_scale(sample, per_column=self.scale == "median-per-column"))
        else:
            raise ValueError(f"scale must be one of {', '.join(_MEDIANS)}, or lengths; got {self.scale!r}")
        self.scale_ = np.broadcast_to(lengths * factor, n_columns).copy()
        self.centre_ = means
        self.n_features_in_ = n_columns
        if bags.columns.named:
            self.feature_names_in_ = np.array(bags.columns.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _first_frequencies(
        self, bags: ReadBags, targets: Targets, picked: Indices, generator: np.random.Generator
    ) -> Floats:
        """Return frequencies to start from in the network's units: sampled, given, or tuned on the bags picked."""
        d = self.n_features_in_
        if self.frequencies is None:
            return np.asarray(sample_frequencies(self.n_frequencies, d, random_state=generator))
        if isinstance(self.frequencies, str):
            if self.frequencies != "ridge":
                raise ValueError(f'frequencies must be an array, "ridge" or None; got {self.frequencies!r}')
            y = targets.values[picked]
            ridge = BagRidgeCV(
                self._ridge_features,
                n_frequencies=self.n_frequencies,
                amplitude="plain",
                cv=min(3, len(picked)),
                random_state=int(generator.integers(2**31)),
            )
            numbers = y if y.is_floating_point() else functional.one_hot(y)
            ridge.fit(bags.part(picked), numbers.double().numpy(), sample_weight=targets.weights[picked])
            return np.asarray(ridge.first_.frequencies_ * (self.scale_ / self.scale_factor))
        return as_frequencies(self.frequencies, d) * (self.scale_ / self.scale_factor)

    @torch.no_grad()
    def _with_phi(self, X: Any) -> tuple[BagNetwork, Tensor, Tensor]:
        """Return the network on the device to use, with phi of each bag and its number of rows there."""
        check_is_fitted(self)
        device = as_device(self.device)
        network = self.network_ if device.type == "cpu" else deepcopy(self.network_).to(device)
        frequencies = network.layer.frequencies
        bags = read_bags(X, self, frequencies.device, fitted_columns(self))
        rows = standard_rows(bags.values, self.centre_, self.scale_)
        with threads_for(len(rows) * len(frequencies)):
            phi = characteristic_of(network.layer, rows, bags.offsets)
        return network, phi, torch.from_numpy(np.diff(bags.offsets)).to(phi.device)

    @torch.no_grad()
    def _predicted(self, X: Any) -> Floats:
        """Return what the outputs for each bag predict, of shape (n_bags, n_outputs)."""
        network, phi, sizes = self._with_phi(X)
        self._check_statistics()
        if self.statistics == "batch" and len(phi) < 2:
            raise ValueError('statistics="batch" needs at least 2 bags in a call; got 1. Use statistics="training"')
        outputs = network.head(phi, sizes, self.statistics)
        predicted = np.asarray(self._loss().predicted(outputs.cpu().double()).numpy())
        return predicted if self.steadiness_ is None else self.steadiness_.applied(predicted, loudness(phi, sizes))


@with_parameters
class OnPhases:
    """The layer of phases in the place of a Fourier layer; put it before the estimator on Fourier features."""

    shrinkage: float = 0.0

    _layer: ClassVar[type[FourierLayer]] = PhaseLayer
    _layer_options: ClassVar[tuple[str, ...]] = ("shrinkage",)
    _ridge_features: ClassVar[str] = "phase"
