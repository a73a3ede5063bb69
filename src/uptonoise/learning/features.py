"""Scikit-learn transformers from bags to vectors, read off the characteristic function phi of each bag.

With m frequencies, in the paper's order and with its factor:

==================  =============================================================
Fourier features    sqrt(1/m) [Re phi_1, Im phi_1, Re phi_2, ...]
phase features      the same of phi/abs(phi), a vector of norm 1
mean features       the mean of each column
==================  =============================================================

Rows of an array or a frame are bags of one row, so that the Fourier features of vectors are random Fourier features of
a kernel between them: the second level of a model on bags. All sums over rows run on the library's own threads (see
``UPTONOISE_NUM_THREADS``), which is why nothing here has ``n_jobs``.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats, Precision
from uptonoise._util.validation import checked_flag
from uptonoise.bags import BagRows, Bags
from uptonoise.fourier import (
    Characteristic,
    CosineSine,
    Law,
    Method,
    RowFeatures,
    as_frequencies,
    characteristic_function,
    check_precision,
    fourier_features,
    median_scale,
    sample_frequencies,
    unit,
)
from uptonoise.learning.augmentation import checked_levels, pooled_variances, with_noise
from uptonoise.learning.reliability import Reliability
from uptonoise.rows import (
    Accumulator,
    ArrayRows,
    Block,
    FrameRows,
    RowSource,
    SelectedRows,
    aligned,
    as_column_names,
    as_real_array,
    as_rows,
    is_series,
    is_tensor,
    numbered_columns,
    read_rows,
)

Amplitude = Literal["plain", "shrunk"]

_BLOCK_ROWS = 65_536
_BAGS_AT_ONCE = 4_096
_MEDIANS = ("median", "median-per-column")
_NAMES_SHOWN = 8


@dataclass
class _FittedColumns:
    """The columns that a transformer was fitted on, for matching and for messages."""

    name: str
    columns: tuple[str, ...]
    named: bool


class _BagTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What transformers of bags share: reading bags or vectors, and matching their columns with those of fit."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def _fitting_rows(self, X: Any) -> RowSource:
        """Return the rows to fit on, and remember their columns."""
        source = _as_source(X, self)
        self.n_features_in_ = len(source.columns)
        if source.named:
            self.feature_names_in_ = np.array(source.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return source

    def fitted_rows(self, X: Any) -> RowSource:
        """Return the rows to transform, with the columns of fit in the order of fit."""
        check_is_fitted(self)
        source = _as_source(X, self)
        named = hasattr(self, "feature_names_in_")
        columns = tuple(self.feature_names_in_) if named else numbered_columns(self.n_features_in_)
        if len(source.columns) != len(columns):
            both = f": it has {_listed(source.columns)}, and fit had {_listed(columns)}" if named else ""
            raise ValueError(  # in the words that scikit-learn's checks look for
                f"X has {len(source.columns)} features, but {type(self).__name__} is expecting {len(columns)} features "
                f"as input{both}"
            )
        return aligned(source, _FittedColumns("the data of fit", columns, named))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")


def _as_source(X: Any, estimator: BaseEstimator) -> RowSource:
    """Return bags, or vectors as one sample of rows; numbers without a second axis could be either."""
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is empty; at least one bag is needed")
    if _is_plain_array(X):
        X = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X", estimator=estimator)
    source = as_rows(X)
    if source.bag_ids is None and _has_one_axis(X):
        raise ValueError(
            "X must be bags (a Bags, a list of arrays, a 3-D array), or vectors in 2 dimensions; got one dimension. "
            "Give [X] for one bag of one column, or reshape it to one column for bags of one row each"
        )
    return source


def _is_plain_array(X: Any) -> bool:
    """Tell whether `X` is an array that scikit-learn can judge: not bags, and without a mask that it would drop."""
    if not isinstance(X, np.ndarray) or isinstance(X, np.ma.MaskedArray):
        return False
    return X.ndim != 3 and not (X.ndim == 1 and X.dtype == object)


def _has_one_axis(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return np.ndim(X[0]) == 0
    if isinstance(X, np.ndarray) or is_tensor(X):
        return bool(X.ndim == 1)
    return is_series(X)


class _FrequencyFeatures(_BagTransformer, ABC):
    """Vectors from the characteristic function of each bag at random frequencies; a subclass says which."""

    frequencies_: Floats
    scale_: float | Floats
    _name: str

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        law: Law = "gaussian",
        scale: ArrayLike = "median",
        scale_factor: float = 1.0,
        method: Method = "iid",
        nu: float = 1.5,
        frequencies: ArrayLike | None = None,
        precision: Precision = "fast",
        random_state: RandomState = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.law = law
        self.scale = scale
        self.scale_factor = scale_factor
        self.method = method
        self.nu = nu
        self.frequencies = frequencies
        self.precision = precision
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the frequencies.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        self
        """
        source = self._fitting_rows(X)
        self._choose_frequencies(source)
        if self._learns():
            self._learn(self._characteristic(source))
        elif not self._has_median():  # which reads all rows
            source.check()
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Choose the frequencies and return the features of the same bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        array of shape (n_bags, 2m)
        """
        source = self._fitting_rows(X)
        self._choose_frequencies(source)
        found = self._characteristic(source)
        if self._learns():
            self._learn(found)
        return self._features_in_place(found)

    def transform(self, X: Any) -> Floats:
        """Return the features of each bag, in the order of the bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags. Columns are matched by name where both these and those of fit have names.

        Returns
        -------
        array of shape (n_bags, 2m)
        """
        return self._features_in_place(self._characteristic(self.fitted_rows(X)))

    def characteristic(self, X: Any) -> Characteristic:
        """Return the characteristic function of each bag at the frequencies, with the number of its rows.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.

        Returns
        -------
        Characteristic
        """
        return self._characteristic(self.fitted_rows(X))

    def from_characteristic(self, found: Characteristic) -> Floats:
        """Return the features of bags whose characteristic functions are known, as :meth:`characteristic` gives them.

        Parameters
        ----------
        found : Characteristic
            The characteristic functions, of shape (n_bags, m), and the numbers of rows.

        Returns
        -------
        array of shape (n_bags, 2m)
        """
        check_is_fitted(self)
        return self._features(found)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, such as ``phase_re0``, ``phase_im0``, ``phase_re1``, ...

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns, which are checked and not used.

        Returns
        -------
        array of shape (2m,)
        """
        super().get_feature_names_out(input_features)
        numbers_of_waves = range(len(self.frequencies_))
        return np.array([f"{self._name}_{part}{j}" for j in numbers_of_waves for part in ("re", "im")], dtype=object)

    def _has_median(self) -> bool:
        return self.frequencies is None and isinstance(self.scale, str)

    def _choose_frequencies(self, source: RowSource) -> None:
        check_precision(self.precision)
        factor = self.scale_factor
        if not isinstance(factor, numbers.Real) or isinstance(factor, bool) or not 0 < factor < np.inf:
            raise ValueError(f"scale_factor must be a positive number; got {factor!r}")
        if self.frequencies is None:
            self.scale_ = _scaled(self._base_scale(source), float(factor))
            self.frequencies_ = sample_frequencies(
                self.n_frequencies,
                self.n_features_in_,
                self.law,
                self.scale_,
                self.method,
                nu=self.nu,
                random_state=self.random_state,
            )
            return
        if not (isinstance(self.scale, str) and self.scale == "median"):
            raise ValueError(f"scale has no meaning for frequencies that are given; got scale={self.scale!r}")
        self.scale_ = float(factor)
        self.frequencies_ = as_frequencies(self.frequencies, self.n_features_in_) / self.scale_

    def _base_scale(self, source: RowSource) -> ArrayLike:
        if not isinstance(self.scale, str):
            return self.scale
        if self.scale not in _MEDIANS:
            raise ValueError(f"scale must be one of {', '.join(_MEDIANS)}, or a length; got {self.scale!r}")
        if source.n_rows == 1:
            raise ValueError(f"scale={self.scale!r} is a distance between rows, and X is only 1 sample; give a length")
        return median_scale(source, per_column=self.scale == "median-per-column")

    def _characteristic(self, source: RowSource) -> Characteristic:
        if source.bag_ids is not None:
            return characteristic_function(source, self.frequencies_, precision=self.precision)
        waves = CosineSine(np.asarray(self.frequencies_), self.precision, source.name)
        phi = source.fold(RowFeatures(waves)).total()
        return Characteristic(phi, np.ones(len(phi)), np.ones(len(phi)))

    def _learns(self) -> bool:
        """Tell whether more than frequencies is learnt from the bags."""
        return False

    def _learn(self, found: Characteristic) -> None:
        """Learn from the characteristic functions of the bags."""

    def _features_in_place(self, found: Characteristic) -> Floats:
        """Return the features where the characteristic functions were, some bags at a time.

        Of many bags these are most of the memory that there is, and each copy would take as much again.
        """
        phi = np.ascontiguousarray(found.phi)
        features = phi.view(np.float64)
        for start in range(0, len(phi), _BAGS_AT_ONCE):
            some = slice(start, start + _BAGS_AT_ONCE)
            features[some] = self._features(Characteristic(phi[some], found.weight[some], found.weight_squares[some]))
        return features

    @abstractmethod
    def _features(self, found: Characteristic) -> Floats:
        """Return the features of bags from their characteristic functions."""


