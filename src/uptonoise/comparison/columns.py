"""The comparison of each column by itself, adjusted for the number of columns."""

from __future__ import annotations

import math

import numpy as np

from uptonoise._util.threads import single_threaded_blas
from uptonoise.comparison.evidence import ColumnComparison, Evidence
from uptonoise.comparison.steps import OF_THE_SAME_ROWS
from uptonoise.twosample import Pair, adjusted_pvalues, fitted_shift, mmd_of_pair, pair_pvalue


def compare_columns(evidence: Evidence) -> tuple[ColumnComparison, ...]:
    """Return the comparison of each column that has frequencies of its own.

    Effects, offsets and noises are those of the whole comparison, so that nothing is told twice with other numbers.
    """
    coded, steps, differences = evidence.coded, [], evidence.differences
    worth = 1.0 if differences is None else OF_THE_SAME_ROWS
    with single_threaded_blas():
        for name in evidence.own_columns:
            place = evidence.columns.index(name)
            X, Y = (sketch.select([sketch.columns[place]]) for sketch in evidence.sketches)
            at_all = mmd_of_pair(Pair.of(X, Y)).pvalue
            if differences is not None:
                X = differences.select([differences.columns[place]])
                Y = X.mirrored()
            beyond_noise = beyond_offset = pair_pvalue(Pair.of(X, Y, worth), positivity=differences is None)
            if name not in coded:
                try:
                    aligned = fitted_shift(X, Y, worth)
                except ValueError:  # too few rows or frequencies
                    beyond_offset = math.nan
                else:
                    beyond_offset = pair_pvalue(aligned, positivity=differences is None)
            steps.append((at_all, beyond_noise, beyond_offset))
    table = np.array(steps).reshape(-1, 3)
    pvalues = dict(zip(("at_all", "beyond_noise", "beyond_offset"), table.T, strict=True))
    for step, values in list(pvalues.items()):
        adjusted, known = values.copy(), ~np.isnan(values)
        adjusted[known] = adjusted_pvalues(values[known], "holm")
        pvalues[f"adjusted_{step}"] = adjusted
    offsets = {offset.column: offset for offset in evidence.offsets()}
    noises = {noise.column: noise for noise in evidence.noise}
    return tuple(
        ColumnComparison(
            column=name,
            **{step: float(values[i]) for step, values in pvalues.items()},
            effect=evidence.effect.in_column(name),
            effect_beyond_offset=evidence.effect_beyond_offset.in_column(name),
            offset=offsets.get(name),
            noise=noises.get(name),
        )
        for i, name in enumerate(evidence.own_columns)
    )
