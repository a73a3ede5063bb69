"""The paper's phase discrepancy test: PhD with a permutation null.

Permuting rows mixes the two noises, so the null is right where both samples have the same noise, or little of it, and
wrong otherwise: then the permuted samples have other amplitudes than the real ones, and their phases another sampling
error. This is the paper's own finding. The amplitudes tell, so the test looks at them and warns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.warning import warn
from uptonoise.fourier import as_complex, as_frequencies, column_variances, sample_frequencies, squared_phd
from uptonoise.twosample.canonical import canonical
from uptonoise.twosample.cluster_permutation import cluster_means_by_label
from uptonoise.twosample.docs import explained
from uptonoise.twosample.permutation import (
    check_permutations,
    feature_means_by_label,
    permutation_fields,
    permutation_pvalue,
)
from uptonoise.twosample.result import TwoSampleResult
from uptonoise.twosample.samples import resident_samples

_WARNING_ALPHA = 0.01
_CONSEQUENCE = (
    "the permutation null of the PhD test is then wrong and its p-value too small. Use phase_test, which is valid at "
    "any noise"
)


class UnequalNoiseWarning(UserWarning):
    """A test that needs equal noise in both samples was used where their amplitudes differ."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PhdResult(TwoSampleResult):
    """The outcome of :func:`phd_test`.

    Attributes
    ----------
    amplitude_pvalue : float
        How likely amplitudes that differ so much are where both samples have the same noise (and signal); a small
        value says that `pvalue` cannot be trusted.
    frequencies : array of shape (m, d)
        The frequencies used.
    permuted : array of shape (n_permutations,)
        The statistics of the permutations.
    """

    test: ClassVar[str] = "PhD test"

    amplitude_pvalue: float
    frequencies: Floats
    permuted: Floats

    def _more(self) -> list[str]:
        lines = [f"{len(self.frequencies)} frequencies; amplitudes differ with p = {self.amplitude_pvalue:.3g}"]
        if self.amplitude_pvalue < _WARNING_ALPHA:
            lines.append("the sizes of the noises may differ, and the permutation null is then wrong")
        return lines


@explained
def phd_test(
    X: Any,
    Y: Any,
    *,
    n_frequencies: int = 50,
    n_permutations: int = 400,
    clusters: Any = None,
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> PhdResult:
    """Test whether two samples differ up to symmetric noise of the same size in both: the paper's PhD test.

    Null hypothesis: the phases are equal, and so are the distributions of the noises, symmetric with a positive
    characteristic function. Where noises differ in size, it rejects too often; a warning says when amplitudes do.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples, without weights; they are read into memory.
    n_frequencies : int
        How many frequencies are sampled from the paper's radial distribution, scaled by each column's variance.
    n_permutations : int
        How many permutations make the null.
    clusters : pair of arrays, or str, optional
        Ids of rows that belong together, as for :func:`phase_test`; clusters are permuted then.
    frequencies, random_state : array of shape (m, d), and None, int, Generator or RandomState
        Frequencies in place of these, and the seed.

    Returns
    -------
    PhdResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y, Z = rng.exponential(size=(500, 2)), rng.exponential(size=(500, 2)), 2 - rng.exponential(size=(500, 2))
    >>> un.phd_test(X, Y, random_state=0).pvalue > 0.05, un.phd_test(X, Z, random_state=0).pvalue < 0.01
    (True, True)
    """
    check_permutations(n_permutations, n_frequencies)
    samples = resident_samples(X, Y, needed=2, why="the PhD test", clusters=clusters)
    generator, seed = seeded_generator(random_state)
    own = canonical(samples, keep_columns=frequencies is not None)
    if frequencies is None:
        variances = column_variances(own.samples.X, own.samples.Y)
        scale = np.sqrt(np.where(variances > 0, variances, 1.0))  # 1 where all rows are equal
        frequencies = sample_frequencies(n_frequencies, len(scale), law="radial", scale=scale, random_state=generator)
    used = as_frequencies(frequencies, len(samples.columns))
    means_by_label = feature_means_by_label if samples.clusters is None else cluster_means_by_label
    phi_X, phi_Y = map(as_complex, means_by_label(own.samples, used, n_permutations, generator))
    # How much larger one sample's squared amplitudes are than the other's, over all frequencies.
    amplitude_pvalue = permutation_pvalue(np.abs(np.mean(np.abs(phi_X) ** 2 - np.abs(phi_Y) ** 2, axis=-1)))
    if amplitude_pvalue < _WARNING_ALPHA:
        problem = f"the amplitudes of X and Y differ (p = {amplitude_pvalue:.3g}), so the sizes of their noises may"
        warn(f"{problem}; {_CONSEQUENCE}", UnequalNoiseWarning)
    fields = permutation_fields(samples, squared_phd(phi_X, phi_Y), seed)
    given = used.take(own.places, axis=-1) * own.units
    return PhdResult(**fields, amplitude_pvalue=amplitude_pvalue, frequencies=given)
