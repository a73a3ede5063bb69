"""The phase test between all pairs of many sketches: sensors, sites, batches.

The statistics of a few dozen pairs are computed at once; p-values are adjusted for how many pairs there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.random import RandomState
from uptonoise._util.results import Result
from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.fourier import FewerFrequenciesWarning, Sketch, pair_seconds
from uptonoise.rows import aligned, clustered_rows
from uptonoise.twosample.docs import explained
from uptonoise.twosample.phase.pair import (
    FrequencyBlocks,
    SampleMoments,
    check_size,
    warn_of_shared_clusters,
)
from uptonoise.twosample.phase.positivity import positivity_test, quick_pvalues
from uptonoise.twosample.phase.statistic import decomposed
from uptonoise.twosample.phase.test import cauchy_combination

Adjustment = Literal["holm", "bonferroni", "benjamini-hochberg", "none"]

_AT_ONCE = 2**18  # numbers in a matrix of all pairs that are computed together
_TESTED_BYTES = 1 << 28  # of what threads test at a time, about,
_MATRICES = 4  # as large as the covariances that it begins with
_MANY_GROUPS = 150  # beyond which positivity of a pair has no draws of its own
_SHOWN = 5


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PairwiseResult(Result):
    """The outcome of :func:`pairwise_phase_test`; matrices are symmetric.

    Attributes
    ----------
    names : tuple of str
        The names of the groups.
    sizes : tuple of int
        Their numbers of rows.
    pvalues : array of shape (g, g)
        The p-values of all pairs; 1 on the diagonal.
    adjusted : array of shape (g, g)
        The same, adjusted for the number of pairs.
    noncentralities : array of shape (g, g)
        The noncentralities per row, as :class:`Noncentrality` has them; 0 on the diagonal.
    adjust : str
        How p-values were adjusted.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    pvalues: Floats
    adjusted: Floats
    noncentralities: Floats
    adjust: str

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`, which has one row per pair, the smallest p-value first."""
        i, j = self.ordered()
        return {
            "one": [self.names[group] for group in i],
            "other": [self.names[group] for group in j],
            "pvalue": self.pvalues[i, j],
            "adjusted": self.adjusted[i, j],
            "noncentrality": self.noncentralities[i, j],
        }

    def ordered(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of both groups of all pairs, the smallest p-value first."""
        i, j = np.triu_indices(len(self.names), 1)
        order = np.lexsort((-self.noncentralities[i, j], self.pvalues[i, j]))
        return i[order], j[order]

    def __repr__(self) -> str:
        i, j = self.ordered()
        n_differ = int(np.count_nonzero(self.adjusted[i, j] <= 0.05))
        pairs = f"{counted(len(i), 'pair')} of {len(self.names):,} groups"
        lines = [f"Phase tests of {pairs}: {n_differ:,} differ beyond noise at 0.05, adjusted ({self.adjust})"]
        for first, second in zip(i[:_SHOWN], j[:_SHOWN], strict=True):
            pvalue = f"adjusted p = {self.adjusted[first, second]:.3g}"
            lines.append(f"  {self.names[first]} and {self.names[second]}: {pvalue}")
        return "\n".join([*lines, "  ..."] if len(i) > _SHOWN else lines)


@explained
def pairwise_phase_test(
    sketches: Mapping[str, Any] | Sequence[Any],
    *,
    adjust: Adjustment = "holm",
    positivity: bool = True,
    clusters: Any = None,
    random_state: RandomState = 0,
) -> PairwiseResult:
    """Test all pairs of many samples for differences beyond symmetric noise.

    Parameters
    ----------
    sketches : dict or sequence of Sketch, or of samples
        The groups: sketches with the same frequencies, or samples as for :func:`phase_test`. In a sequence they are
        called 0, 1, ...
    adjust : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        How p-values are adjusted for the number of pairs: Holm's and Bonferroni's bound the chance of any false
        difference, Benjamini and Hochberg's the share of false ones among those found.
    positivity : bool
        As for :func:`phase_test`; without it, many pairs are much faster. All p-values are those of saved sketches.
    clusters : str, or dict or sequence of arrays, optional
        Ids of rows of samples that belong together, one array for each, or the column that holds them.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies of samples.

    Returns
    -------
    PairwiseResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> sites = {name: rng.exponential(size=400) + noise * rng.normal(size=400) for name, noise in zip("abc", range(3))}
    >>> sites["d"] = 2 - rng.exponential(size=400)
    >>> empty = un.Sketch.for_samples(*sites.values())
    >>> result = un.pairwise_phase_test({name: un.Sketch.like(empty).update(x) for name, x in sites.items()})
    >>> bool((result.adjusted[3, :3] < 0.05).all()), bool((result.adjusted[:3, :3] > 0.01).all())
    (True, True)
    """
    if not isinstance(adjust, str) or adjust not in get_args(Adjustment):
        raise ValueError(f"adjust must be one of {', '.join(get_args(Adjustment))}; got {adjust!r}")
    named = _named(sketches, clusters, random_state)
    group = list(named.values())
    with single_threaded_blas():
        pvalues, noncentralities = _all_pairs(group, checked_flag(positivity, "positivity"))
    pairs = np.triu_indices(len(group), 1)
    adjusted = np.ones_like(pvalues)
    adjusted[pairs] = adjusted[pairs[::-1]] = adjusted_pvalues(pvalues[pairs], adjust)
    return PairwiseResult(
        names=tuple(named),
        sizes=tuple(sketch.n_rows for sketch in group),
        pvalues=pvalues,
        adjusted=adjusted,
        noncentralities=noncentralities,
        adjust=adjust,
    )


def _named(groups: Any, clusters: Any, random_state: RandomState) -> dict[str, Sketch]:
    """Return the sketches of all groups by name."""
    if isinstance(groups, Sketch):
        raise ValueError("sketches must be at least two groups; got one Sketch")
    if not isinstance(groups, Mapping | Sequence) or isinstance(groups, str):
        raise ValueError(f"sketches must be a dict or a sequence of groups; got a {type(groups).__name__}")
    named = dict(groups) if isinstance(groups, Mapping) else dict(enumerate(groups))
    if any(isinstance(group, Sketch) for group in named.values()):
        for name, sketch in named.items():
            if not isinstance(sketch, Sketch):
                raise ValueError(
                    f"sketches must all be sketches, or all samples; the group {name} is a {type(sketch).__name__}"
                )
        if clusters is not None:
            raise ValueError("clusters must be left out for sketches, which bring their own")
    elif named:
        named = _sketched(named, clusters, random_state)
    by_text = {str(name): sketch for name, sketch in named.items()}
    if len(by_text) < len(named):
        raise ValueError(f"sketches must have names that differ as text; got {list(named)}")
    if len(by_text) < 2:
        raise ValueError(f"sketches must be at least two groups; got {len(by_text)}")
    first = next(iter(by_text.values()))
    for name, sketch in by_text.items():
        first.check_comparable(sketch)
        check_size(f"the group {name} (leave it out, or give more of it)", sketch)
    return by_text


def _sketched(samples: dict[Any, Any], clusters: Any, random_state: RandomState) -> dict[Any, Sketch]:
    """Return one sketch per sample, with the same frequencies, and with clusters where there are any."""
    ids = dict.fromkeys(samples, clusters)
    if clusters is not None and not isinstance(clusters, str):
        if not isinstance(clusters, Mapping | Sequence | np.ndarray):
            wanted = "the name of a column, or a dict or sequence of ids for each group"
            raise ValueError(f"clusters must be {wanted}; got {clusters!r}")
        ids = dict(clusters) if isinstance(clusters, Mapping) else dict(enumerate(clusters))
        lacking = [name for name in samples if name not in ids]
        if lacking or len(ids) != len(samples):
            raise ValueError(
                f"clusters must have ids for every group, and no others; got those of {list(ids)} for {list(samples)}"
            )
    sources = [clustered_rows(sample, ids[name], f"the group {name}") for name, sample in samples.items()]
    sources = [aligned(source, sources[0]) for source in sources]
    empty = Sketch.for_samples(*sources, random_state=random_state)
    sketches = {
        name: Sketch.like(empty).update(source, complete=True) for name, source in zip(samples, sources, strict=True)
    }
    clustered = [(i, sketch) for i, sketch in enumerate(sketches.values()) if sketch.is_clustered]
    for (i, left), (j, right) in itertools.combinations(clustered, 2):
        warn_of_shared_clusters(left, right, sources[i], sources[j])
    return sketches


def _all_pairs(group: Sequence[Sketch], positivity: bool) -> tuple[Floats, Floats]:
    """Return the p-values and noncentralities of all pairs, each group with a few dozen others at once."""
    minutes = pair_seconds(len(group), group[0].n_frequencies) / 60
    if minutes > 1:
        warn(
            f"all pairs of {len(group):,} groups with {group[0].n_frequencies:,} frequencies take about {minutes:,.0f} "
            "min on one core; fewer columns or groups are faster",
            FewerFrequenciesWarning,
        )
    blocks, n = FrequencyBlocks.of(*group), len(group)
    first = SampleMoments.of(group[0])
    samples = SampleMoments._make(np.empty((n, *part.shape), dtype=part.dtype) for part in first)
    for number, sketch in enumerate(group):  # each computed into its place: they are most of the memory
        for place, part in zip(samples, SampleMoments.of(sketch, first.centre), strict=True):
            place[number] = part
    at_once = max(1, _AT_ONCE // group[0].n_frequencies ** 2)
    most_threads = max(1, _TESTED_BYTES // (_MATRICES * at_once * samples.covariance[0].nbytes))
    parts = [(i, slice(j, min(j + at_once, n))) for i in range(n - 1) for j in range(i + 1, n, at_once)]

    def tested(part: tuple[int, slice]) -> tuple[Floats, Floats]:
        left, right = (SampleMoments._make(values[chosen] for values in samples) for chosen in part)
        return _one_with_others(left, right, blocks, positivity, quick=n > _MANY_GROUPS)

    pvalues, noncentralities = np.ones((n, n)), np.zeros((n, n))
    for (i, others), results in zip(parts, ordered_map(tested, parts, most_threads), strict=True):
        for matrix, values in zip((pvalues, noncentralities), results, strict=True):
            matrix[i, others] = matrix[others, i] = values
    return pvalues, noncentralities


def _one_with_others(
    left: SampleMoments, right: SampleMoments, blocks: FrequencyBlocks, positivity: bool, *, quick: bool
) -> tuple[Floats, Floats]:
    block_pvalues = []
    for block in blocks.tested.values():
        decomposition = decomposed(left, right, block=block)
        block_pvalues.append(decomposition.test().pvalue())
        if block.columns is None and block.place == blocks.largest:
            ridge = decomposition.noncentral()
            noncentralities = np.maximum(0.0, ridge.shrinkage * ridge.statistic - ridge.null.s1) * (
                1 / left.size + 1 / right.size
            )
    pvalues = cauchy_combination(np.stack(block_pvalues, axis=-1), blocks.weights)
    if positivity and quick:
        pvalues = quick_pvalues(pvalues, left, right)
    elif positivity:
        others = zip(pvalues.tolist(), right.each(), strict=True)
        pvalues = np.array([positivity_test(pvalue, left, other).merged for pvalue, other in others])
    return pvalues, noncentralities


def adjusted_pvalues(pvalues: Floats, adjust: Adjustment) -> Floats:
    """Adjust p-values for how many they are.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.phase.pairs import adjusted_pvalues
    >>> p = np.array([0.01, 0.04, 0.03])
    >>> adjusted_pvalues(p, "holm").round(3), adjusted_pvalues(p, "benjamini-hochberg").round(3)
    (array([0.03, 0.06, 0.06]), array([0.03, 0.04, 0.04]))
    """
    if adjust == "none":
        return pvalues.copy()
    n = len(pvalues)
    if adjust == "bonferroni":
        return np.minimum(1.0, n * pvalues)
    order = np.argsort(pvalues)
    if adjust == "holm":
        in_order = np.maximum.accumulate(np.arange(n, 0, -1) * pvalues[order])
    else:
        in_order = np.minimum.accumulate((n / np.arange(1, n + 1) * pvalues[order])[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1.0, in_order)
    return adjusted