def _scaled(scale: ArrayLike, factor: float) -> Any:
    """Return lengths times a factor, or a covariance times its square."""
    lengths = as_real_array(scale, "scale").astype(np.float64)
    scaled = lengths * factor ** max(lengths.ndim, 1)
    return float(scaled) if scaled.ndim == 0 else scaled


class FourierFeatures(_FrequencyFeatures):
    """Fourier features of bags: their characteristic functions at random frequencies.

    The inner product of two such vectors is that of the bags' kernel mean embeddings, and their squared distance is
    :func:`~uptonoise.mmd`. For vectors it is the kernel itself, approximated by random Fourier features.

    Parameters
    ----------
    n_frequencies : int
        How many frequencies, m; there are 2m features.
    law : {"gaussian", "laplace", "matern", "radial"}
        The kernel, as for :func:`~uptonoise.sample_frequencies`.
    scale : "median", "median-per-column", float, or array
        The length scale of the kernel: the median heuristic on the rows that it is fitted on, the same for each column
        by itself, or lengths in the data's units as for :func:`~uptonoise.sample_frequencies`.
    scale_factor : float
        The length scale is `scale` times this: the number to tune. The directions of the frequencies depend on the seed
        only, not on the scale: with `random_state` an int, all values of a search have the same ones.
    method : {"iid", "orthogonal", "sobol"}
        How to draw, as for :func:`~uptonoise.sample_frequencies`.
    nu : float
        The smoothness of "matern".
    frequencies : array of shape (m, d), optional
        Frequencies to use instead of a draw, each divided by `scale_factor`. The other parameters of the draw have no
        meaning then; a `scale` is refused.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Attributes
    ----------
    frequencies_ : array of shape (m, d)
        The frequencies.
    scale_ : float or array
        The length scale that they were drawn with, `scale_factor` included; `scale_factor` for `frequencies` given.
    n_features_in_ : int
        The number of columns, d.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data.

    See Also
    --------
    PhaseFeatures : The same without the amplitude, which symmetric noise changes.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.learning.features import FourierFeatures
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 2)) for n in (50, 80, 30)]
    >>> FourierFeatures(n_frequencies=10, random_state=0).fit_transform(bags).shape
    (3, 20)

    On vectors, the inner products are near the Gaussian kernel:

    >>> X = rng.normal(size=(4, 3))
    >>> Z = FourierFeatures(n_frequencies=20_000, scale=2.0, random_state=0).fit_transform(X)
    >>> kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * 2.0**2))
    >>> np.allclose(Z @ Z.T, kernel, atol=0.02)
    True
    """

    _name = "fourier"

    def _features(self, found: Characteristic) -> Floats:
        return fourier_features(found.phi)


