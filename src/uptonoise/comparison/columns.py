"""The comparison of each column by itself, adjusted for the number of columns."""

from __future__ import annotations

import numpy as np

from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise.comparison.evidence import ColumnComparison, Evidence, own_columns
from uptonoise.comparison.steps import column_pvalues
from uptonoise.twosample import Pair, adjusted_pvalues, mmd_of_pair


def compare_columns(evidence: Evidence) -> tuple[ColumnComparison, ...]:
    """Return the comparison of each column that has frequencies of its own.

    Effects, offsets and noises are those of the whole comparison, so that nothing is told twice with other numbers.
    """
    own, coded, steps = own_columns(evidence.sketches[0], evidence.columns), evidence.coded, []
    with single_threaded_blas:
        for name in own:
            place = evidence.columns.index(name)
            left, right = (sketch.select([sketch.columns[place]]) for sketch in evidence.sketches)
            column, differences = Pair.of(left, right), evidence.differences
            if differences is not None:
                differences = differences.select([differences.columns[place]])
            of_phases = column_pvalues(column, differences, is_movable=name not in coded)
            steps.append((mmd_of_pair(column).pvalue, *of_phases))
    table = np.array(steps).reshape(-1, 3)
    pvalues = dict(zip(("at_all", "beyond_noise", "beyond_offset"), table.T, strict=True))
    pvalues |= {f"adjusted_{name}": _holm(values) for name, values in pvalues.items()}
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
        for i, name in enumerate(own)
    )


def _holm(pvalues: Floats) -> Floats:
    """Adjust the p-values that are known."""
    adjusted, known = pvalues.copy(), ~np.isnan(pvalues)
    adjusted[known] = adjusted_pvalues(pvalues[known], "holm")
    return adjusted
