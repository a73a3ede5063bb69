"""What a comparison rests on, and the rules that make a verdict of it.

Three tests: do the samples differ at all (MMD and ME)? Do they differ beyond symmetric noise (phase test; flip test
where rows are few)? Do they differ beyond noise and an offset? Each null hypothesis holds wherever the one before it
does, so the false-positive rate of "beyond noise" is at most alpha, however many steps follow.

Two bounds: that no difference beyond noise is larger than the margin is a claim of its own, and so is that a difference
that was detected is smaller than it. Each needs an effect whose upper bound, with confidence 1 - alpha, is below the
margin. So each is wrong with probability alpha at most, however many rows there are and whatever the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple

from uptonoise._util.results import Result, computed
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.comparison.places import Place
from uptonoise.comparison.steps import Symmetry
from uptonoise.fourier import Sketch
from uptonoise.rows import InputRecord, SourceRecord, split_name
from uptonoise.twosample import (
    POSITIVITY_SHARE,
    EffectSize,
    ExtraNoise,
    FlipResult,
    MeResult,
    MmdResult,
    Pair,
    PhaseResult,
    noise_difference,
)

MARGIN = 0.2
"""The largest effect that is negligible by default, in standard deviations of a shift."""
_LARGEST_MARGIN = 3.0


class Verdict(StrEnum):
    """The verdicts of a comparison; each is a string and equals its text."""

    NO_DIFFERENCE = "no difference found"
    ONLY_NOISE = "differ only by noise"
    OFFSET = "differ by noise and an offset"
    BEYOND_OFFSET = "differ beyond noise and an offset"
    NEGLIGIBLE = "differ, but by less than the margin"
    BEYOND_NOISE = "differ beyond noise, too few rows to tell an offset"
    SYMMETRIC = "cannot tell noise from signal"
    TOO_NOISY = "too noisy to tell"
    NOT_RULED_OUT = "a difference beyond noise was not found, and not ruled out"

    @property
    def is_difference(self) -> bool:
        """Whether it says that the samples differ beyond noise, by more than may be negligible."""
        return self in (Verdict.OFFSET, Verdict.BEYOND_OFFSET, Verdict.BEYOND_NOISE)

    def __repr__(self) -> str:
        return repr(self.value)


class Summary(NamedTuple):
    """What is usually told of the columns of a sample, from `n_rows` of its rows."""

    n_rows: int
    means: Floats
    deviations: Floats
    medians: Floats


class Offset(NamedTuple):
    """By how much a column of X reads higher than that of Y, with a 95 % interval; all columns are fitted together."""

    column: str
    shift: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return self._asdict()

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        return f"{self.column} {self.shift:.3g} ({self.low:.3g} to {self.high:.3g})"


class NoiseAdded(NamedTuple):
    """The standard deviation of the noise that one sample has more of in a column, in its units, with a 95 % interval.

    `sample` is None where the interval includes 0, so that neither is clearly noisier; `high` is then a bound for the
    noise that either has more of.
    """

    column: str
    sample: str | None
    sd: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name."""
        return self._asdict()

    @classmethod
    def of(cls, column: str, names: tuple[str, str], variance: float, low: float, high: float) -> NoiseAdded | None:
        """Return the noise from the variance of X's noise less that of Y, with its interval; None where not known."""
        if not math.isfinite(high - low):
            return None
        if low > 0 or high < 0:
            sd, least, most = (math.sqrt(value) for value in (abs(variance), *sorted((abs(low), abs(high)))))
            return cls(column, names[0 if variance > 0 else 1], sd, least, most)
        return cls(column, None, math.sqrt(abs(variance)), 0.0, math.sqrt(max(-low, high)))


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnComparison(Result):
    """The comparison of one column alone.

    Attributes
    ----------
    column : str
        Its name.
    at_all, beyond_noise, beyond_offset : float
        The p-values of the column by itself: any difference, beyond noise, beyond noise and an offset. The last one is
        NaN where there are too few rows for it.
    adjusted_at_all, adjusted_beyond_noise, adjusted_beyond_offset : float
        The same, adjusted for the number of columns by Holm's method.
    effect, effect_beyond_offset : EffectSize
        How large the difference beyond noise is, and beyond noise and an offset, in standard deviations.
    offset : Offset or None
        By how much X reads higher than Y: the column's part of the joint offset. None where it is not known.
    noise : NoiseAdded or None
        Which sample is noisier in this column, and by how much. None where the signals differ, or it is not known.
    """

    column: str
    at_all: float
    beyond_noise: float
    beyond_offset: float
    adjusted_at_all: float
    adjusted_beyond_noise: float
    adjusted_beyond_offset: float
    effect: EffectSize
    effect_beyond_offset: EffectSize
    offset: Offset | None
    noise: NoiseAdded | None


