"""Scikit-learn transformers from bags to vectors, read off the characteristic function phi of each bag.

With m frequencies, in the paper's order and with its factor:

==================  =============================================================
Fourier features    sqrt(1/m) [Re phi_1, Im phi_1, Re phi_2, ...]
phase features      the same of phi/abs(phi), a vector of norm 1
==================  =============================================================

Rows of an array or a frame are bags of one row, so that the Fourier features of vectors are random Fourier features of
a kernel between them: the second layer of a model on bags. All sums over rows run on the library's own threads (see
``UPTONOISE_NUM_THREADS``), which is why nothing here has ``n_jobs``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState
from uptonoise._util.typing import Floats, Precision
from uptonoise._util.validation import checked_choice, checked_flag, checked_number
from uptonoise.fourier import (
    Characteristic,
    CosineSine,
    Law,
    Method,
    RowFeatures,
    as_frequencies,
    characteristic_function,
    fourier_features,
    median_scale,
    sample_frequencies,
    unit,
)
from uptonoise.learning.docs import described
from uptonoise.learning.inputs import bag_source
from uptonoise.learning.reliability import Reliability
from uptonoise.learning.transformer import BagTransformer
from uptonoise.rows import RowSource, as_real_array

Amplitude = Literal["plain", "shrunk"]

_BAGS_AT_ONCE = 4_096
_MEDIANS = ("median", "median-per-column")


@with_parameters
class _FrequencyFeatures(BagTransformer):
    """Vectors from the characteristic function of each bag at random frequencies; a subclass says which."""

    n_frequencies: int = field(default=100, kw_only=False)
    law: Law = "gaussian"
    scale: ArrayLike = "median"
    scale_factor: float = 1.0
    method: Method = "iid"
    nu: float = 1.5
    frequencies: ArrayLike | None = None
    precision: Precision = "fast"
    random_state: RandomState = None

    frequencies_: Floats = field(init=False)
    scale_: float | Floats = field(init=False)
    _name: ClassVar[str]

    def characteristic(self, X: Any) -> Characteristic:
        """Return the characteristic function of each bag at the frequencies, with the number of its rows."""
        return self._characteristic(self.fitted_rows(X))

    @abstractmethod
    def from_characteristic(self, characteristic: Characteristic) -> Floats:
        """Return the features of bags whose characteristic functions are known, as :meth:`characteristic` has them."""

    def measured_scale(self, X: Any) -> dict[str, Any]:
        """Return the median scale of rows as a parameter in place of its name; nothing where no median is asked for."""
        if self.frequencies is not None or not isinstance(self.scale, str):
            return {}
        return {"scale": self._base_scale(bag_source(X, self))}

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, such as ``phase_re0``, ``phase_im0``, ``phase_re1``, ..."""
        super().get_feature_names_out(input_features)  # which checks them
        numbers = range(len(self.frequencies_))
        return np.array([f"{self._name}_{part}{j}" for j in numbers for part in ("re", "im")], dtype=object)

    def _fit_rows(self, source: RowSource) -> None:
        self._choose_frequencies(source)
        if self._learns():
            self._learn(self._characteristic(source))
        elif self.frequencies is not None or not isinstance(self.scale, str):  # a median has read all rows
            source.check()

    def _fit_transform_rows(self, source: RowSource, X: Any) -> Floats:
        self._choose_frequencies(source)
        characteristic = self._characteristic(source)
        if self._learns():
            self._learn(characteristic)
        return self._features_in_place(characteristic)

    def _transform_rows(self, source: RowSource, X: Any) -> Floats:
        return self._features_in_place(self._characteristic(source))

    def _choose_frequencies(self, source: RowSource) -> None:
        checked_choice(self.precision, get_args(Precision), "precision")
        factor = checked_number(self.scale_factor, "scale_factor", above=True)
        if self.frequencies is None:
            lengths = as_real_array(self._base_scale(source), "scale").astype(np.float64)
            scaled = lengths * factor ** max(lengths.ndim, 1)  # two axes are those of a covariance
            self.scale_ = float(scaled) if scaled.ndim == 0 else scaled
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
        self.scale_ = factor
        self.frequencies_ = as_frequencies(self.frequencies, self.n_features_in_) / factor

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
        features = CosineSine(np.asarray(self.frequencies_), self.precision, source.name)
        phi = source.fold(RowFeatures(features)).total()
        return Characteristic(phi, np.ones(len(phi)), np.ones(len(phi)))

    def _learns(self) -> bool:
        """Tell whether more than frequencies is learnt from the bags."""
        return False

    def _learn(self, characteristic: Characteristic) -> None:
        """Learn from the characteristic functions of the bags."""

    def _features_in_place(self, characteristic: Characteristic) -> Floats:
        """Return the features in the memory of the characteristic functions, some bags at a time.

        Those of many bags are most of the memory in use, and each copy would take as much again.
        """
        phi = np.ascontiguousarray(characteristic.phi)
        features = phi.view(np.float64)
        for start in range(0, len(phi), _BAGS_AT_ONCE):
            part = slice(start, start + _BAGS_AT_ONCE)
            weight, weight_squares = characteristic.weight[part], characteristic.weight_squares[part]
            features[part] = self.from_characteristic(Characteristic(phi[part], weight, weight_squares))
        return features