class PhaseFeatures(_FrequencyFeatures):
    """Phase features of bags: Fourier features without the amplitude, which symmetric noise changes.

    Additive noise with a positive characteristic function multiplies that of a bag by positive numbers, so that
    phi/abs(phi) stays. The squared distance of two such vectors is :func:`~uptonoise.phd`, and each has norm 1 (a
    frequency where phi is 0 counts 0).

    Where abs(phi) is near its sampling error, 1/sqrt(n) for a bag of n rows, the phase is mostly noise, and a model
    that takes it at its word does worse than the mean. So a phase that is less reliable than those of the bags that
    were fitted is drawn to their mean; :mod:`uptonoise.learning.reliability` has the formulas. The paper's features are those
    with ``amplitude="plain"``.

    Parameters
    ----------
    n_frequencies : int
        How many frequencies, m; there are 2m features.
    amplitude : {"shrunk", "plain"}
        What becomes of phases that are not reliable: drawn to the mean of the bags that were fitted, or left as they
        are, as in the paper.
    bounded : bool
        Whether "shrunk" takes no phase for less reliable than nearly all of the bags that were fitted. It is for models
        that know how reliable their predictions are, as :class:`~uptonoise.BagRidgeCV` does.
    law : {"gaussian", "laplace", "matern", "radial"}
        Where the frequencies come from, as for :func:`~uptonoise.sample_frequencies`.
    scale : "median", "median-per-column", float, or array
        The length scale: the median heuristic on the rows that it is fitted on, the same for each column by itself, or
        lengths in the data's units as for :func:`~uptonoise.sample_frequencies`.
    scale_factor : float
        The length scale is `scale` times this: the number to tune. The directions of the frequencies depend on the seed
        only, not on the scale: with `random_state` an int, all values of a search have the same ones.
    method : {"iid", "orthogonal", "sobol"}
        How to draw, as for :func:`~uptonoise.sample_frequencies`.
    nu : float
        The smoothness of "matern".
    frequencies : array of shape (m, d), optional
        Frequencies to use instead of a draw, each divided by `scale_factor`. The other parameters of the draw have no
        meaning then; a `scale` is refused.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Attributes
    ----------
    frequencies_ : array of shape (m, d)
        The frequencies.
    scale_ : float or array
        The length scale that they were drawn with, `scale_factor` included; `scale_factor` for `frequencies` given.
    n_features_in_ : int
        The number of columns, d.
    reliability_ : Reliability
        What "shrunk" learnt from the bags.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data.

    See Also
    --------
    FourierFeatures : The same with the amplitude.

    Examples
    --------
    Noise hardly moves them; it moves Fourier features a lot:

    >>> import numpy as np
    >>> from uptonoise.learning.features import FourierFeatures, PhaseFeatures
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.exponential(size=(5, 10_000, 2))
    >>> noisy = clean + rng.laplace(size=clean.shape)
    >>> def moved(features):
    ...     return np.linalg.norm(features.fit_transform(clean) - features.transform(noisy), axis=1)
    >>> bool((moved(PhaseFeatures(scale=2.0, random_state=0)) < 0.05).all())
    True
    >>> bool((moved(FourierFeatures(scale=2.0, random_state=0)) > 0.2).all())
    True
    """

    _name = "phase"
    reliability_: Reliability

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        amplitude: Amplitude = "shrunk",
        bounded: bool = False,
        law: Law = "gaussian",
        scale: ArrayLike = "median",
        scale_factor: float = 1.0,
        method: Method = "iid",
        nu: float = 1.5,
        frequencies: ArrayLike | None = None,
        precision: Precision = "fast",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_frequencies,
            law=law,
            scale=scale,
            scale_factor=scale_factor,
            method=method,
            nu=nu,
            frequencies=frequencies,
            precision=precision,
            random_state=random_state,
        )
        self.amplitude = amplitude
        self.bounded = bounded

    def amplitudes(self, X: Any) -> Floats:
        """Return abs(phi) of each bag at each frequency, to be compared with 1/sqrt(n) for a bag of n rows.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.

        Returns
        -------
        array of shape (n_bags, m)

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise.learning.features import PhaseFeatures
        >>> bags = [np.array([-1.0, 1.0]), np.array([0.5])]
        >>> PhaseFeatures(frequencies=[np.pi / 3]).fit(bags).amplitudes(bags).round(3)
        array([[0.5],
               [1. ]])
        """
        return np.abs(self._characteristic(self.fitted_rows(X)).phi)

    def _learns(self) -> bool:
        if self.amplitude not in get_args(Amplitude):
            raise ValueError(f"amplitude must be one of {', '.join(get_args(Amplitude))}; got {self.amplitude!r}")
        checked_flag(self.bounded, "bounded")
        return self.amplitude == "shrunk"

    def _learn(self, found: Characteristic) -> None:
        self.reliability_ = Reliability.learnt(found.phi, found.effective_size, bounded=self.bounded)

    def _features(self, found: Characteristic) -> Floats:
        if self.amplitude == "plain":
            return fourier_features(unit(found.phi))
        return fourier_features(self.reliability_.drawn(found.phi, found.effective_size))


