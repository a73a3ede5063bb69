"""What a comparison rests on, and the rules that make a verdict of it.

The ladder: do the samples differ at all (MMD and ME)? Do they differ beyond symmetric noise (phase test; flip test
where rows are few)? Do they differ beyond noise and an offset? Each null hypothesis holds wherever the one before it
does, so a step counts only if the one before it was taken, and the false-positive rate of "beyond noise" is at most
alpha, however many steps follow. "Only by noise" is a claim of its own: it needs an effect beyond noise that is below
a margin, with confidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, NamedTuple

from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.fourier import Sketch
from uptonoise.rows import InputRecord
from uptonoise.twosample import EffectSize, ExtraNoise, FlipResult, MeResult, MmdResult, PhaseResult

MARGIN = 0.04  # the effect of a shift by 0.2 standard deviations


class Verdict(StrEnum):
    """The verdicts of a comparison; each is a string and equals its text."""

    NO_DIFFERENCE = "no difference found"
    NOT_BEYOND_NOISE = "no difference beyond noise found"
    ONLY_NOISE = "differ only by noise"
    OFFSET = "differ by noise and an offset"
    BEYOND_OFFSET = "differ beyond noise and an offset"
    TOO_NOISY = "too noisy to tell"

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnComparison(Result):
    """The ladder of one column alone.

    Attributes
    ----------
    column : str
        Its name.
    at_all, beyond_noise, beyond_offset : float
        The p-values of the column by itself: any difference, beyond noise, beyond noise and an offset. The last one is
        NaN where there are too few rows for it.
    adjusted_at_all, adjusted_beyond_noise, adjusted_beyond_offset : float
        The same, adjusted for the number of columns by Holm's method.
    effect : EffectSize
        How large the difference beyond noise is.
    offset, offset_low, offset_high : float
        By how much X lies further than Y up to noise, with a 95 % interval; NaN where it is not known.
    extra_noise, extra_noise_error : float
        The variance of the noise of X less that of Y, and its standard error, infinite where it is not known.
    """

    column: str
    at_all: float
    beyond_noise: float
    beyond_offset: float
    adjusted_at_all: float
    adjusted_beyond_noise: float
    adjusted_beyond_offset: float
    effect: EffectSize
    offset: float
    offset_low: float
    offset_high: float
    extra_noise: float
    extra_noise_error: float


class Offset(NamedTuple):
    """By how much a column of X lies further than that of Y, with a 95 % interval."""

    column: str
    shift: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.column} {self.shift:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence(Result):
    """The tests and estimates of a comparison, and the verdict that follows from them."""

    hidden: ClassVar[tuple[str, ...]] = ("sketches", "shown")

    names: tuple[str, str]
    sizes: tuple[int, int]
    columns: tuple[str, ...]
    mmd: MmdResult
    me: MeResult | None
    phase: PhaseResult
    flip: FlipResult | None
    up_to_offset: PhaseResult | None
    extra_noise: ExtraNoise | None
    by_column: tuple[ColumnComparison, ...]
    missing: tuple[str, ...]
    alpha: float
    margin: float
    seed: int | None
    sketches: tuple[Sketch, Sketch]
    symmetric: bool
    shown: tuple[Floats, Floats] | None
    input: InputRecord = field(default_factory=InputRecord)

    @property
    def at_all_pvalue(self) -> float:
        """The p-value of any difference: twice the smaller one of MMD's and ME's, or MMD's alone."""
        if self.me is None:
            return self.mmd.pvalue
        return min(1.0, 2 * min(self.mmd.pvalue, self.me.pvalue))

    @property
    def beyond_noise_pvalue(self) -> float:
        """The p-value that decides whether they differ beyond noise."""
        return self.phase.pvalue if self.flip is None else self.flip.pvalue

    @property
    def beyond_offset_pvalue(self) -> float | None:
        """The p-value up to noise and an offset; None where there are too few rows for it."""
        return None if self.up_to_offset is None else self.up_to_offset.pvalue

    @property
    def differs_at_all(self) -> bool:
        """Whether any difference was detected."""
        return self.at_all_pvalue <= self.alpha or self.differs_beyond_noise

    @property
    def differs_beyond_noise(self) -> bool:
        """Whether a difference beyond noise was detected."""
        return self.beyond_noise_pvalue <= self.alpha

    @property
    def differs_beyond_offset(self) -> bool:
        """Whether a difference beyond noise and an offset was detected."""
        pvalue = self.beyond_offset_pvalue
        return self.differs_beyond_noise and (pvalue is None or pvalue <= self.alpha)

    @property
    def effect(self) -> EffectSize:
        """How large the difference beyond noise is; up to an offset, where that is the verdict."""
        is_offset = self.differs_beyond_noise and not self.differs_beyond_offset
        return self.up_to_offset.effect if is_offset and self.up_to_offset is not None else self.phase.effect

    @property
    def verdict(self) -> Verdict:
        """The last step of the ladder that was taken, or why none could be."""
        if self.differs_beyond_offset:
            return Verdict.BEYOND_OFFSET
        if self.differs_beyond_noise:
            return Verdict.OFFSET
        if self.phase.too_noisy and self.effect.distribution is not None:
            return Verdict.TOO_NOISY
        if not self.differs_at_all:
            return Verdict.NO_DIFFERENCE
        is_shown = self.effect.equivalent(self.margin, self.alpha)
        return Verdict.ONLY_NOISE if is_shown else Verdict.NOT_BEYOND_NOISE

    def offsets(self) -> list[Offset]:
        """Return by how much the first sample lies further than the second in each column, up to noise.

        They are estimated together, with 95 % intervals; none where there are too few rows.
        """
        result = self.up_to_offset
        if result is None or result.shift is None or result.shift_interval is None:
            return []
        parts = zip(self.columns, result.shift.tolist(), result.shift_interval.tolist(), strict=True)
        return [Offset(name, shift, low, high) for name, shift, (low, high) in parts]


def check_margin_and_alpha(margin: float, alpha: float) -> None:
    """Raise where one of the two is out of range."""
    checked_number(margin, "margin", above=True)
    checked_number(alpha, "alpha", above=True, most=1.0)
