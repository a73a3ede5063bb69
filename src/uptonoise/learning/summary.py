"""Each bag as one vector of statistics, phases and amplitudes: what the models of this package learn from."""

from __future__ import annotations

from dataclasses import field
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, positive_int
from uptonoise.bags import BagRows, Bags
from uptonoise.fourier import characteristic_function, sample_frequencies, unit
from uptonoise.learning.bag_statistics import N_SPREADS, QUANTILES, VALUES_AT_ONCE, Blocks, statistics
from uptonoise.learning.docs import described
from uptonoise.learning.inputs import bags_of
from uptonoise.learning.transformer import BagTransformer
from uptonoise.rows import RowSource, read_rows

Kind = Literal["all", "invariant"]

_RADII = np.array([0.3, 0.6, 1.0, 1.5, 2.0, 3.0])  # frequencies of single columns, times the column's scale
_RATIOS = ((0, 1), (1, 2), (2, 4), (3, 5), (2, 3), (1, 3))  # places of radii that are compared
_DENSE_FACTORS = (0.5, 1.0, 1.5)
_MOST_PAIRS = 15
_MOST_FREQUENCIES = 10_000
NORMAL_QUARTILES = 1.349  # between the quartiles of a standard normal distribution
_LEAST_SQUARE = 0.3  # over N: a squared amplitude below that is its error
_CHANCE = 1.5  # over N: subtracted from the squared amplitude
INVARIANT_BLOCKS = ("mean", "third", "pair_cumulant", "unit_phase")
"""What independent symmetric noise does not move on average: what a linear model makes of it is not moved either."""
ALL_BLOCKS = (
    *("mean", "sd", "quantile", "log_spread", "odd", "even", "shape", "log_rows"),
    *("pair_odd", "pair_even", "pair_shape"),
    *("phase", "dense_phase", "log_amplitude", "dense_log_amplitude", "amplitude_ratio", "fourier", "shrunk_phase"),
)
TREE_BLOCKS = (
    *("mean", "sd", "quantile", "log_spread", "odd", "even", "shape", "log_rows"),
    *("pair_odd", "pair_even", "pair_shape", "phase", "log_amplitude", "amplitude_ratio"),
)
PROFILE_BLOCKS = ("mean", "log_spread", "log_rows", "log_amplitude")


