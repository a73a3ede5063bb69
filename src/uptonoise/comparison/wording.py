"""A comparison in words: the sentence of its verdict, the steps of its ladder, and what else was found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from uptonoise.comparison.evidence import ColumnComparison, Evidence, Verdict
from uptonoise.twosample import adjusted_pvalues, p_is

_MOST_IN_A_LIST = 5


def sentence(evidence: Evidence) -> str:
    """Return the verdict in a plain sentence, or two."""
    text = f"{_verdict_sentence(evidence)}"
    if evidence.symmetric and evidence.differs_at_all and not evidence.differs_beyond_offset:
        text += " Neither is clearly skewed, so that a change of width, shape or dependence would look like noise."
    return text


def _verdict_sentence(evidence: Evidence) -> str:
    both = f"{evidence.names[0]} and {evidence.names[1]}"
    match evidence.verdict:
        case Verdict.BEYOND_OFFSET:
            return f"{both} {_beyond_noise(evidence)}."
        case Verdict.OFFSET:
            clear = [offset for offset in evidence.offsets() if offset.low > 0 or offset.high < 0]
            named = first_few([f"{offset.column} by {offset.shift:.3g}" for offset in clear])
            offsets = f" ({named})" if clear else ""
            return f"{both} differ by an offset{offsets}, up to noise{_detectable(evidence, 'further effects')}."
        case Verdict.TOO_NOISY:
            what = "differ by more than noise" if evidence.differs_at_all else "differ"
            return (
                f"Too noisy, or too few rows, to tell whether {both} {what}: a shift by half of the spread would be "
                f"seen with probability {evidence.phase.reference_power:.2f}."
            )
        case Verdict.ONLY_NOISE:
            bound = evidence.effect.upper_bound(evidence.alpha)
            return f"{both} differ only by noise; any further effect is below {_effect_as_shift(bound)}."
        case Verdict.NOT_BEYOND_NOISE:
            return f"{both} differ, but no difference beyond noise was found{_detectable(evidence, 'effects')}."
        case _:
            return f"No difference between {both} was found{_detectable(evidence, 'effects')}."


def _beyond_noise(evidence: Evidence) -> str:
    p, effect = p_is(evidence.beyond_noise_pvalue), evidence.phase.effect
    size = f"effect {effect.estimate:.2g}" + (", below the margin" if effect.high < evidence.margin else "")
    if evidence.phase.phase_pvalue > evidence.alpha and evidence.flip is None:
        size = "symmetrically, as noise with a positive characteristic function cannot make it"
    if evidence.up_to_offset is None:
        return f"differ beyond noise ({p}; {size}); too few rows to tell whether by an offset only"
    return f"differ beyond noise and an offset ({p}; {size})"


def _detectable(evidence: Evidence, effects: str) -> str:
    smallest = evidence.effect.detectable(evidence.alpha)
    if not math.isfinite(smallest):
        return ""
    return f"; {effects} above {_effect_as_shift(smallest)} would have been seen"


def _effect_as_shift(effect: float) -> str:
    return f"{effect:.2g} (that of a shift of Gaussians by {math.sqrt(effect):.2g} SD)"


def ladder(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Return the question, the answer and the p-values of each step."""
    at_all = f"MMD {p_is(evidence.mmd.pvalue)}"
    if evidence.me is not None:
        at_all += f", ME {p_is(evidence.me.pvalue)}"
    beyond = f"phase test {p_is(evidence.phase.pvalue)}"
    if evidence.flip is not None:
        beyond += f", flip test {p_is(evidence.flip.pvalue)} (exact; it decides)"
    offset = evidence.beyond_offset_pvalue
    last = "too few rows" if offset is None else f"phase test {p_is(offset)}"
    unknown = offset is None and evidence.differs_beyond_noise
    return [
        ("differ at all", _yes_or_no(evidence.differs_at_all), at_all),
        ("differ beyond noise", _yes_or_no(evidence.differs_beyond_noise), beyond),
        ("differ beyond noise and offset", "?" if unknown else _yes_or_no(evidence.differs_beyond_offset), last),
    ]


def _yes_or_no(answer: bool) -> str:
    return "yes" if answer else "no"


def findings(evidence: Evidence) -> list[tuple[str, str]]:
    """Return what else was found, as pairs of a label and a text."""
    effect, verdict = evidence.effect, evidence.verdict
    interval = f"{effect.estimate:.2g} ({effect.low:.2g} to {effect.high:.2g})"
    pairs = [("effect", f"{interval} per row; margin {evidence.margin:g}")]
    if verdict == Verdict.OFFSET:
        pairs.append((f"offset of {evidence.names[0]}", first_few([str(offset) for offset in evidence.offsets()])))
    if verdict != Verdict.BEYOND_OFFSET and evidence.differs_at_all:
        noisier = [_noisier(column, evidence.names) for column in _columns_with_extra_noise(evidence)]
        pairs.append(("extra noise (Holm)", first_few(noisier) or "none found"))
    if len(evidence.columns) > 1:
        differ = [column for column in evidence.by_column if column.adjusted_beyond_noise <= evidence.alpha]
        differ.sort(key=lambda column: column.adjusted_beyond_noise)
        texts = [f"{column.column} ({p_is(column.adjusted_beyond_noise)})" for column in differ]
        pairs.append(("columns beyond noise (Holm)", first_few(texts) or "none by itself"))
    if evidence.me is not None and evidence.me.pvalue <= evidence.alpha:
        most = int(np.argmax(evidence.me.contributions))
        more = evidence.names[0 if evidence.me.differences[most] > 0 else 1]
        region = zip(evidence.columns, evidence.me.regions[most], strict=True)
        place = first_few([f"{name} = {value:.3g}" for name, value in region])
        pairs.append(("where they differ most", f"{more} has more rows near {place}"))
    return pairs


def _columns_with_extra_noise(evidence: Evidence) -> list[ColumnComparison]:
    """Return the columns in which one sample is clearly noisier, adjusted for the number of columns."""
    known = [column for column in evidence.by_column if 0 < column.extra_noise_error < math.inf]
    scores = np.array([abs(column.extra_noise) / column.extra_noise_error for column in known])
    adjusted = adjusted_pvalues(2 * ndtr(-scores), "holm")
    return [column for column, pvalue in zip(known, adjusted, strict=True) if pvalue <= evidence.alpha]


def _noisier(column: ColumnComparison, names: tuple[str, str]) -> str:
    noisier, variance = names[0 if column.extra_noise > 0 else 1], abs(column.extra_noise)
    return f"{noisier} in {column.column} by a variance of {variance:.2g} +- {column.extra_noise_error:.1g}"


def first_few(texts: Sequence[str]) -> str:
    """Return the first texts with commas, and dots for the others."""
    return ", ".join(texts[:_MOST_IN_A_LIST]) + (", ..." if len(texts) > _MOST_IN_A_LIST else "")
