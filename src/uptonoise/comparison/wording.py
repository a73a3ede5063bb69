"""The phrases that make up the words of a comparison: effects, bounds, offsets, noise and places."""

from __future__ import annotations

import math
from collections.abc import Sequence

from uptonoise.comparison.evidence import Evidence
from uptonoise.comparison.places import Place
from uptonoise.twosample import EffectSize, p_is

_MOST_IN_A_LIST = 5
_SMALLEST_P = 1e-4  # text tells no smaller p-values


def beyond_offset(evidence: Evidence) -> str:
    """Return the p-value of the difference that an offset leaves, its size, and the columns that have it."""
    pvalue = p_text(evidence.up_to_offset.pvalue) if evidence.up_to_offset is not None else ""
    if evidence.only_symmetric:
        return (
            f" ({pvalue}), in a symmetric way: noise with a positive characteristic function, such as Gaussian or "
            "Laplace, cannot do it; uniform noise or rounding can"
        )
    effect = evidence.effect_beyond_offset
    if math.isinf(effect.estimate):
        size = "larger than any number of SD, as neither sample varies"
    elif math.isnan(effect.estimate) or (effect.seen < 1 and effect.low <= 0):
        size = "of unknown size"
    elif effect.seen < 1:
        size = f"at least as large as a shift of {effect.low:.2g} SD"
    else:
        size = f"as large as a shift of {effect.estimate:.2g} SD ({effect.low:.2g} to {effect.high:.2g})"
    clear = [column for column in evidence.by_column if column.adjusted_beyond_offset <= evidence.alpha]
    clear.sort(key=lambda column: -column.effect_beyond_offset.low)
    where = f", in {first_few([column.column for column in clear])}" if clear and len(evidence.columns) > 1 else ""
    return f" ({pvalue}). Without these, the difference is {size}{where}"


def offset_text(evidence: Evidence) -> str:
    """Return which sample reads higher, by how much and where."""
    first, second = evidence.names
    clear = [offset for offset in evidence.offsets() if offset.is_clear]
    if not clear:
        return "it is spread over several columns, and not clear in any one of them"
    several = len(evidence.columns) > 1
    higher = []
    for offset in clear:
        direction = "higher" if offset.shift > 0 else "lower"
        higher.append(f"{abs(offset.shift):.3g} {direction}" + (f" in {offset.column}" if several else ""))
    return f"{first} reads {first_few(higher)} than {second}"


def ruled_out(effect: EffectSize, alpha: float, apart_from: str) -> str:
    """Return what the difference is smaller than, apart from what was found."""
    bound = effect.upper_bound(alpha)
    if not math.isfinite(bound) or effect.seen < 1:
        return f" {apart_from}, no bound can be given: part of the phases cannot be seen."
    confidence = f"{100 * (1 - alpha):g} % confidence"
    return f" {apart_from}, any difference is smaller than a shift of {sd_above(bound)} ({confidence})."


def sd_above(value: float) -> str:
    """Return a bound with two digits, rounded up: what is below 0.151 need not be below 0.15."""
    if 0 < value < math.inf:
        unit = 10.0 ** (math.floor(math.log10(value)) - 1)
        value = math.ceil(value / unit - 1e-9) * unit
    return f"{value:.2g} SD"


def p_text(pvalue: float) -> str:
    """Return a p-value with its sign, none smaller than text tells."""
    return f"p < {_SMALLEST_P:.4f}" if pvalue < _SMALLEST_P else p_is(pvalue)


def interval_text(effect: EffectSize) -> str:
    """Return an effect with its interval."""
    if math.isnan(effect.estimate):
        return "not known: no phase can be seen"
    if effect.estimate == math.inf:
        return "larger than can be measured: neither sample varies"
    high = f"{effect.high:.2g}" if effect.seen == 1 else f"{effect.high:.2g}, as not all phases can be seen"
    return f"{effect.estimate:.2g} SD (95 % interval {effect.low:.2g} to {high})"


def noise_findings(evidence: Evidence) -> list[tuple[str, str]]:
    """Return in which sample noise was added, with its standard deviations."""
    pairs, noises = [], evidence.noise
    for name in evidence.names:
        texts = []
        for noise in noises:
            if noise.sample == name:
                column = f"{noise.column} " if len(evidence.columns) > 1 else ""
                texts.append(f"{column}SD {noise.sd:.3g} ({noise.low:.3g} to {noise.high:.3g})")
        if texts:
            pairs.append((f"noise added in {name}", first_few(texts)))
    return pairs or ([("noise added", "not clear in any column")] if noises else [])


def place_text(place: Place, names: tuple[str, str]) -> str:
    """Return which sample has more rows at a place."""
    where = ", ".join(f"{name} = {value:.3g}" for name, value in zip(place.columns, place.values, strict=True))
    order = (0, 1) if place.shares[0] >= place.shares[1] else (1, 0)
    more, less = (f"{place.shares[i]:.1%} of {names[i]}" for i in order)
    return f"near {where}: {more}, {less}"


def first_few(texts: Sequence[str]) -> str:
    """Return the first texts with commas, and dots for the others."""
    return ", ".join(texts[:_MOST_IN_A_LIST]) + (", ..." if len(texts) > _MOST_IN_A_LIST else "")
