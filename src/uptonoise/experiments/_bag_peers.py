"""What people would use instead: summary statistics with boosted trees or forests, mean embeddings, ridge models, nets.

A peer is made by a function of the seed, and is fitted on bags with targets or classes. Where it is trained with noise,
it gets as many noisy copies as our models, with Gaussian noise of the same range of sizes. DeepSets and our networks
are there where torch is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning import BagClassifier, BagRegressor, BagRidgeCV, FourierFeatures, make_bag_classifier, plrr

Make = Callable[[int], Any]

_LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_SIZES = (0.1, 0.35, 0.8, 2.0, 15.0)
"""The bounds of the noise sizes of each copy, in standard deviations of the columns: those of our models."""


def with_noise(bags: Bags, sizes: Any, deviations: Floats, noise: Floats) -> Bags:
    """Return bags with noise of a size for each bag, or for all, in units of the columns' standard deviations.

    `noise` are unit errors of all rows.
    """
    each = np.repeat(np.broadcast_to(sizes, len(bags)), bags.sizes)[:, None] * deviations
    values = bags.values + each * noise
    return Bags.__new__(Bags)._set(values, bags.offsets, bags.ids, bags.labels, bags.columns, bags.named)


def plain_statistics(bags: Bags) -> Floats:
    """Return mean, SD, quantiles and extremes of each column of each bag."""
    parts = [
        [bag.mean(axis=0), bag.std(axis=0), bag.min(axis=0), bag.max(axis=0), *np.quantile(bag, _LEVELS, axis=0)]
        for bag in bags
    ]
    return np.array([np.concatenate(part) for part in parts])


class StatisticsModel:
    """A scikit-learn model on summary statistics of bags, with or without noise in training."""

    def __init__(self, model: Callable[..., Any], noise: bool, seed: int) -> None:
        self.model, self.noise, self.seed = model(random_state=seed), noise, seed

    def fit(self, bags: Bags, y: NDArray[Any]) -> Self:
        """Fit on the bags, and on noisy copies of them."""
        copies = [bags]
        if self.noise:
            generator = np.random.default_rng(self.seed)
            deviations = bags.values.std(axis=0)
            for low, high in pairwise(_SIZES):
                sizes = np.exp(generator.uniform(np.log(low), np.log(high), len(bags)))
                copies.append(with_noise(bags, sizes, deviations, generator.standard_normal(bags.values.shape)))
        self.model.fit(np.concatenate([plain_statistics(copy) for copy in copies]), np.tile(y, len(copies)))
        return self

    def predict(self, bags: Bags) -> Any:
        """Return what the model predicts."""
        return self.model.predict(plain_statistics(bags))


BOOSTED = "boosted statistics, with noise"
"""The name of the peer that others are compared with."""
OURS = "ours"

REGRESSORS: dict[str, Make] = {
    OURS: lambda seed: BagRegressor(random_state=seed),
    BOOSTED: partial(StatisticsModel, HistGradientBoostingRegressor, True),
    "boosted statistics": partial(StatisticsModel, HistGradientBoostingRegressor, False),
    "forest of statistics, with noise": partial(StatisticsModel, ExtraTreesRegressor, True),
    "BagRidgeCV": lambda seed: BagRidgeCV(random_state=seed),
    "BagRidgeCV, against noise": lambda seed: BagRidgeCV(noise_augmentation=9.0, random_state=seed),
    "plrr": lambda seed: plrr(random_state=seed),
}
CLASSIFIERS: dict[str, Make] = {
    OURS: lambda seed: BagClassifier(random_state=seed),
    BOOSTED: partial(StatisticsModel, HistGradientBoostingClassifier, True),
    "boosted statistics": partial(StatisticsModel, HistGradientBoostingClassifier, False),
    "forest of statistics, with noise": partial(StatisticsModel, ExtraTreesClassifier, True),
    "mean embedding": lambda seed: make_pipeline(
        FourierFeatures(scale="median-per-column", random_state=seed),
        StandardScaler(),
        LogisticRegression(max_iter=5_000),
    ),
    "phases": lambda seed: make_bag_classifier(random_state=seed),
}
HAS_TORCH = find_spec("torch") is not None
"""Whether DeepSets and our networks are among the models."""


def _in_torch(name: str, **options: Any) -> Make:
    """Return what makes DeepSets or a network of ours; torch is imported only then."""

    def make(seed: int) -> Any:
        if name == "DeepSets":
            from uptonoise.experiments._deep_sets import DeepSets

            return DeepSets(seed=seed, **options)
        from uptonoise import nets

        return getattr(nets, name)(device="cpu", progress=False, random_state=seed)

    return make


if HAS_TORCH:
    for _models, _classes, _kind in ((REGRESSORS, False, "Regressor"), (CLASSIFIERS, True, "Classifier")):
        _models["DeepSets, with noise"] = _in_torch("DeepSets", classes=_classes, noise=True)
        _models["DeepSets"] = _in_torch("DeepSets", classes=_classes, noise=False)
        _models["phase network"] = _in_torch(f"PhaseNet{_kind}")
        _models["Fourier network"] = _in_torch(f"FourierNet{_kind}")
