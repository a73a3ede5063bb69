"""What each column of a comparison shows, taken alone: a shape, an offset, noise, or no difference.

A page tells one effect. Where an offset is told by itself, the effect is what noise and the offset leave; elsewhere it
is what noise leaves. It is in standard deviations of the less spread-out sample, and in the units of the column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from uptonoise._util.numbers import number
from uptonoise.comparison import ColumnComparison, Comparison, NoiseAdded, Offset, Verdict
from uptonoise.rows import split_name
from uptonoise.twosample import EffectSize, column_spreads


class Kind(IntEnum):
    """What differs in a column; the clearest differences come first."""

    SHAPE = 0
    OFFSET = 1
    BEYOND_NOISE = 2
    NOISIER = 3
    SMALL = 4
    UNCLEAR = 5
    AGREES = 6


@dataclass(frozen=True)
class ColumnFinding:
    """One column: what differs in it, in words and in numbers.

    `spread` is the standard deviation that effects are told in, in the units of the column.
    """

    comparison: ColumnComparison
    kind: Kind
    text: str
    effect: EffectSize
    bound: float
    spread: float
    noise: NoiseAdded | None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.comparison.column

    @property
    def differs(self) -> bool:
        """Whether a difference of any kind was found in it."""
        return self.kind is not Kind.AGREES

    @property
    def offset_sd(self) -> float:
        """By how much the first sample reads higher, in standard deviations; NaN where it is not known."""
        offset = self.comparison.offset
        return math.nan if offset is None or not self.spread > 0 else offset.shift / self.spread


class Columns(NamedTuple):
    """All columns, those that differ most clearly first, with the effect of the whole comparison."""

    findings: list[ColumnFinding]
    effect: EffectSize
    bound: float
    up_to_offset: bool

    @classmethod
    def of(cls, comparison: Comparison) -> Columns:
        """Return what a comparison shows of its columns."""
        up_to_offset = comparison.verdict in (Verdict.OFFSET, Verdict.BEYOND_OFFSET)
        effect = comparison.effect_beyond_offset if up_to_offset else comparison.effect
        spreads = dict(zip(comparison.columns, column_spreads(*comparison.sketches).tolist(), strict=True))
        findings = []
        for column in comparison.by_column:
            noise, spread = column_noise(comparison, column.column), spreads[column.column]
            kind = _kind(comparison, column, noise)
            if kind is Kind.SHAPE or comparison.verdict is Verdict.SYMMETRIC:
                noise = None  # amplitudes then tell more than noise
            alone = column.effect_beyond_offset if up_to_offset else column.effect
            text = _text(comparison, column, kind, noise, spread)
            bound = alone.upper_bound(comparison.alpha)
            findings.append(ColumnFinding(column, kind, text, alone, bound, spread, noise))
        findings.sort(
            key=lambda finding: (
                finding.kind,
                finding.comparison.beyond_noise if finding.kind <= Kind.BEYOND_NOISE else finding.comparison.at_all,
                -finding.comparison.effect.low,
            )
        )
        return cls(findings, effect, effect.upper_bound(comparison.alpha), up_to_offset)

    @property
    def differing(self) -> list[ColumnFinding]:
        """The columns in which a difference was found."""
        return [finding for finding in self.findings if finding.differs]


def column_noise(comparison: Comparison, name: str) -> NoiseAdded | None:
    """Return which sample is noisier in a column, from the column's own amplitudes; None where it is not known."""
    extra = comparison.extra_noise
    if extra is None or name not in extra.columns or split_name(name, comparison.input.categories):
        return None
    place = extra.columns.index(name)
    low, high = extra.interval()[place].tolist()
    return NoiseAdded.of(name, comparison.names, float(extra.variances[place]), low, high)


def _kind(comparison: Comparison, column: ColumnComparison, noise: NoiseAdded | None) -> Kind:
    alpha = comparison.alpha
    if column.adjusted_beyond_noise <= alpha:
        if column.effect.upper_bound(alpha) < comparison.margin:
            return Kind.SMALL
        if math.isnan(column.adjusted_beyond_offset):
            return Kind.BEYOND_NOISE
        return Kind.SHAPE if column.adjusted_beyond_offset <= alpha else Kind.OFFSET
    if column.adjusted_at_all > alpha:
        return Kind.AGREES
    is_noise = noise is not None and noise.sample is not None and comparison.verdict is not Verdict.SYMMETRIC
    return Kind.NOISIER if is_noise else Kind.UNCLEAR


def _offset_text(offset: Offset, names: tuple[str, str], spread: float) -> str:
    """Return which sample reads higher, and by how much."""
    in_sd = f" ({number(abs(offset.shift) / spread, 2)} SD)" if spread > 0 else ""
    return f"{number(abs(offset.shift))} higher in {names[0 if offset.shift > 0 else 1]}{in_sd}"


def _text(comparison: Comparison, column: ColumnComparison, kind: Kind, noise: NoiseAdded | None, spread: float) -> str:
    offset, names = column.offset, comparison.names
    match kind:
        case Kind.SHAPE if split_name(column.column, comparison.input.categories):
            if comparison.summaries is None:
                return "another share"
            place = comparison.columns.index(column.column)
            first, second = (f"{100 * float(part.means[place]):.3g} %" for part in comparison.summaries)
            return f"{first} in {names[0]}, {second} in {names[1]}"
        case Kind.SHAPE:
            size = column.effect_beyond_offset.estimate
            shape = f"another shape ({number(size, 2)} SD)" if math.isfinite(size) and size > 0 else "another shape"
            if offset is None or not offset.is_clear or not spread > 0 or abs(offset.shift) / spread <= size:
                return shape
            return f"{_offset_text(offset, names, spread)}, and {shape}"
        case Kind.OFFSET if offset is not None:
            return _offset_text(offset, names, spread)
        case Kind.OFFSET | Kind.BEYOND_NOISE:
            return "differs beyond noise"
        case Kind.NOISIER if noise is not None:
            return f"noisier in {noise.sample} (by an SD of {number(noise.sd, 2)})"
        case Kind.SMALL:
            return "differs, by less than the margin"
        case Kind.AGREES:
            return "no difference found"
        case _:
            return "differs; noise or a symmetric change may be the reason"
