"""The question people ask: do two samples differ, and by more than noise? :func:`compare` climbs the ladder of tests.

Two inputs become two sketches, these become a pair of moments, and every test that needs no rows starts from the pair.
:mod:`uptonoise.comparison.evidence` says what the tests mean together.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.results import changed
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.validation import checked_flag
from uptonoise._util.warning import warn
from uptonoise.comparison.evidence import MARGIN, Summary, check_options
from uptonoise.comparison.inputs import Inputs, read_inputs, read_pairs
from uptonoise.comparison.pairs import swap_test
from uptonoise.comparison.places import Place, differing_places
from uptonoise.comparison.result import Comparison
from uptonoise.comparison.steps import Symmetry, phase_steps
from uptonoise.rows import Coding, DependentRowsWarning, Missing, split_name, two_coded
from uptonoise.twosample import (
    NEEDS_SINGLE_COLUMNS,
    Samples,
    flip_of_pairs,
    me_of_samples,
    mmd_of_pair,
    mmd_of_samples,
    pairs_as_given,
    random_pairs,
)

_FEW_ROWS = 50  # below which the exact test decides
_N_PAIRINGS = 60  # of few rows, so that the seed matters little
_QUADRATIC = 4_000  # rows of both samples up to which MMD has its exact kernel
_LEAST_FOR_ME = 20
_SHOWN_ROWS = 5_000


def compare(
    X: Any,
    Y: Any,
    *,
    names: Sequence[str] | None = None,
    margin: float = MARGIN,
    alpha: float = 0.05,
    paired: bool = False,
    weights: tuple[Any, Any] = (None, None),
    clusters: Any = None,
    missing: Missing = "error",
    categories: Coding | None = None,
    n_frequencies: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Ask whether two samples differ, and whether by more than noise: one answer, with all that it rests on.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, Bags, RowSource, or Sketch
        The two samples; two Bags are samples of clusters, two sketches give all that needs no rows.
    names : pair of str, optional
        What to call them; by default X and Y, or their files.
    margin : float
        The largest difference that you call negligible, as a shift in standard deviations of the less spread-out
        sample. "Differ only by noise" and "differ, but by less than the margin" need larger ones to be ruled out.
    alpha : float
        The significance level of the tests, and one minus the confidence of bounds.
    paired : bool
        Whether row i of X and row i of Y are of the same object; the exact flip test decides then.
    weights, clusters : pair of arrays, or str, optional
        Weights of the rows (tests that need equal ones are left out) and ids of rows that belong together, or the
        columns that hold them. Without ids, dependence gives a :class:`DependentRowsWarning`.
    missing, categories : {"error", "drop"}, and {None, "one-hot"}
        Whether a missing value is an error or its row is left out, and whether a column of text in a frame is an error
        or becomes columns of 0 and 1 (:func:`one_hot`); ``result.input`` tells.
    n_frequencies, random_state : int, optional, and None, int, Generator or RandomState
        The largest number of frequencies (fewer is faster but less sensitive), and the seed, by default a fixed one.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.gamma(2, size=5_000), rng.gamma(2, size=5_000) + rng.normal(size=5_000)
    >>> un.compare(old, new, names=["old", "new"]).verdict
    'differ only by noise'
    """
    check_options(margin, alpha, names)
    generator, seed = seeded_generator(random_state)
    read = read_pairs if checked_flag(paired, "paired") else read_inputs
    X, Y, coded = (X, Y, {}) if categories is None else two_coded(X, Y, categories, weights, clusters)
    inputs = read(X, Y, weights, clusters, missing, n_frequencies, generator)
    if coded:
        inputs = inputs._replace(records=[record._replace(categories=coded) for record in inputs.records])
    return climb(inputs, generator, names=names, margin=float(margin), alpha=float(alpha), seed=seed)


