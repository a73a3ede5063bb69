"""Regression on bags by networks with learnt frequencies: means, or quantiles that never cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from sklearn.base import RegressorMixin

from uptonoise._util.parameters import with_parameters
from uptonoise._util.typing import Floats
from uptonoise.learning import checked_targets
from uptonoise.nets.base import BagNet, OnPhases, Targets
from uptonoise.nets.inputs import Parts
from uptonoise.nets.layers import BagNetwork
from uptonoise.nets.losses import Loss, PinballLoss, SquaredLoss, as_quantiles
from uptonoise.nets.noise import Augmentation
from uptonoise.nets.parameters import documented
from uptonoise.nets.training import inputs_of

Calibration = Literal["all", "validation"]


@documented
@with_parameters
class FourierNetRegressor(RegressorMixin, BagNet):  # type: ignore[misc]
    """The paper's Fourier network: regression on Fourier features of bags, at frequencies that are learnt.

    {vectors}
    {quantiles}

    See Also
    --------
    PhaseNetRegressor : The same on phases, which Gaussian and similar noise does not change.

    {examples}
    >>> X = rng.uniform(-3, 3, size=(300, 1))
    >>> plain = {"noise_augmentation": None, "steady": False}  # nothing tells how noisy a single row is
    >>> model = un.nets.FourierNetRegressor(20, hidden=(), n_epochs=20, learning_rate=0.03, random_state=0, **plain)
    >>> model.fit(X[:200], np.sin(2 * X[:200, 0])).score(X[200:], np.sin(2 * X[200:, 0])) > 0.9
    True
    """

    quantiles: float | Sequence[float] | None = None
    calibration: Calibration | None = "all"

    @documented
    def predict(self, X: Any) -> Floats:
        """Predict the target of each bag; with ``statistics="training"`` it does not depend on the other bags.

        {bags_to}
        array of shape (n_bags,) or (n_bags, n_targets)
            Means, or the quantile that is nearest to the median.
        """
        predicted = self._predicted(X) * self.target_scale_ + self.target_mean_
        if self.quantiles_ is not None:
            return predicted[:, int(np.argmin(np.abs(self.quantiles_ - 0.5)))]
        return predicted[:, 0] if self._y_is_flat else predicted

    @documented
    def predict_quantiles(self, X: Any) -> Floats:
        """Predict the quantiles of the target of each bag.

        {bags_to}
        array of shape (n_bags, n_quantiles)
            In increasing order.

        {gamma_bags}
        >>> model = un.nets.PhaseNetRegressor(20, quantiles=(0.1, 0.5, 0.9), n_epochs=5, device="cpu", random_state=0)
        >>> low, middle, high = model.fit(bags, shapes).predict_quantiles(bags).T
        >>> bool(((low <= middle) & (middle <= high)).all())
        True
        """
        predicted = self._predicted(X) * self.target_scale_ + self.target_mean_
        if self.quantiles_ is None:
            raise ValueError("predict_quantiles needs a model with quantiles, such as quantiles=(0.1, 0.5, 0.9)")
        return predicted

    def _fit_targets(self, y: Any, weights: Floats, continues: bool) -> Targets:
        values = checked_targets(y, len(weights))
        table = values[:, None] if values.ndim == 1 else values
        quantiles = None if self.quantiles is None else as_quantiles(self.quantiles)
        if quantiles is not None and table.shape[1] > 1:
            raise ValueError(f"y must have one target per bag for quantiles; got {table.shape[1]} targets")
        known = get_args(Calibration)
        if self.calibration is not None and not (isinstance(self.calibration, str) and self.calibration in known):
            raise ValueError(f"calibration must be one of {', '.join(known)}, or None; got {self.calibration!r}")
        if quantiles is not None and self.calibration == "validation" and self.validation_fraction == 0:
            raise ValueError('calibration="validation" needs a validation_fraction above 0; or use "all"')
        if not continues:
            mean = np.average(table, axis=0, weights=weights)
            scale = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))
            self.target_mean_: Floats = mean
            self.target_scale_: Floats = np.where(scale > 0, scale, 1.0)
            self.quantiles_: Floats | None = quantiles
            self._y_is_flat = values.ndim == 1
        elif table.shape[1] != len(self.target_mean_) or not np.array_equal(quantiles, self.quantiles_):  # type: ignore[arg-type]
            raise ValueError("warm_start=True goes on with the targets and the quantiles of the last fit; got others")
        standard = ((table - self.target_mean_) / self.target_scale_).astype(np.float32)
        return Targets(torch.from_numpy(standard), weights, np.zeros(len(table)))

    def _finish(self, network: BagNetwork, loss: Any, parts: Parts, augmentation: Augmentation) -> None:
        if not isinstance(loss, PinballLoss):
            super()._finish(network, loss, parts, augmentation)
        elif self.calibration is not None:
            aside = parts.validation if self.calibration == "validation" else None
            by = augmentation.judged(parts.everything) if aside is None else aside
            with torch.no_grad():
                outputs = network.output(inputs_of(network, by, augmentation.judged_phi))
                network.output.bias.add_(loss.shift(outputs, by.targets, by.weights))

    def _loss(self) -> Loss:
        return SquaredLoss(len(self.target_mean_)) if self.quantiles_ is None else PinballLoss(self.quantiles_)

    def _target_state(self) -> dict[str, Any]:
        return {
            "mean": self.target_mean_.tolist(),
            "scale": self.target_scale_.tolist(),
            "y_is_flat": self._y_is_flat,
            "quantiles": None if self.quantiles_ is None else self.quantiles_.tolist(),
        }

    def _set_target_state(self, state: dict[str, Any]) -> None:
        self.target_mean_, self.target_scale_ = np.array(state["mean"]), np.array(state["scale"])
        self._y_is_flat = bool(state["y_is_flat"])
        self.quantiles_ = None if state["quantiles"] is None else np.array(state["quantiles"])


@documented
@with_parameters
class PhaseNetRegressor(OnPhases, FourierNetRegressor):
    """The paper's phase network: regression on phase features of bags, at frequencies that are learnt.

    {phases}
    {quantiles}

    See Also
    --------
    FourierNetRegressor : The same with the amplitude.

    {gamma_bags}
    >>> model = un.nets.PhaseNetRegressor(n_frequencies=20, n_epochs=20, device="cpu", random_state=0)
    >>> model.fit(bags[:150], shapes[:150]).score(bags[150:], shapes[150:]) > 0.7
    True
    """
