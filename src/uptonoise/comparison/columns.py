"""The comparison of each column by itself, adjusted for the number of columns."""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.comparison.evidence import ColumnComparison, Evidence, NoiseAdded, Verdict
from uptonoise.comparison.inputs import Inputs
from uptonoise.comparison.steps import column_pvalues
from uptonoise.twosample import Pair, adjusted_pvalues, mmd_of_pair

_SIGNALS_DIFFER = (Verdict.BEYOND_OFFSET, Verdict.BEYOND_NOISE, Verdict.SYMMETRIC)


def compare_columns(inputs: Inputs, evidence: Evidence, missing: list[str]) -> tuple[ColumnComparison, ...]:
    """Return the comparison of each column that has frequencies of its own.

    Effects, offsets and noises are those of the whole comparison, so that nothing is told twice with other numbers.
    """
    pair = inputs.pair
    alone = np.count_nonzero(pair.X.frequencies, axis=1) == 1
    places = np.flatnonzero((pair.X.frequencies[alone] != 0).any(axis=0)).tolist()
    own = [pair.columns[place] for place in places]
    if len(own) < len(pair.columns):
        missing.append(f"columns by themselves: the sketches have frequencies of their own for {own} only")
    steps, coded = [], inputs.coded
    for place in places:
        left, right = (sketch.select([sketch.columns[place]]) for sketch in (pair.X, pair.Y))
        column = Pair.of(left, right)
        differences = inputs.differences and inputs.differences.select([inputs.differences.columns[place]])
        of_phases = column_pvalues(column, differences, is_movable=pair.columns[place] not in coded)
        steps.append((mmd_of_pair(column).pvalue, *of_phases))
    table = np.array(steps).reshape(-1, 3)
    pvalues = dict(zip(("at_all", "beyond_noise", "beyond_offset"), table.T, strict=True))
    pvalues |= {f"adjusted_{name}": _holm(values) for name, values in pvalues.items()}
    offsets = {offset.column: offset for offset in evidence.offsets()}
    noises = _noises(evidence)
    return tuple(
        ColumnComparison(
            column=name,
            **{step: float(values[i]) for step, values in pvalues.items()},
            effect=evidence.effect.in_column(name),
            effect_beyond_offset=evidence.effect_beyond_offset.in_column(name),
            offset=None if name in coded else offsets.get(name),
            noise=None if name in coded else noises.get(name),
        )
        for i, name in enumerate(own)
    )


def _noises(evidence: Evidence) -> dict[str, NoiseAdded]:
    """Return the noise of each column; none where the signals differ, so that amplitudes tell more than noise."""
    if evidence.extra_noise is None or evidence.verdict in _SIGNALS_DIFFER:
        return {}
    extra = evidence.extra_noise
    noises = {}
    for name, variance, (low, high) in zip(evidence.columns, extra.variances, extra.interval(), strict=True):
        noise = NoiseAdded.of(name, evidence.names, float(variance), float(low), float(high))
        if noise is not None:
            noises[name] = noise
    return noises


def _holm(pvalues: Floats) -> Floats:
    """Adjust the p-values that are known."""
    adjusted, known = pvalues.copy(), ~np.isnan(pvalues)
    adjusted[known] = adjusted_pvalues(pvalues[known], "holm")
    return adjusted
