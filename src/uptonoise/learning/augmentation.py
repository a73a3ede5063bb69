"""Noise without rows: what noise in the data would make of characteristic functions.

Noise with the characteristic function g multiplies that of a bag of N rows by g(w) > 0, and adds an error, since the
pair [cos, sin] of each row is turned by its own noise. For Gaussian noise with variances z_j of the columns, at the
frequency w

    phi'  =  g phi + e        g = exp(-sum_j z_j w_j^2 / 2)

where e has a variance of (1 - g^2)/N. The errors at nearby frequencies are similar, and a model that takes them to be
independent relies on sums that do not help. So errors are sampled as they arise: from a few rows x of any bag with
noise d,

    e  =  sqrt(K/N) (mean_K exp(i w (x + d)) - g mean_K exp(i w x))        K = 16

So noise costs a few rows for each bag, however many rows it has, and a model can be fitted against noise that its bags
do not have.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags, offsets_of
from uptonoise.fourier import Characteristic, characteristic_function
from uptonoise.learning.docs import described
from uptonoise.learning.inputs import bag_source, bags_in_memory, bags_of
from uptonoise.learning.targets import given_targets

_CHUNK_ROWS = 65_536
VIRTUAL_ROWS = 16
_CHUNK_BAGS = 4_096
_REPEATED_COPIES = 4


def pooled_variances(bags: Bags) -> Floats:
    """Return the variance of each column over the rows of all bags."""
    centre = np.asarray(bags.values[0], dtype=np.float64)
    total, squares = np.zeros(bags.n_columns), np.zeros(bags.n_columns)
    for block in BagRows(bags).blocks(_CHUNK_ROWS):
        moved = block.values - centre
        total += moved.sum(axis=0)
        squares += (moved**2).sum(axis=0)
    n_rows = len(bags.values)
    return np.asarray(np.maximum(squares / n_rows - (total / n_rows) ** 2, 0.0))


def with_noise(
    characteristic: Characteristic,
    frequencies: Floats,
    rows: NDArray[np.floating],
    variances: Floats,
    levels: Floats,
    generator: np.random.Generator,
) -> Characteristic:
    """Return the characteristic functions of bags with Gaussian noise, of another variance in each bag and column.

    Errors are made of a sample of `rows`, which are those of any bags. The noise of a column has a variance between 0
    and the bag's own number of `levels` times that of the column.
    """
    n_bags, n_columns = len(characteristic.phi), frequencies.shape[1]
    noise = generator.random((n_bags, n_columns)) * levels[:, None] * variances
    damping = np.exp(-0.5 * noise @ np.asarray(frequencies).T ** 2)
    phi = damping * characteristic.phi
    for start in range(0, n_bags, _CHUNK_BAGS):
        part = slice(start, start + _CHUNK_BAGS)
        deviations = np.sqrt(noise[part])[:, None]
        sample = rows[generator.integers(len(rows), size=(len(deviations), VIRTUAL_ROWS))]
        noisy = characteristic_function(sample + deviations * generator.standard_normal(sample.shape), frequencies).phi
        errors = noisy - damping[part] * characteristic_function(sample, frequencies).phi
        phi[part] += np.sqrt(VIRTUAL_ROWS / characteristic.effective_size[part, None]) * errors
    return characteristic._replace(phi=phi)


def bags_with_copies(bags: Bags, level: float, variances: Floats, seed: int) -> Bags:
    """Return the bags as they are, and then noisy copies of all of them.

    The noise of a copy has a variance between 0 and `level` times those of the columns. That of a bag depends on its
    own rows and the seed only, not on other bags: it is the same in every fold of a search.
    """
    if level == 0:
        return bags
    generators = [np.random.default_rng([seed, zlib.crc32(np.ascontiguousarray(bag).tobytes())]) for bag in bags]
    copies = [bags.values]
    for _ in range(_REPEATED_COPIES):
        noise = [
            np.sqrt(generator.uniform(0, level) * variances) * generator.standard_normal(bag.shape)
            for generator, bag in zip(generators, bags, strict=True)
        ]
        copies.append(bags.values + np.concatenate(noise))
    offsets, ids = offsets_of(np.tile(bags.sizes, len(copies))), np.arange(len(copies) * len(bags))
    return Bags._in_order(np.concatenate(copies), offsets, ids, None, bags.columns, bags.named)


def checked_noise_sizes(name: str, levels: Any) -> tuple[float, ...]:
    """Return noise sizes, one or several, that are not negative."""
    given = levels if isinstance(levels, Sequence | np.ndarray) and not isinstance(levels, str) else (levels,)
    is_size = [isinstance(size, Real) and not isinstance(size, bool) and 0 <= float(size) < np.inf for size in given]
    if not is_size or not all(is_size):
        raise ValueError(f"{name} must be a noise size that is not negative, or several of them; got {levels!r}")
    return tuple(float(size) for size in given)


def checked_noise_range(target: Any, highest: float) -> tuple[float, float]:
    """Return the range of noise sizes that a model is tuned for; from 0 to `highest` where none is given."""
    wanted = (0.0, highest) if target is None else checked_noise_sizes("noise_target", target)
    if len(wanted) != 2 or wanted[0] > wanted[1]:
        raise ValueError(f"noise_target must be a range of noise sizes, the smaller first; got {target!r}")
    return wanted[0], wanted[1]


def check_no_target(target: Any) -> None:
    """Raise where a target is given and no noise to fit against."""
    if target is not None:
        raise ValueError("noise_target has no meaning without noise_augmentation; give both or none")


def _inner_has(name: str) -> Callable[[Any], bool]:
    """Return what tells whether the estimator inside has a method."""
    return lambda augmented: hasattr(augmented.transformer, name)


class NoiseAugmented(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A model of bags that is fitted on noisy copies of them too; or features that are noisy while a model is fitted.

    Around an estimator that predicts, such as a Pipeline of :class:`~uptonoise.BagSummary` and any scikit-learn model:
    ``fit`` adds noisy copies of the bags, and ``predict`` takes bags as they are. The noise of a bag depends on its own
    rows and the seed, so that it is the same in every fold of a search.

    Around :class:`~uptonoise.PhaseFeatures` or :class:`~uptonoise.FourierFeatures`: in a Pipeline the steps before the
    model are fitted by ``fit_transform``, which here adds the effect of Gaussian noise to the characteristic functions
    (see :mod:`uptonoise.learning.augmentation`); ``transform`` adds none. :class:`~uptonoise.BagRidgeCV` does the same
    with several copies of each bag.

    Parameters
    ----------
    transformer : estimator that predicts, PhaseFeatures or FourierFeatures
        The model, or the features.
    level : float
        The largest noise size: the noise of each bag and column has a variance between 0 and `level` times that of the
        column.
    random_state : None, int, Generator or RandomState
        The seed of the noise.

    Attributes
    ----------
    transformer_ : estimator or transformer
        The model, fitted on bags with and without noise; or the features, fitted on bags without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from uptonoise import NoiseAugmented, PhaseFeatures
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.uniform(1, 6, size=(100, 1, 1))
    >>> bags = rng.gamma(shapes, size=(100, 50, 1))
    >>> features = NoiseAugmented(PhaseFeatures(20, random_state=0), level=1.0, random_state=0)
    >>> make_pipeline(features, Ridge(0.1)).fit(bags, shapes.ravel()).predict(bags).shape
    (100,)

    Around any model:

    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> from uptonoise import BagSummary
    >>> trees = make_pipeline(BagSummary(random_state=0), ExtraTreesRegressor(10, random_state=0))
    >>> NoiseAugmented(trees, level=1.0, random_state=0).fit(bags, shapes.ravel()).predict(bags).shape
    (100,)
    """

    def __init__(self, transformer: Any, level: float = 1.0, *, random_state: RandomState = None) -> None:
        self.transformer = transformer
        self.level = level
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        if hasattr(self.transformer, "predict"):
            inner = get_tags(self.transformer)
            tags.estimator_type = inner.estimator_type
            tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags

    @described
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model on bags with and without noise, or the features on the bags without noise.

        {bags_to_fit}
        self
        """
        if not hasattr(self.transformer, "predict"):
            if not hasattr(self.transformer, "from_characteristic"):
                wanted = "an estimator that predicts, PhaseFeatures or FourierFeatures"
                raise ValueError(f"transformer must be {wanted}; got {self.transformer!r}")
            self.transformer_ = clone(self.transformer).fit(X)
            self.n_features_in_ = self.transformer_.n_features_in_
            return self
        bags = bags_in_memory(X)
        (level,) = checked_noise_sizes("level", [self.level])
        targets = np.asarray(given_targets(y, bags))
        if targets.shape[:1] != (len(bags),):
            raise ValueError(f"y must have one target for each of {len(bags)} bags; got shape {targets.shape}")
        seed = int(as_generator(self.random_state).integers(2**31))
        copies = bags_with_copies(bags, level, pooled_variances(bags), seed)
        self.transformer_ = clone(self.transformer).fit(copies, np.concatenate([targets] * (len(copies) // len(bags))))
        self.n_features_in_, self.noise_range_ = bags.n_columns, (0.0, level)
        if hasattr(self.transformer_, "classes_"):
            self.classes_ = self.transformer_.classes_
        return self

    @available_if(_inner_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the model predicts of bags as they are."""
        check_is_fitted(self)
        return np.asarray(self.transformer_.predict(bags_in_memory(X)))

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for bags as they are."""
        check_is_fitted(self)
        return np.asarray(self.transformer_.predict_proba(bags_in_memory(X)))

    @available_if(_inner_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the model on bags as they are; `y` is what ``fit`` takes."""
        check_is_fitted(self)
        bags = bags_in_memory(X)
        return float(self.transformer_.score(bags, given_targets(y, bags)))

    @described
    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit the features, and return those of the bags with noise.

        {bags_to_fit}
        array of shape (n_bags, n_features_out), or as :meth:`transform` returns it
        """
        (level,) = checked_noise_sizes("level", [self.level])
        bags = X if isinstance(X, Bags) else bags_of(bag_source(X, self))
        self.fit(X)
        generator = as_generator(self.random_state)
        characteristic = self.transformer_.characteristic(bags)
        levels = generator.uniform(0, level, len(bags))
        frequencies, variances = self.transformer_.frequencies_, pooled_variances(bags)
        noisy = with_noise(characteristic, frequencies, bags.values, variances, levels, generator)
        features: Floats = self.transformer_.from_characteristic(noisy)
        return features

    def transform(self, X: Any) -> Floats:
        """Return the features of the bags without noise, of shape (n_bags, 2m)."""
        check_is_fitted(self)
        features: Floats = self.transformer_.transform(X)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features."""
        check_is_fitted(self)
        names: NDArray[Any] = self.transformer_.get_feature_names_out(input_features)
        return names
