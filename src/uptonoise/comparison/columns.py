"""The ladder of each column by itself, adjusted for the number of columns."""

from __future__ import annotations

import math

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.comparison.evidence import ColumnComparison
from uptonoise.twosample import (
    ExtraNoise,
    Pair,
    PhaseResult,
    adjusted_pvalues,
    fitted_shift,
    mmd_of_pair,
    phase_result,
)


def compare_columns(pair: Pair, extra: ExtraNoise, missing: list[str]) -> tuple[ColumnComparison, ...]:
    """Return the ladder of each column that has frequencies of its own, and add to `missing` if others have none."""
    alone = np.count_nonzero(pair.X.frequencies, axis=1) == 1
    places = np.flatnonzero((pair.X.frequencies[alone] != 0).any(axis=0)).tolist()
    own = [pair.columns[place] for place in places]
    if len(own) < len(pair.columns):
        missing.append(f"columns by themselves: the sketches have frequencies of their own for {own} only")
    margins = [Pair.of(pair.X.select([pair.X.columns[j]]), pair.Y.select([pair.Y.columns[j]])) for j in places]
    beyond_noise = [phase_result(margin) for margin in margins]
    beyond_offset = [_up_to_offset(margin) for margin in margins]
    pvalues = {
        "at_all": np.array([mmd_of_pair(margin).pvalue for margin in margins]),
        "beyond_noise": np.array([result.pvalue for result in beyond_noise]),
        "beyond_offset": np.array([math.nan if result is None else result.pvalue for result in beyond_offset]),
    }
    pvalues |= {f"adjusted_{step}": _holm(values) for step, values in pvalues.items()}
    return tuple(
        ColumnComparison(
            column=name,
            **{step: float(values[i]) for step, values in pvalues.items()},
            effect=beyond_noise[i].effect,
            **_offset_fields(beyond_offset[i]),
            extra_noise=float(extra.variances[place]),
            extra_noise_error=float(extra.standard_errors[place]),
        )
        for i, (name, place) in enumerate(zip(own, places, strict=True))
    )


def _up_to_offset(margin: Pair) -> PhaseResult | None:
    try:
        return phase_result(fitted_shift(margin.X, margin.Y))
    except ValueError:  # too few rows or frequencies
        return None


def _offset_fields(result: PhaseResult | None) -> dict[str, float]:
    if result is None or result.shift is None or result.shift_interval is None:
        return {"offset": math.nan, "offset_low": math.nan, "offset_high": math.nan}
    low, high = result.shift_interval[0]
    return {"offset": float(result.shift[0]), "offset_low": float(low), "offset_high": float(high)}


def _holm(pvalues: Floats) -> Floats:
    """Adjust the p-values that are known."""
    adjusted, known = pvalues.copy(), ~np.isnan(pvalues)
    adjusted[known] = adjusted_pvalues(pvalues[known], "holm")
    return adjusted