_SIGNALS_DIFFER = (Verdict.BEYOND_OFFSET, Verdict.BEYOND_NOISE, Verdict.SYMMETRIC)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence(Result):
    """The tests and estimates of a comparison, and the verdict that follows from them."""

    not_compared: ClassVar[tuple[str, ...]] = ("input",)  # the same rows may come from files or from memory
    hidden: ClassVar[tuple[str, ...]] = (
        *("sketches", "differences", "shown", "summaries", "symmetries", "own_columns", "records"),
        *("differs_at_all", "differs_beyond_noise", "differs_beyond_offset", "only_symmetric"),
    )

    names: tuple[str, str]
    sizes: tuple[int, int]
    columns: tuple[str, ...]
    own_columns: tuple[str, ...]  # those with frequencies of their own, which all have unless a sketch brings others
    paired: bool
    mmd: MmdResult
    me: MeResult | None
    phase: PhaseResult
    flip: FlipResult | None
    up_to_offset: PhaseResult | None
    effect: EffectSize
    effect_beyond_offset: EffectSize
    places: tuple[Place, ...]
    by_column: tuple[ColumnComparison, ...]
    missing: tuple[str, ...]
    alpha: float
    margin: float
    seed: int | None
    sketches: tuple[Sketch, Sketch]
    differences: Sketch | None  # of rows that belong together
    symmetries: tuple[Symmetry, Symmetry]
    shown: tuple[Floats, Floats] | None
    summaries: tuple[Summary, Summary] | None = None
    n_clusters: tuple[int, int] | None = None
    independent_rows: tuple[float, float] | None = None
    dependent: tuple[str, ...] = ()
    records: Sequence[SourceRecord]
    input: InputRecord = computed(lambda self: InputRecord.of(self.names, self.sizes, self.columns, self.records))

    at_all_pvalue: float = field(init=False)
    beyond_noise_pvalue: float = field(init=False)
    beyond_offset_pvalue: float | None = field(init=False)
    differs_at_all: bool = field(init=False)
    differs_beyond_noise: bool = field(init=False)
    differs_beyond_offset: bool = field(init=False)
    only_symmetric: bool = field(init=False)  # a difference of symmetric parts alone, which the effect does not measure
    bound: float = field(init=False)
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        alpha, phase, bound = self.alpha, self.phase, self.effect.upper_bound(self.alpha)
        at_all = self.mmd.pvalue if self.me is None else min(1.0, 2 * min(self.mmd.pvalue, self.me.pvalue))
        beyond_noise = phase.pvalue if self.flip is None else self.flip.pvalue  # the one that decides
        beyond_offset = None if self.up_to_offset is None else self.up_to_offset.pvalue
        by_noise = beyond_noise <= alpha
        by_more = by_noise and beyond_offset is not None and beyond_offset <= alpha
        differs = by_noise or at_all <= alpha
        only_symmetric = by_noise and self.flip is None and phase.phase_pvalue > alpha * (1 - POSITIVITY_SHARE)
        if by_noise and bound < self.margin and not only_symmetric:
            verdict = Verdict.NEGLIGIBLE
        elif by_noise and beyond_offset is None:
            verdict = Verdict.BEYOND_NOISE
        elif by_noise:
            verdict = Verdict.BEYOND_OFFSET if by_more else Verdict.OFFSET
        elif differs and all(symmetry.holds for symmetry in self.symmetries):
            verdict = Verdict.SYMMETRIC
        elif differs and bound < self.margin:
            verdict = Verdict.ONLY_NOISE
        elif phase.too_noisy and bound >= self.margin:
            verdict = Verdict.TOO_NOISY
        else:
            verdict = Verdict.NOT_RULED_OUT if differs else Verdict.NO_DIFFERENCE
        own = self.__dict__  # as a frozen dataclass takes no other way
        own["at_all_pvalue"], own["differs_at_all"] = at_all, differs
        own["beyond_noise_pvalue"], own["differs_beyond_noise"] = beyond_noise, by_noise
        own["beyond_offset_pvalue"], own["differs_beyond_offset"] = beyond_offset, by_more
        own["only_symmetric"], own["bound"], own["verdict"] = only_symmetric, bound, verdict

    @property
    def coded(self) -> set[str]:
        """The columns of 0 and 1 that stand for categories: they have neither noise nor an offset."""
        return {name for name in self.columns if split_name(name, self.input.categories)}

    @property
    def symmetric(self) -> bool:
        """Whether neither sample is clearly skewed: its phases then tell where it lies, and nothing else."""
        return all(symmetry.holds for symmetry in self.symmetries)

    def offsets(self) -> list[Offset]:
        """Return by how much the first sample reads higher than the second in each column, up to noise.

        They are estimated together, with 95 % intervals; none where there are too few rows.
        """
        result = self.up_to_offset
        if result is None or result.shift is None or result.shift_interval is None:
            return []
        parts = zip(self.columns, result.shift.tolist(), result.shift_interval.tolist(), strict=True)
        coded = self.coded
        return [Offset(name, shift, low, high) for name, shift, (low, high) in parts if name not in coded]

    @cached_property
    def extra_noise(self) -> ExtraNoise | None:
        """By how much the variance of the noise of X is larger than that of Y, whatever the verdict."""
        if not self.own_columns:
            return None
        signals_agree = None if self.up_to_offset is None else self.up_to_offset.phase_pvalue
        with single_threaded_blas():
            return noise_difference(Pair.of(*self.sketches), signals_agree)

    @property
    def noise(self) -> tuple[NoiseAdded, ...]:
        """The noise that one sample has more of, in each column where it is known; none where the signals differ."""
        extra, coded = self.extra_noise, self.coded
        if extra is None or self.verdict in _SIGNALS_DIFFER:  # then amplitudes tell more than noise
            return ()
        parts = zip(self.columns, extra.variances.tolist(), extra.interval().tolist(), strict=True)
        noises = [NoiseAdded.of(name, self.names, size, *ends) for name, size, ends in parts if name not in coded]
        return tuple(noise for noise in noises if noise is not None)


def check_options(margin: float, alpha: float, names: Sequence[str] | None = None) -> None:
    """Raise where the margin or the significance level is out of range, or where names are not two."""
    if not isinstance(margin, Real) or isinstance(margin, bool) or not 0 < margin <= _LARGEST_MARGIN:
        raise ValueError(
            f"margin must be a number of standard deviations above 0 and at most {_LARGEST_MARGIN:g}; got {margin!r}"
        )
    checked_number(alpha, "alpha", above=True, most=1.0)
    if names is None:
        return
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    if not is_list or len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"names must be two names, one for each sample; got {names!r}")
    if names[0] == names[1]:
        raise ValueError(f"names must differ; got {names[0]!r} twice")