@described
class FourierFeatures(_FrequencyFeatures):
    """Fourier features of bags: their characteristic functions at random frequencies.

    The inner product of two of these vectors is that of the bags' kernel mean embeddings, and their squared distance is
    :func:`~uptonoise.mmd`. For vectors it is the kernel itself, approximated by random Fourier features.

    Parameters
    ----------
    n_frequencies : int
        The number of frequencies, m; there are 2m features.
    {frequencies}

    Attributes
    ----------
    {fitted_frequencies}

    See Also
    --------
    PhaseFeatures : The same without the amplitude, which symmetric noise changes.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise import FourierFeatures
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

    def from_characteristic(self, characteristic: Characteristic) -> Floats:
        """Return the features of bags whose characteristic functions are known."""
        check_is_fitted(self)
        return fourier_features(characteristic.phi)


@described
@with_parameters
class PhaseFeatures(_FrequencyFeatures):
    """Phase features of bags: Fourier features without the amplitude, which symmetric noise changes.

    Additive noise with a positive characteristic function multiplies that of a bag by positive numbers, so that
    phi/abs(phi) stays. The squared distance of two of these vectors is :func:`~uptonoise.phd`, and each has norm 1 (a
    frequency where phi is 0 counts 0).

    Where abs(phi) is near its sampling error, 1/sqrt(n) for a bag of n rows, the phase is mostly noise, and a model
    that relies on it predicts worse than the mean. So a phase that is less reliable than those of the bags of fit is
    shrunk towards their mean; :mod:`uptonoise.learning.reliability` has the formulas. The paper's features are those
    with ``amplitude="plain"``.

    Parameters
    ----------
    n_frequencies : int
        The number of frequencies, m; there are 2m features.
    amplitude : {"shrunk", "plain"}
        What becomes of phases that are not reliable: they are shrunk towards the mean of the bags of fit, or left as
        they are, as in the paper.
    bounded : bool
        Whether "shrunk" takes no phase to be less reliable than nearly all of the bags of fit. It is for models that
        know how reliable their predictions are, as :class:`~uptonoise.BagRidgeCV` does.
    {frequencies}

    Attributes
    ----------
    {fitted_frequencies}
    reliability_ : Reliability
        What "shrunk" learnt from the bags.

    See Also
    --------
    FourierFeatures : The same with the amplitude.

    Examples
    --------
    Noise hardly moves them; it moves Fourier features a lot:

    >>> import numpy as np
    >>> from uptonoise import FourierFeatures, PhaseFeatures
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

    amplitude: Amplitude = "shrunk"
    bounded: bool = False

    reliability_: Reliability = field(init=False)
    _name = "phase"

    @described
    def amplitudes(self, X: Any) -> Floats:
        """Return abs(phi) of each bag at each frequency, to be compared with 1/sqrt(n) for a bag of n rows.

        {to_amplitudes}

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise import PhaseFeatures
        >>> bags = [np.array([-1.0, 1.0]), np.array([0.5])]
        >>> PhaseFeatures(frequencies=[np.pi / 3]).fit(bags).amplitudes(bags).round(3)
        array([[0.5],
               [1. ]])
        """
        return np.abs(self.characteristic(X).phi)

    def _learns(self) -> bool:
        checked_choice(self.amplitude, get_args(Amplitude), "amplitude")
        checked_flag(self.bounded, "bounded")
        return self.amplitude == "shrunk"

    def _learn(self, characteristic: Characteristic) -> None:
        phi, sizes = characteristic.phi, characteristic.effective_size
        self.reliability_ = Reliability.learnt(phi, sizes, bounded=self.bounded)

    def from_characteristic(self, characteristic: Characteristic) -> Floats:
        """Return the features of bags whose characteristic functions are known."""
        check_is_fitted(self)
        if self.amplitude == "plain":
            return fourier_features(unit(characteristic.phi))
        return fourier_features(self.reliability_.shrunk(characteristic.phi, characteristic.effective_size))