@described
@with_parameters
class BagSummary(BagTransformer):
    """One vector per bag: statistics of its columns, phases and amplitudes of its characteristic function.

    Every column is measured in its own scale, so that no feature depends on its units. The features are

    - the mean, the standard deviation, quantiles and extremes, the logarithm of spreads, and the number of rows;
    - odd cumulants and other measures of asymmetry, which symmetric noise does not change on average; joint cumulants
      of pairs of columns, which noise that is independent in each column does not change;
    - shapes, which are these divided by the spread;
    - at several frequencies of single columns and of all, the phase shrunk by its reliability, the logarithm of the
      amplitude, and ratios of amplitudes that Gaussian noise does not change.

    Parameters
    ----------
    kind : {"all", "invariant"}
        All features, or only those that independent symmetric noise does not move on average.
    n_frequencies : int
        The number of random frequencies in all columns.
    random_state : None, int, Generator or RandomState
        The seed of these frequencies.

    Attributes
    ----------
    centre_, scale_ : array of shape (d,)
        The median of each column over all rows of fit, and the distance of its quartiles as that of a normal SD.
    frequencies_ : array of shape (m, d)
        The frequencies, in units of one over the scale.
    {fitted_columns}

    See Also
    --------
    PhaseFeatures : Phases only, as in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.gamma(2.0, size=(n, 2)) for n in (50, 80, 30)]
    >>> summary = un.BagSummary(random_state=0).fit(bags)
    >>> summary.transform(bags).shape == (3, len(summary.get_feature_names_out()))
    True
    >>> other_units = [bag * [1.0, 1_000.0] for bag in bags]
    >>> again = un.BagSummary(random_state=0).fit_transform(other_units)
    >>> np.allclose(summary.transform(bags), again, atol=1e-4)
    True
    """

    kind: Kind = field(default="all", kw_only=False)
    n_frequencies: int = 30
    random_state: RandomState = None

    centre_: Floats = field(init=False)
    scale_: Floats = field(init=False)
    frequencies_: Floats = field(init=False)
    pairs_: list[tuple[int, int]] = field(init=False)

    def _fit_rows(self, source: RowSource) -> None:
        checked_choice(self.kind, get_args(Kind), "kind")
        n_dense = positive_int(self.n_frequencies, "n_frequencies", most=_MOST_FREQUENCIES)
        values = source.values if isinstance(source, BagRows) else read_rows(source)
        d = values.shape[1]
        self.centre_, self.scale_ = np.transpose([_centre_and_scale(column) for column in values.T])
        generator = as_generator(self.random_state)
        factors = np.resize(np.repeat(_DENSE_FACTORS, -(-n_dense // len(_DENSE_FACTORS))), n_dense)
        # A direction in many columns has a short wavelength in each: longer ones keep the amplitude.
        dense = sample_frequencies(n_dense, d, random_state=generator) * factors[:, None] / np.sqrt(max(1.0, d / 2))
        self.frequencies_ = np.concatenate([*(radius * np.eye(d) for radius in _RADII), dense])
        pairs = list(combinations(range(d), 2))
        if len(pairs) > _MOST_PAIRS:
            pairs = [pairs[place] for place in np.sort(generator.permutation(len(pairs))[:_MOST_PAIRS])]
        self.pairs_ = pairs

    def _transform_rows(self, source: RowSource, X: Any) -> Floats:
        blocks = self.blocks(X if isinstance(X, Bags) and X.columns == source.columns else bags_of(source))
        return np.concatenate([blocks[name] for name in self._names(blocks)], axis=1)

    def blocks(self, bags: Bags) -> Blocks:
        """Return the features by name of their kind, each of shape (n_bags, k), for bags with the columns of fit."""
        if bags.values.size > VALUES_AT_ONCE and len(bags) > 1:
            parts = [self.blocks(run) for run in bags._runs(VALUES_AT_ONCE)]
            return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        d = bags.n_columns
        values = (bags.values - self.centre_) / self.scale_
        blocks = statistics(values, bags.offsets, self.pairs_)
        place = int(np.flatnonzero(QUANTILES == 0.5)[0])
        median = blocks["quantile"][:, place * d : (place + 1) * d]
        scaled = Bags._in_order(values, bags.offsets, bags.ids, None, bags.columns, bags.named)
        phi = characteristic_function(scaled, self.frequencies_).phi
        n_rows = bags.sizes[:, None].astype(np.float64)
        n_single = len(_RADII) * d
        phases, squares = unit(phi), np.abs(phi) ** 2
        # How much of each phase is kept, as if phases varied by one radian squared between bags.
        errors = np.maximum(1 - squares, 0) / (2 * n_rows * np.maximum(squares - _CHANCE / n_rows, 0.05 / n_rows))
        kept = 1 / (1 + errors)
        # Relative to the median, a phase tells asymmetry and not location.
        angles = np.angle(phi * np.exp(-1j * (median @ self.frequencies_.T))) * kept
        # Squared amplitudes without the part that chance adds to them.
        logs = np.log(np.maximum((n_rows * squares - 1) / np.maximum(n_rows - 1, 1), _LEAST_SQUARE / n_rows))
        by_radius = logs[:, :n_single].reshape(len(bags), len(_RADII), d)
        ratios = [by_radius[:, high] - (_RADII[high] / _RADII[low]) ** 2 * by_radius[:, low] for low, high in _RATIOS]
        return blocks | {
            "phase": angles[:, :n_single],
            "dense_phase": angles[:, n_single:],
            "log_amplitude": logs[:, :n_single],
            "dense_log_amplitude": logs[:, n_single:],
            "amplitude_ratio": np.concatenate(ratios, axis=1),
            "fourier": np.concatenate([phi.real, phi.imag], axis=1),
            "unit_phase": np.concatenate([phases.real, phases.imag], axis=1),
            "shrunk_phase": np.concatenate([phases.real * kept, phases.imag * kept], axis=1),
        }

    def _names(self, blocks: Blocks) -> list[str]:
        names = INVARIANT_BLOCKS if self.kind == "invariant" else ALL_BLOCKS
        return [name for name in names if name in blocks]  # one column has no pairs

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features, such as ``odd0``, ``odd1``, ..., ``phase0``, ..."""
        super().get_feature_names_out(input_features)  # which checks them
        blocks = self.blocks(Bags(np.zeros((1, 1, self.n_features_in_))))
        names = [f"{name}{place}" for name in self._names(blocks) for place in range(blocks[name].shape[1])]
        return np.array(names, dtype=object)


def log_spreads(n_features: int) -> slice:
    """Return where the logarithms of spreads are among so many features of ``PROFILE_BLOCKS``."""
    d = (n_features - 1) // (1 + N_SPREADS + len(_RADII))
    return slice(d, (1 + N_SPREADS) * d)


def _centre_and_scale(column: NDArray[Any]) -> tuple[float, float]:
    """Return the median of a column, and the distance of its quartiles as that of a normal SD; or else its SD, or 1."""
    values = column.astype(np.float64)  # a copy of one column at a time, which may be put in another order
    centre = np.median(values, overwrite_input=True)
    low, high = np.quantile(values, [0.25, 0.75], overwrite_input=True)
    scale = (high - low) / NORMAL_QUARTILES or values.std()
    return float(centre), float(scale) if scale > 0 else 1.0