def climb(
    inputs: Inputs,
    generator: np.random.Generator,
    *,
    names: Sequence[str] | None,
    margin: float,
    alpha: float,
    seed: int | None,
    symmetries: tuple[Symmetry, Symmetry] | None = None,
) -> Comparison:
    """Take all steps that the inputs have enough for, and say which are missing."""
    for sign in inputs.dependent:
        warn(str(sign), DependentRowsWarning)
    pair, samples, missing = inputs.pair, inputs.samples, list[str]()
    if names is None:
        names = inputs.names if inputs.names[0] != inputs.names[1] else ("X", "Y")
    of_rows = _tests_of_rows(inputs, missing, generator)
    # Columns of 0 and 1 that stand for categories have no offset.
    categories = {column for record in inputs.records for column in record.categories}
    movable = np.array([split_name(name, categories) is None for name in pair.columns]) if categories else None
    with single_threaded_blas():  # for matrices as small as these more threads only wait for each other
        phase, up_to_offset, effect_beyond_offset, why_no_offset = phase_steps(pair, inputs.differences, movable, seed)
    if why_no_offset is not None:
        missing.append(f"the test up to an offset: {why_no_offset}")
    single = pair.X.frequencies[np.count_nonzero(pair.X.frequencies, axis=1) == 1]
    own = tuple(name for name, is_own in zip(pair.columns, (single != 0).any(axis=0), strict=True) if is_own)
    if not own:
        missing.append(f"noise, and columns by themselves: {NEEDS_SINGLE_COLUMNS}")
    if len(own) < len(pair.columns):
        missing.append(f"columns by themselves: the sketches have frequencies of their own for {list(own)} only")
    comparison = Comparison(
        names=(names[0], names[1]),
        sizes=pair.sizes,
        columns=pair.columns,
        own_columns=own,
        paired=inputs.differences is not None,
        phase=phase,
        up_to_offset=up_to_offset,
        effect=phase.effect,
        effect_beyond_offset=effect_beyond_offset,
        places=(),
        missing=tuple(missing),
        alpha=alpha,
        margin=margin,
        seed=seed,
        sketches=(pair.X, pair.Y),
        differences=inputs.differences,
        symmetries=symmetries or (Symmetry(copy(pair.X), alpha), Symmetry(copy(pair.Y), alpha)),
        dependent=tuple(map(str, inputs.dependent)),
        **pair.cluster_counts,
        **of_rows,
        records=inputs.records,
    )
    if isinstance(samples, Samples) and not comparison.paired and comparison.differs_beyond_noise:
        return changed(comparison, places=_places(samples, comparison, generator))
    return comparison


def _places(samples: Samples, comparison: Comparison, generator: np.random.Generator) -> tuple[Place, ...]:
    """Return where the samples differ beyond noise, in the columns that differ by themselves, if any do."""
    differ = [column.column for column in comparison.by_column if column.adjusted_beyond_noise <= comparison.alpha]
    coded = comparison.coded
    columns = [column for column in differ or comparison.columns if column not in coded]
    if not columns:  # a table of categories tells where they differ
        return ()
    X, Y = (rows[:, [comparison.columns.index(column) for column in columns]] for rows in (samples.X, samples.Y))
    return differing_places(X, Y, columns, comparison.alpha, generator, samples.clusters)


def _tests_of_rows(inputs: Inputs, missing: list[str], generator: np.random.Generator) -> dict[str, Any]:
    """Return MMD, ME and the flip test, as far as there are rows for them, and rows to show: fields of a comparison."""
    pair, samples = inputs.pair, inputs.samples
    smallest = min(pair.cluster_counts.get("n_clusters", pair.sizes))
    has_few = smallest < _FEW_ROWS and not pair.is_clustered
    me = flip = None
    if isinstance(samples, str):
        missing.append(f"ME, and places where they differ, need {samples}")
        if has_few:
            missing.append(f"the flip test, which is exact for few rows, needs {samples}")
        return {"mmd": mmd_of_pair(pair), "me": None, "flip": None, "shown": None}
    if inputs.differences is not None:
        n_pairings = 1 if samples.clusters is None else _N_PAIRINGS  # each has one row per cluster
        flip = flip_of_pairs(pairs_as_given(samples), generator, n_pairings)
        mmd = swap_test(samples, generator)
    else:
        has_all = samples.sizes == pair.sizes
        if has_all:
            mmd = mmd_of_samples(samples, generator, "quadratic" if sum(pair.sizes) <= _QUADRATIC else "fourier")
        else:
            mmd = mmd_of_pair(pair)
        if smallest >= _LEAST_FOR_ME:
            me = me_of_samples(samples, generator)
        else:
            units = "clusters" if pair.is_clustered else "rows"
            missing.append(f"ME, and places where they differ, need {_LEAST_FOR_ME} {units} of each sample")
        if has_all and has_few:
            flip = flip_of_pairs(random_pairs(samples), generator, _N_PAIRINGS)
    shown, summaries = [], []
    for rows in (samples.X, samples.Y):
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest there are
            deviations = rows.std(axis=0, ddof=min(1, len(rows) - 1))
            summaries.append(Summary(len(rows), rows.mean(axis=0), deviations, np.median(rows, axis=0)))
        if len(rows) > _SHOWN_ROWS:
            rows = rows[np.sort(generator.choice(len(rows), _SHOWN_ROWS, replace=False))]
        shown.append(rows)
    return {"mmd": mmd, "me": me, "flip": flip, "shown": tuple(shown), "summaries": tuple(summaries)}
