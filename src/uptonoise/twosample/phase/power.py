"""The power that the phase test will have, from pilot data: at other sizes, and with more noise.

The pilot's rows are sampled again and again, with replacement, in the planned numbers, noise is added to them, and the
test is run: the power is the share that rejects. The pilot's phases differ by sampling error too, so its S is too
large; its noncentrality without that part is known, and S of each draw is moved from the pilot's to one that has it.

For sizes so large that rows hardly matter, and for sketches, which have none, the mean of each draw's sketch is
Gaussian about the pilot's, with the pilot's covariance over the planned size; the statistics get the further spread
that estimating their covariance brings, the denominator of the noncentral F. That leaves out how a sample's mean goes
with its covariance, and at a few hundred rows of skewed columns promises up to 0.1 too much power.

What Gaussian noise of variances v does is known: it multiplies E exp(i w.x) by g(w) = exp(-w'vw/2), and the products of
cosines and sines are those of sums and differences of frequencies, as

    E cos(u.x) cos(v.x) = (Re phi(u - v) + Re phi(u + v)) / 2

Rows in clusters are planned from means too. They have a covariance T over rows, of which a part B lies between
clusters, and a covariance C over clusters; two sketches of the same rows, without and with clusters, hold T and C. With
N rows in clusters worth g, C is near B + (T - B) g/N, which gives B. Clusters of s rows then have B + (T - B)/s. Noise
of each row multiplies B at frequencies u and v by exp(-(u'vu + v'vv)/2), as it does with the characteristic function of
each cluster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, checked_number, positive_int
from uptonoise.fourier import Sketch, as_complex, turned
from uptonoise.rows import read_rows, some_rows, two_clustered
from uptonoise.twosample.docs import explained
from uptonoise.twosample.phase.pair import FrequencyBlocks, Pair, SampleMoments, comparable
from uptonoise.twosample.phase.positivity import positivity_test
from uptonoise.twosample.phase.statistic import decomposed
from uptonoise.twosample.phase.test import cauchy_combination

_LEAST_ROWS = 20
_LEAST_CLUSTERS = 10
_MOST_DRAWS = 100_000
_PILOT_ROWS = 20_000  # that are resampled
_LARGEST_RESAMPLED = 20_000
_AT_ONCE = 25  # draws


@explained
def phase_test_power(
    pilot_X: Any,
    pilot_Y: Any,
    n: Any,
    k: Any = None,
    *,
    noise: Any = 0.0,
    alpha: float = 0.05,
    positivity: bool = True,
    clusters: Any = None,
    cluster_size: float | None = None,
    n_draws: int = 400,
    random_state: RandomState = 0,
) -> Any:
    """Return the power that :func:`phase_test` can be expected to have, from pilot data.

    Parameters
    ----------
    pilot_X, pilot_Y : array, frame, RowSource, or Sketch
        Two samples that differ as those to come will; or two sketches of them with the same frequencies. Larger is
        better: of a few hundred rows the difference is known no better than by the effect's interval.
    n, k : int or sequence of int
        The numbers of rows of X and of Y to plan for, or of clusters; several give a curve. By default `k` is `n`.
    noise : float, array of shape (d,), or pair of these
        The standard deviation of Gaussian noise to be added, in the units of the columns. A tuple of two is for X and
        for Y, a list or an array is for the columns.
    alpha, positivity : float, bool
        The significance level of the test, and whether it looks at positivity too.
    clusters, cluster_size : pair of arrays or str, and float, optional
        Ids of rows of the pilot that belong together, as for :func:`phase_test`; `n` and `k` then count clusters, with
        `cluster_size` rows each, by default as many as in the pilot. Sketches of clusters plan for clusters like those.
    n_draws : int
        How many data sets are simulated; the power's standard error is at most 0.5 over the root of it.
    random_state : None, int, Generator or RandomState
        The seed, also of the frequencies: that of the test to come.

    Returns
    -------
    float, or array where several sizes were given

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.datasets import make_chi2_samples
    >>> X, Y = make_chi2_samples(5_000, 1, freedoms=(4, 8), random_state=0)
    >>> power = un.phase_test_power(X, Y, [50, 400], n_draws=50)
    >>> bool(power[0] < power[1]), bool(un.phase_test_power(X, Y, 400, noise=1.0, n_draws=50) < power[1])
    (True, True)
    """
    checked_number(alpha, "alpha", above=True, most=1.0)
    sizes_X, sizes_Y = planned_sizes(n, n if k is None else k)
    positive_int(n_draws, "n_draws", most=_MOST_DRAWS)
    pilot = _pilot(pilot_X, pilot_Y, noise, random_state, clusters, cluster_size)
    positivity = checked_flag(positivity, "positivity")
    pairs = zip(sizes_X.ravel().tolist(), sizes_Y.ravel().tolist(), strict=True)
    with single_threaded_blas():
        powers = [np.mean(_pvalues(pilot, sizes, n_draws, positivity) <= alpha) for sizes in pairs]
    return float(powers[0]) if sizes_X.ndim == 0 else np.array(powers)


def planned_sizes(n: Any, k: Any) -> tuple[NDArray[np.int64], ...]:
    """Return the numbers of rows of X and of Y, as many of one as of the other."""
    of_samples = []
    for name, given in (("n", n), ("k", k)):
        try:
            sizes = np.asarray(given)
        except ValueError:  # lists of different lengths
            sizes = np.empty(0)
        if sizes.ndim > 1 or sizes.size == 0 or sizes.dtype.kind not in "iu" or (sizes < 2).any():
            raise ValueError(f"{name} must be an integer of at least 2, or a list of these; got {given!r}")
        of_samples.append(sizes.astype(np.int64))
    sizes_X, sizes_Y = of_samples
    if sizes_X.ndim and sizes_Y.ndim and sizes_X.shape != sizes_Y.shape:
        raise ValueError(f"n and k must have the same length; got {len(sizes_X)} and {len(sizes_Y)}")
    return np.broadcast_arrays(sizes_X, sizes_Y)


class _Pilot(NamedTuple):
    """What is known from the pilot: sketches, the noise to add, and some rows where there are any."""

    X: Sketch
    Y: Sketch
    noise: tuple[Floats, Floats]
    rows: tuple[Floats, Floats] | None
    generator: np.random.Generator
    without_clusters: tuple[Sketch, Sketch] | None = None  # of the same rows, where X and Y have clusters
    cluster_size: float | None = None


def _pilot(
    pilot_X: Any, pilot_Y: Any, noise: Any, random_state: RandomState, clusters: Any, cluster_size: Any
) -> _Pilot:
    generator, seed = seeded_generator(random_state)
    if cluster_size is not None:
        checked_number(cluster_size, "cluster_size", least=1.0)
    if isinstance(pilot_X, Sketch) or isinstance(pilot_Y, Sketch):
        left, right = comparable(pilot_X, pilot_Y, clusters)
        pilot = _Pilot(left, right, _noises(noise, left.n_columns), None, generator)
        if cluster_size is not None or (left.is_clustered and any(sd.any() for sd in pilot.noise)):
            raise ValueError(
                "pilot_X and pilot_Y must be rows, not sketches, for another cluster_size, or to add noise to rows in "
                "clusters: a sketch of clusters does not tell how rows vary within them"
            )
    else:
        sources = two_clustered(pilot_X, pilot_Y, clusters=clusters)
        if cluster_size is not None and sources[0].bag_ids is None:
            raise ValueError("cluster_size must be left out where the pilot has no clusters")
        added = _noises(noise, len(sources[0].columns))
        X, Y = (some_rows(source, _PILOT_ROWS, generator) for source in sources)
        noisy = [rows + sd * generator.standard_normal(rows.shape) for rows, sd in zip((X, Y), added, strict=True)]
        # The frequencies that the test will have with this seed.
        empty = Sketch.for_samples(*noisy, random_state=generator if seed is None else seed)
        left, right = (Sketch.like(empty).update(source, complete=True) for source in sources)
        pilot = _Pilot(left, right, added, (X, Y), generator)
        if left.is_clustered:
            plain_X, plain_Y = (Sketch.like(empty).update(read_rows(source)) for source in sources)
            pilot = pilot._replace(rows=None, without_clusters=(plain_X, plain_Y), cluster_size=cluster_size)
    for name, sketch in (("pilot_X", left), ("pilot_Y", right)):
        least, units = (_LEAST_CLUSTERS, "clusters") if sketch.is_clustered else (_LEAST_ROWS, "rows")
        if sketch.effective_size < least:
            number = sketch.n_clusters or sketch.n_rows
            raise ValueError(f"{name} must have at least {least} {units} to plan from; got {number}")
    return pilot


def _noises(noise: Any, d: int) -> tuple[Floats, Floats]:
    pair = noise if isinstance(noise, tuple) and len(noise) == 2 else (noise, noise)
    try:
        X, Y = (np.broadcast_to(np.asarray(sd, dtype=np.float64), (d,)) for sd in pair)
        if all((np.isfinite(sd) & (sd >= 0)).all() for sd in (X, Y)):
            return X, Y
    except (TypeError, ValueError):
        pass
    raise ValueError(f"noise must be a standard deviation, one for each of {d} columns, or a pair; got {noise!r}")


def _pvalues(pilot: _Pilot, sizes: tuple[int, int], n_draws: int, positivity: bool) -> Floats:
    """Return the p-values of data sets of these sizes."""
    left, right = _expected(pilot)
    if pilot.rows is None or max(sizes) > _LARGEST_RESAMPLED:
        return _from_means(left, right, pilot, sizes, n_draws, positivity)
    return _from_rows(left, right, pilot, sizes, n_draws, positivity)


def _expected(pilot: _Pilot) -> list[SampleMoments]:
    """Return the pilot with the noise, its phase differences shrunk by what sampling errors add."""
    W, left = pilot.X.frequencies, SampleMoments.of(pilot.X)
    right = SampleMoments.of(pilot.Y, left.centre)
    statistic = decomposed(left, right).noncentral()
    whole = float(statistic.shrinkage * statistic.statistic)
    kept = np.sqrt(max(0.0, whole - float(statistic.null.s1)) / whole) if whole > 0 else 1.0
    # Phases that are opposite, which positivity sees, stay so.
    angles = np.angle(left.phi * right.phi.conj())
    halves = (1 - kept) / 2 * (angles - np.pi * np.rint(angles / np.pi))
    expected = []
    for number, (sample, turns) in enumerate(((left, -halves), (right, halves))):
        moments, sd = _turned(sample, turns), pilot.noise[number]
        if pilot.without_clusters is None:
            expected.append(with_noise(moments, W, sd))
        else:  # clusters of the planned size, with the noise to come
            rows = _turned(SampleMoments.of(pilot.without_clusters[number], left.centre), turns)
            size = pilot.cluster_size or float(rows.size / moments.size)
            damping = np.tile(np.exp(-np.sum((W * sd) ** 2, axis=1) / 2), 2)  # of the characteristic function
            between = between_clusters(moments, rows) * np.outer(damping, damping)
            noisy = with_noise(rows, W, sd)
            expected.append(noisy._replace(covariance=between + (noisy.covariance - between) / size))
    return expected


def between_clusters(clusters: SampleMoments, rows: SampleMoments) -> Floats:
    """Return the covariance between clusters, B, from the moments of the same rows with and without clusters.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.twosample.phase.power import between_clusters
    >>> from uptonoise.twosample.phase.pair import SampleMoments
    >>> rows, ids = np.random.default_rng(0).normal(size=2_000), np.arange(2_000) // 10
    >>> parts = [un.Sketch([[1.0]]).update(rows, clusters=clusters) for clusters in (ids, None)]
    >>> B = between_clusters(*(SampleMoments.of(sketch, np.zeros(1)) for sketch in parts))
    >>> bool((np.abs(B) < 0.02).all())
    True
    """
    share = float(clusters.size / rows.size)  # g/N
    within = (rows.covariance - clusters.covariance) / (1 - share)
    values, vectors = np.linalg.eigh(clusters.covariance - share * within)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def _from_rows(
    left: SampleMoments, right: SampleMoments, pilot: _Pilot, sizes: tuple[int, int], n_draws: int, positivity: bool
) -> Floats:
    """Return p-values of rows of the pilot that are sampled again."""
    assert pilot.rows is not None
    blocks, generator = FrequencyBlocks.of(pilot.X, pilot.Y), pilot.generator
    noisy = [
        with_noise(SampleMoments.of(Sketch.like(pilot.X).update(rows), left.centre), pilot.X.frequencies, sd)
        for rows, sd in zip(pilot.rows, pilot.noise, strict=True)
    ]
    expected, found = (X.phi.imag * Y.phi.real - X.phi.real * Y.phi.imag for X, Y in ((left, right), noisy))
    moved = expected - found
    pvalues = np.empty(n_draws)
    for draw in range(n_draws):
        sketches = []
        for rows, size, sd in zip(pilot.rows, sizes, pilot.noise, strict=True):
            chosen = rows[generator.integers(len(rows), size=size)]
            sketches.append(Sketch.like(pilot.X).update(chosen + sd * generator.standard_normal(chosen.shape)))
        pair, block_pvalues = Pair.of(sketches[0], sketches[1]), []
        for block in blocks.tested.values():
            decomposition = decomposed(pair.left, pair.right, rows=pair.features, block=block)
            block_pvalues.append(decomposition._replace(S=decomposition.S + moved[block.place]).test().pvalue())
        pvalue = float(cauchy_combination(np.array(block_pvalues), blocks.weights))
        pvalues[draw] = positivity_test(pvalue, pair.left, pair.right).merged if positivity else pvalue
    return pvalues


def _turned(sample: SampleMoments, angles: Floats) -> SampleMoments:
    mean = turned(np.concatenate([sample.phi.real, sample.phi.imag]), angles)
    covariance = turned(turned(sample.covariance, angles).T, angles)
    return sample._replace(phi=as_complex(mean), covariance=covariance)


def with_noise(sample: SampleMoments, frequencies: Floats, sd: ArrayLike) -> SampleMoments:
    """Return what a sample would be with Gaussian noise in its columns."""
    m = len(frequencies)
    scaled = frequencies * np.asarray(sd)
    inner = scaled @ scaled.T
    lengths = np.diag(inner)
    of_difference = np.exp(-(lengths[:, None] + lengths - 2 * inner) / 2)
    of_sum = np.exp(-(lengths[:, None] + lengths + 2 * inner) / 2)
    mean = np.concatenate([sample.phi.real, sample.phi.imag])
    products = sample.covariance + np.outer(mean, mean)
    cc, cs, sc, ss = products[:m, :m], products[:m, m:], products[m:, :m], products[m:, m:]
    even, odd = of_difference * (cc + ss), of_sum * (cc - ss)
    plus, minus = of_sum * (sc + cs), of_difference * (sc - cs)
    noisy = np.block([[even + odd, plus - minus], [plus + minus, even - odd]]) / 2
    mean = mean * np.tile(np.exp(-lengths / 2), 2)
    return sample._replace(phi=as_complex(mean), covariance=noisy - np.outer(mean, mean))


def _from_means(
    left: SampleMoments, right: SampleMoments, pilot: _Pilot, sizes: tuple[int, int], n_draws: int, positivity: bool
) -> Floats:
    """Return p-values of Gaussian means of sketches."""
    blocks, generator = FrequencyBlocks.of(pilot.X, pilot.Y), pilot.generator
    pvalues: list[float] = []
    for start in range(0, n_draws, _AT_ONCE):
        count = min(_AT_ONCE, n_draws - start)
        drawn = []
        for sample, size in zip((left, right), sizes, strict=True):
            values, vectors = np.linalg.eigh(sample.covariance / size)
            normals = generator.standard_normal((count, len(values))) * np.sqrt(np.maximum(values, 0))
            means = np.concatenate([sample.phi.real, sample.phi.imag]) + normals @ vectors.T
            drawn.append(sample._replace(phi=as_complex(means), size=np.full(count, float(size))))
        X, Y = drawn
        block_pvalues = []
        for block in blocks.tested.values():
            ridge = decomposed(X, Y, block=block).test()
            spread = (ridge.null.denominator - 2) / generator.chisquare(ridge.null.denominator)
            block_pvalues.append(ridge.pvalue(ridge.statistic / ridge.shrinkage * spread))
        merged = cauchy_combination(np.stack(block_pvalues, axis=-1), blocks.weights).tolist()
        if positivity:
            merged = [positivity_test(*parts).merged for parts in zip(merged, X.each(), Y.each(), strict=True)]
        pvalues += merged
    return np.array(pvalues)