class NoiseAugmented(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features of bags that are noisy while a model is fitted, and as they are when it predicts.

    In a Pipeline the steps before the model are fitted by ``fit_transform``, which here adds the effect of Gaussian
    noise to the characteristic functions (see :mod:`uptonoise.learning.augmentation`); ``transform`` adds none. So any model is
    fitted against noise that its bags do not have. :class:`~uptonoise.BagRidgeCV` does the same with several copies of
    each bag.

    Parameters
    ----------
    transformer : PhaseFeatures or FourierFeatures
        The features.
    level : float
        Each bag gets a noise level between 0 and this: a variance of between 0 and the level times that of the column.
    random_state : None, int, Generator or RandomState
        The seed of the noise.

    Attributes
    ----------
    transformer_ : transformer
        The features, fitted on the bags without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from uptonoise.learning.features import NoiseAugmented, PhaseFeatures
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.uniform(1, 6, size=(100, 1, 1))
    >>> bags = rng.gamma(shapes, size=(100, 50, 1))
    >>> features = NoiseAugmented(PhaseFeatures(20, random_state=0), level=1.0, random_state=0)
    >>> make_pipeline(features, Ridge(0.1)).fit(bags, shapes.ravel()).predict(bags).shape
    (100,)
    """

    def __init__(self, transformer: Any, level: float = 1.0, *, random_state: RandomState = None) -> None:
        self.transformer = transformer
        self.level = level
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the features on the bags as they are.

        Parameters
        ----------
        X : Bags, list of arrays, or 3-D array
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        self
        """
        if not hasattr(self.transformer, "from_characteristic"):
            raise ValueError(f"transformer must be PhaseFeatures or FourierFeatures; got {self.transformer!r}")
        self.transformer_ = clone(self.transformer).fit(X)
        self.n_features_in_ = self.transformer_.n_features_in_
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit the features, and return those of the bags with noise.

        Parameters
        ----------
        X : Bags, list of arrays, or 3-D array
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        array of shape (n_bags, 2m)
        """
        (level,) = checked_levels("level", [self.level])
        bags = X if isinstance(X, Bags) else Bags(X)
        self.fit(bags)
        generator = as_generator(self.random_state)
        found = self.transformer_.characteristic(bags)
        levels = generator.uniform(0, level, len(bags))
        frequencies, variances = self.transformer_.frequencies_, pooled_variances(bags)
        noisy = with_noise(found, frequencies, bags.values, variances, levels, generator)
        features: Floats = self.transformer_.from_characteristic(noisy)
        return features

    def transform(self, X: Any) -> Floats:
        """Return the features of the bags as they are.

        Parameters
        ----------
        X : Bags, list of arrays, or 3-D array
            The bags.

        Returns
        -------
        array of shape (n_bags, 2m)
        """
        check_is_fitted(self)
        features: Floats = self.transformer_.transform(X)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features."""
        check_is_fitted(self)
        names: NDArray[Any] = self.transformer_.get_feature_names_out(input_features)
        return names


class _BagTotals(Accumulator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]):
    """The number of rows of each bag and their sum; a bag's rows may lie anywhere."""

    block_rows = _BLOCK_ROWS

    def __init__(self, n_bags: int, n_columns: int) -> None:
        self.sums = np.zeros((n_bags, n_columns))
        self.sizes = np.zeros(n_bags, dtype=np.int64)

    def part(self, block: Block) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        bags, places, sizes = np.unique(np.asarray(block.bags), return_inverse=True, return_counts=True)
        sums = [np.bincount(places, weights=column) for column in block.values.T]
        return bags, np.stack(sums, axis=1), sizes

    def add(self, part: tuple[NDArray[np.int64], Floats, NDArray[np.int64]]) -> None:
        bags, sums, sizes = part
        if len(bags) == 0:
            return
        needed = int(bags[-1]) + 1
        if needed > len(self.sizes):  # a stream brings new bags: make room for them, and for as many again
            more = 2 * needed - len(self.sizes)
            self.sums, self.sizes = np.pad(self.sums, ((0, more), (0, 0))), np.pad(self.sizes, (0, more))
        self.sums[bags] += sums
        self.sizes[bags] += sizes

    def total(self) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        there = np.flatnonzero(self.sizes)
        return there, self.sums[there], self.sizes[there]

    def empty(self) -> _BagTotals:
        return _BagTotals(0, self.sums.shape[1])

    def renumbered(
        self, part: tuple[NDArray[np.int64], Floats, NDArray[np.int64]], numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        order = np.argsort(numbers[part[0]])
        return numbers[part[0]][order], part[1][order], part[2][order]


class MeanFeatures(_BagTransformer):
    """The mean of each bag: what models on bags are to be compared with.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.learning.features import MeanFeatures
    >>> MeanFeatures().fit_transform([np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[5.0, 5.0]])])
    array([[1., 1.],
           [5., 5.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the columns; nothing else is learnt.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        self
        """
        self._fitting_rows(X).check()
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Remember the columns and return the means of the same bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        array of shape (n_bags, n_columns)
        """
        return _bag_means(self._fitting_rows(X))

    def transform(self, X: Any) -> Floats:
        """Return the mean of each bag, in the order of the bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags. Columns are matched by name where both these and those of fit have names.

        Returns
        -------
        array of shape (n_bags, n_columns)
        """
        return _bag_means(self.fitted_rows(X))


def _bag_means(source: RowSource) -> Floats:
    ids: Any = source.bag_ids
    if ids is None:
        return read_rows(source)
    totals = source.fold(_BagTotals(len(ids), len(source.columns)))
    n_bags = len(ids)  # a stream knows only now
    means: Floats = totals.sums[:n_bags] / totals.sizes[:n_bags, None]
    return means


def _inner_has_names(lifted: RowTransformer) -> bool:
    return hasattr(getattr(lifted, "transformer_", lifted.transformer), "get_feature_names_out")


class RowTransformer(_BagTransformer, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Any transformer of rows, lifted to bags: fitted on the rows of all bags, applied to the rows of each.

    Bags come back as Bags with their ids and labels, and a stream of rows as a stream. A 2-D array or a frame comes
    back as a 2-D array.

    Parameters
    ----------
    transformer : transformer
        A scikit-learn transformer that gives a row for each row, such as ``StandardScaler()``. It is cloned, and never
        sees y, which belongs to bags.

    Attributes
    ----------
    transformer_ : transformer
        The clone, fitted on rows as a float64 array; with ``partial_fit`` where they are a stream and it has that.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (d,)
        The names of the columns, where they came with the data.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from uptonoise import Bags
    >>> from uptonoise.learning.features import RowTransformer
    >>> bags = Bags([np.array([1.0, 3.0]), np.array([5.0])], ids=["a", "b"])
    >>> scaled = RowTransformer(StandardScaler()).fit_transform(bags)
    >>> scaled.ids, scaled[0].ravel().round(3)
    (array(['a', 'b'], dtype='<U1'), array([-1.225,  0.   ]))
    """

    transformer_: Any

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a clone of the transformer on the rows of all bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        self
        """
        self._fit_rows(self._fitting_rows(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit a clone of the transformer on the rows of all bags, and return them transformed.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags.
        y : ignored
            There for Pipelines.

        Returns
        -------
        Bags, RowSource or array of shape (n_rows, n_columns)
        """
        source = self._fitting_rows(X)
        if not source.can_be_read_again:
            raise ValueError(
                "X is read to fit and again to transform, and an iterator can be read once; call fit and "
                "transform, each with its own"
            )
        self._fit_rows(source)
        return self._lifted(source, X)

    def transform(self, X: Any) -> Any:
        """Return the bags with all rows transformed.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, RowSource; or a 2-D array or frame, whose rows are bags of one row
            The bags. Columns are matched by name where both these and those of fit have names.

        Returns
        -------
        Bags, RowSource or array of shape (n_rows, n_columns)
        """
        return self._lifted(self.fitted_rows(X), X)

    @available_if(_inner_has_names)  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that come out, as the transformer has them.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns that go in.

        Returns
        -------
        array of shape (n_columns,)
        """
        names = super().get_feature_names_out(input_features)
        return np.asarray(self.transformer_.get_feature_names_out(names))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Change nothing: bags have no other form. It is there for Pipelines, whose other steps obey.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Not used.

        Returns
        -------
        self
        """
        return self

    def _fit_rows(self, source: RowSource) -> None:
        self.transformer_ = clone(self.transformer)
        if _is_in_memory(source) or not hasattr(self.transformer_, "partial_fit"):
            self.transformer_.fit(read_rows(source))
            return
        for block in source.blocks(_BLOCK_ROWS):
            self.transformer_.partial_fit(block.values)

    def _lifted(self, source: RowSource, X: Any) -> Any:
        if not _is_in_memory(source):
            return _TransformedRows(source, copy(self))  # which a later fit does not change
        values = self._transformed(read_rows(source))
        given = source.source if isinstance(source, SelectedRows) else source
        if not isinstance(given, BagRows):
            return values
        labels = X.labels if isinstance(X, Bags) else None
        columns = self._columns_out(values.shape[1])
        named = columns != numbered_columns(len(columns))
        ids: Any = given.bag_ids
        return Bags.__new__(Bags)._set(values, given.offsets, ids, labels, columns, named)

    def _transformed(self, values: Floats) -> Floats:
        """Return transformed rows as an array of finite numbers, one row for each."""
        name = f"the output of {type(self.transformer_).__name__}"
        transformed = read_rows(as_rows(self.transformer_.transform(values), name=name))
        if len(transformed) != len(values):
            raise ValueError(f"{name} must have a row for each of the {len(values)} rows; got {len(transformed)}")
        return transformed

    def _columns_out(self, n_columns: int) -> tuple[str, ...]:
        """Return names from the transformer where it has them, else those of the columns that stay, else numbers."""
        if _inner_has_names(self):
            return as_column_names(self.get_feature_names_out(), "transformer", n_columns)
        if n_columns == self.n_features_in_:
            return tuple(super().get_feature_names_out())
        return numbered_columns(n_columns)


def _is_in_memory(source: RowSource) -> bool:
    given = source.source if isinstance(source, SelectedRows) else source
    return isinstance(given, ArrayRows | FrameRows)


class _TransformedRows(RowSource):
    """A stream of rows, transformed as they come."""

    def __init__(self, source: RowSource, lifted: RowTransformer) -> None:
        self.source, self.lifted = source, lifted
        self.name, self.n_rows, self.bag_ids = source.name, source.n_rows, source.bag_ids
        self.can_be_read_again = source.can_be_read_again
        self.columns = lifted._columns_out(lifted._transformed(source.head(1)).shape[1])
        self.named = self.columns != numbered_columns(len(self.columns))

    def chunks(self) -> Iterator[Block]:
        for block in self.source.blocks(_BLOCK_ROWS):
            yield block._replace(values=self.lifted._transformed(block.values))
