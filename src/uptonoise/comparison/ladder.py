"""The question people ask: do two samples differ, and by more than noise? :func:`compare` climbs the ladder of tests.

Two inputs become two sketches, these become a pair of moments, and every test that needs no rows starts from the pair.
:mod:`uptonoise.comparison.evidence` says what the tests mean together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise.comparison.columns import compare_columns
from uptonoise.comparison.evidence import MARGIN, check_margin_and_alpha
from uptonoise.comparison.inputs import Inputs, Missing, read_inputs
from uptonoise.comparison.result import Comparison
from uptonoise.fourier import Sketch
from uptonoise.rows import InputRecord
from uptonoise.twosample import (
    ExtraNoise,
    FlipResult,
    MeResult,
    MmdResult,
    Pair,
    fitted_shift,
    flip_test,
    me_test,
    mmd_of_pair,
    mmd_test,
    noise_difference,
    phase_pvalue,
    phase_result,
)

_FEW_ROWS = 50  # below which the exact test decides
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
    weights: tuple[Any, Any] = (None, None),
    missing: Missing = "error",
    n_frequencies: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Ask whether two samples differ, and whether by more than noise: one answer, with all that it rests on.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, RowSource, or Sketch
        The two samples; or two sketches with the same frequencies, for all that needs no rows.
    names : pair of str, optional
        What to call them; by default X and Y, or their files.
    margin : float
        "Only by noise" needs an effect below this. An effect is about the square of a shift in standard deviations,
        so the default, 0.04, is that of a shift by 0.2 SD.
    alpha : float
        The significance level of the tests, and one minus the confidence of bounds.
    weights : pair of arrays or str, optional
        Weights for the rows of X and of Y, or the columns that hold them. Tests that need equal weights are left out.
    missing : {"error", "drop"}
        Whether a missing value is an error, or its row is left out; ``result.input`` counts such rows.
    n_frequencies : int, optional
        Maximum number of frequencies, as for :meth:`Sketch.for_samples`. Fewer is faster but less sensitive.
    random_state : None, int, Generator or RandomState
        The seed; a fixed one by default, so that the same data give the same answer.

    Returns
    -------
    Comparison

    See Also
    --------
    compare_groups : many samples, all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.gamma(2, size=5_000), rng.gamma(2, size=5_000) + rng.normal(size=5_000)
    >>> un.compare(old, new, names=["old", "new"]).verdict
    'differ only by noise'
    """
    check_margin_and_alpha(margin, alpha)
    generator, seed = seeded_generator(random_state)
    inputs = read_inputs(X, Y, weights, n_frequencies, generator, missing)
    return _climbed(inputs, _two_names(names, inputs.names), float(margin), float(alpha), generator, seed)


def _climbed(
    inputs: Inputs,
    names: tuple[str, str],
    margin: float,
    alpha: float,
    generator: np.random.Generator,
    seed: int | None,
) -> Comparison:
    pair, missing = inputs.pair, list[str]()
    mmd, me, flip = _tests_of_rows(inputs, missing, generator)
    with single_threaded_blas:  # for matrices as small as these more threads only wait for each other
        phase = phase_result(pair, seed=seed)
        aligned = _aligned(pair.X, pair.Y, missing)
        up_to_offset = None if aligned is None else phase_result(aligned, seed=seed)
        extra = _extra_noise(pair, None if up_to_offset is None else up_to_offset.phase_pvalue, missing)
        by_column = () if extra is None else compare_columns(pair, extra, missing)
        symmetric = _is_symmetric(pair.X, alpha) and _is_symmetric(pair.Y, alpha)
    shown = None
    if not isinstance(inputs.rows, str):
        shown = _some(inputs.rows[0], generator), _some(inputs.rows[1], generator)
    return Comparison(
        names=names,
        sizes=pair.sizes,
        columns=pair.columns,
        mmd=mmd,
        me=me,
        phase=phase,
        flip=flip,
        up_to_offset=up_to_offset,
        extra_noise=extra,
        by_column=by_column,
        missing=tuple(missing),
        alpha=alpha,
        margin=margin,
        seed=seed,
        sketches=(pair.X, pair.Y),
        symmetric=symmetric,
        shown=shown,
        input=InputRecord.of(names, pair.sizes, pair.columns, inputs.records),
    )


def _tests_of_rows(
    inputs: Inputs, missing: list[str], generator: np.random.Generator
) -> tuple[MmdResult, MeResult | None, FlipResult | None]:
    """Return MMD, ME and the flip test, as far as there are rows for them."""
    pair, smallest, columns = inputs.pair, min(inputs.pair.sizes), inputs.pair.columns
    if isinstance(inputs.rows, str):
        missing.append(f"ME and its places need {inputs.rows}")
        if smallest < _FEW_ROWS:
            missing.append(f"the flip test, which is exact for few rows, needs {inputs.rows}")
        return mmd_of_pair(pair), None, None
    X, Y = inputs.rows
    has_all = (len(X), len(Y)) == pair.sizes
    if has_all:
        method: Literal["quadratic", "fourier"] = "quadratic" if len(X) + len(Y) <= _QUADRATIC else "fourier"
        mmd = replace(mmd_test(X, Y, method=method, random_state=generator), columns=columns)
    else:
        mmd = mmd_of_pair(pair)
    me = flip = None
    if smallest >= _LEAST_FOR_ME:
        me = replace(me_test(X, Y, random_state=generator), columns=columns)
    else:
        missing.append(f"ME and its places need {_LEAST_FOR_ME} rows of each sample")
    if has_all and smallest < _FEW_ROWS:
        flip = replace(flip_test(X, Y, random_state=generator), columns=columns)
    return mmd, me, flip


def _aligned(X: Sketch, Y: Sketch, missing: list[str]) -> Pair | None:
    """Return both sketches up to their offset, or None where it cannot be estimated."""
    try:
        return fitted_shift(X, Y)
    except ValueError as error:
        missing.append(f"the test up to an offset: {error}")
        return None


def _extra_noise(pair: Pair, signals_agree: float | None, missing: list[str]) -> ExtraNoise | None:
    try:
        return noise_difference(pair, signals_agree)
    except ValueError as error:
        missing.append(f"extra noise, and columns by themselves: {error}")
        return None


def _is_symmetric(sketch: Sketch, alpha: float) -> bool:
    """Tell whether a sample cannot be told from its mirror image, up to an offset."""
    aligned = _aligned(sketch, sketch.mirrored(), [])
    return aligned is not None and phase_pvalue(aligned) > alpha


def _some(rows: Floats, generator: np.random.Generator) -> Floats:
    return rows if len(rows) <= _SHOWN_ROWS else rows[np.sort(generator.choice(len(rows), _SHOWN_ROWS, replace=False))]


def _two_names(names: Sequence[str] | None, default: tuple[str, str]) -> tuple[str, str]:
    if names is None:
        return default if default[0] != default[1] else ("X", "Y")
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"names must be two names, one for each sample; got {names!r}")
    if names[0] == names[1]:
        raise ValueError(f"names must differ; got {names[0]!r} twice")
    return names[0], names[1]
