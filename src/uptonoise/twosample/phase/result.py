"""What the phase test returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uptonoise._util.results import computed
from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.effect import EffectSize
from uptonoise.twosample.phase.noncentrality import Noncentrality
from uptonoise.twosample.result import TwoSampleResult

_TOO_NOISY = 0.2  # power against the reference effect


def _column_shares(result: PhaseResult) -> Floats:
    """Share out what frequencies contribute over columns, each in units of its own frequencies."""
    W = result.frequencies
    units = np.sqrt(np.mean(W**2, axis=0))
    squares = np.divide(W, units, out=np.zeros_like(W), where=units > 0) ** 2
    lengths = squares.sum(axis=1, keepdims=True)
    squares = np.divide(squares, lengths, out=np.zeros_like(squares), where=lengths > 0)
    shares = np.maximum(result.contributions, 0) @ squares
    return np.asarray(shares / shares.sum() if shares.sum() > 0 else shares)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PhaseResult(TwoSampleResult):
    """The outcome of :func:`phase_test`.

    Attributes
    ----------
    invariant_to : str
        What does not count as a difference: "noise" or "noise+shift".
    phase_pvalue : float
        The p-value of the phases, merged from those of the blocks.
    positivity_pvalue : float or None
        The p-value of positivity; None where it was not asked for.
    block_pvalues : dict
        The p-value of each block of frequencies. `statistic` is the mean of the blocks' statistics, each over its mean
        under the null hypothesis, weighted as they are merged.
    effect : EffectSize
        How large the difference is, in standard deviations of a shift, with its interval: noise does not change it, and
        small p-values come from large samples too.
    noncentrality : Noncentrality
        How clearly the difference shows per row, at these noises.
    reference_power : float
        The power that the phases had at these sizes and noises against a reference effect: one column of the less
        noisy sample moved by half of its spread (up to a shift, its skewness changed by 1); the median over columns.
    shift : array of shape (d,) or None
        Up to a shift: by how much X lies further than Y, in each column.
    shift_interval : array of shape (d, 2) or None
        The 95 % intervals of that.
    frequencies : array of shape (m, d)
        The frequencies used.
    phase_differences : array of shape (m,)
        By how much the phase of X is ahead of that of Y at each frequency, in radians.
    standard_errors : array of shape (m,)
        Their standard errors, at most pi: a phase cannot be more uncertain than that.
    contributions : array of shape (m,)
        What each frequency adds to `statistic`; 0 for those that only positivity looks at.
    column_shares : array of shape (d,)
        The share of each column in what the frequencies contribute.
    """

    test: ClassVar[str] = "Phase test"

    invariant_to: str
    phase_pvalue: float
    positivity_pvalue: float | None
    block_pvalues: dict[str, float]
    effect: EffectSize
    noncentrality: Noncentrality
    reference_power: float
    shift: Floats | None
    shift_interval: Floats | None
    frequencies: Floats
    phase_differences: Floats
    standard_errors: Floats
    contributions: Floats
    column_shares: Floats = computed(_column_shares)

    @property
    def too_noisy(self) -> bool:
        """Whether the test could hardly have seen the reference effect: a large p-value then says nothing."""
        return self.reference_power < _TOO_NOISY

    def equivalent(self, margin: float, alpha: float = 0.05) -> bool:
        """Tell whether the effect is below `margin` standard deviations, with confidence 1 - alpha."""
        return self.effect.equivalent(margin, alpha)

    def _more(self) -> list[str]:
        lines = [f"up to {self.invariant_to.replace('+', ' and ')}; {self.effect!r}"]
        if self.too_noisy and self.pvalue > 0.05:
            reference = "a shift by half of the spread" if self.shift is None else "a change of the skewness by 1"
            power = f"{self.reference_power:.2f}"
            lines.append(f"too noisy to tell, or too few rows: {reference} would be seen with probability {power}")
        blocks = ", ".join(f"{name} {pvalue:.3g}" for name, pvalue in self.block_pvalues.items())
        positivity = "" if self.positivity_pvalue is None else f"; positivity {self.positivity_pvalue:.3g}"
        lines.append(f"{len(self.frequencies)} frequencies; p-values: {blocks}{positivity}")
        if self.shift is not None and self.shift_interval is not None:
            shown = zip(self.columns, self.shift, self.shift_interval, strict=True)
            shifts = [f"{name} {value:.3g} ({low:.3g} to {high:.3g})" for name, value, (low, high) in shown]
            lines.append("shift of X: " + ", ".join(shifts[:5]) + (", ..." if len(shifts) > 5 else ""))
        if self.column_shares.any() and len(self.columns) > 1:
            most = np.argsort(-self.column_shares)[:5]
            shares = ", ".join(f"{self.columns[column]} {self.column_shares[column]:.0%}" for column in most)
            lines.append(f"columns that carry most of the statistic: {shares}")
        return lines
