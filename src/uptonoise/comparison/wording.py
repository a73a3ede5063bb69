"""A comparison in words: the sentence of its verdict, the steps of its ladder, and what else was found."""

from __future__ import annotations

import math
from collections.abc import Sequence

from uptonoise._util.wording import counted
from uptonoise.comparison.evidence import Evidence, NoiseAdded, Verdict
from uptonoise.comparison.places import Place
from uptonoise.twosample import EffectSize, p_is

_MOST_IN_A_LIST = 5
_SMALLEST_P = 1e-4  # text tells no smaller p-values


def sentence(evidence: Evidence) -> str:
    """Return the verdict in plain words: what differs, by how much, and what is ruled out."""
    both = f"{evidence.names[0]} and {evidence.names[1]}"
    seen = evidence.effect.seen == 1
    match evidence.verdict:
        case Verdict.BEYOND_OFFSET:
            return f"{both} differ beyond noise and an offset{_beyond_offset(evidence)}."
        case Verdict.BEYOND_NOISE:
            return (
                f"{both} differ beyond noise ({_p(evidence.beyond_noise_pvalue)}); there are too few rows to tell "
                "whether by more than an offset."
            )
        case Verdict.OFFSET:
            apart = _ruled_out(evidence, evidence.effect_beyond_offset, "Apart from noise and the offset")
            return f"{both} differ by noise and an offset: {_offset(evidence)}.{apart}"
        case Verdict.NEGLIGIBLE:
            return (
                f"{both} differ beyond noise, but by less than the margin: the difference is smaller than a shift of "
                f"{_sd_above(evidence.bound)} ({_confidence(evidence)}; margin {evidence.margin:g} SD)."
            )
        case Verdict.ONLY_NOISE:
            return f"{both} differ only by noise.{_ruled_out(evidence, evidence.effect, 'Apart from noise')}"
        case Verdict.SYMMETRIC:
            return (
                f"{both} differ, but neither is clearly skewed, so that a change of width or shape cannot be told from "
                f"noise.{_ruled_out(evidence, evidence.effect, 'Apart from such changes') if seen else ''}"
            )
        case Verdict.TOO_NOISY:
            what = "differ by more than noise" if evidence.differs_at_all else "differ"
            return f"It is too noisy, or there are too few rows, to tell whether {both} {what}{_unbounded(evidence)}."
        case Verdict.NOT_RULED_OUT:
            return f"{both} differ. A difference beyond noise was not found, and not ruled out{_unbounded(evidence)}."
        case _:
            return f"No difference between {both} was found{_ruled_out_inline(evidence)}."


def _beyond_offset(evidence: Evidence) -> str:
    """Return the p-value and the size of the difference that an offset leaves."""
    pvalue = _p(evidence.up_to_offset.pvalue) if evidence.up_to_offset is not None else ""
    if evidence.only_symmetric:
        return (
            f" ({pvalue}), in a symmetric way: noise with a positive characteristic function, such as Gaussian or "
            "Laplace, cannot do it; uniform noise or rounding can"
        )
    return (
        f" ({pvalue}). Without these, the difference is {_size(evidence.effect_beyond_offset)}{_in_columns(evidence)}"
    )


def _size(effect: EffectSize) -> str:
    if math.isnan(effect.estimate):
        return "of unknown size"
    if math.isinf(effect.estimate):
        return "larger than any number of SD, as neither sample varies"
    if effect.seen < 1:
        return f"at least as large as a shift of {_sd(effect.low)}" if effect.low > 0 else "of unknown size"
    return f"as large as a shift of {_sd(effect.estimate)} ({effect.low:.2g} to {effect.high:.2g})"


def _in_columns(evidence: Evidence) -> str:
    clear = [column for column in evidence.by_column if column.adjusted_beyond_offset <= evidence.alpha]
    if len(evidence.columns) == 1 or not clear:
        return ""
    clear.sort(key=lambda column: -column.effect_beyond_offset.low)
    return f", in {first_few([column.column for column in clear])}"


def _offset(evidence: Evidence) -> str:
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


def _ruled_out(evidence: Evidence, effect: EffectSize, apart_from: str) -> str:
    bound = effect.upper_bound(evidence.alpha)
    if not math.isfinite(bound) or effect.seen < 1:
        return f" {apart_from}, no bound can be given: part of the phases cannot be seen."
    return f" {apart_from}, any difference is smaller than a shift of {_sd_above(bound)} ({_confidence(evidence)})."


def _ruled_out_inline(evidence: Evidence) -> str:
    if not math.isfinite(evidence.bound) or evidence.effect.seen < 1:
        return ""
    bound = _sd_above(evidence.bound)
    return f"; any difference beyond noise is smaller than a shift of {bound} ({_confidence(evidence)})"


def _unbounded(evidence: Evidence) -> str:
    if evidence.effect.estimate == math.inf:
        return ": neither sample varies, and there are too few rows"
    if not math.isfinite(evidence.bound) or evidence.effect.seen < 1:
        return ": part of the phases cannot be seen"
    return f": it may be as large as a shift of {_sd_above(evidence.bound)} (margin {evidence.margin:g} SD)"


def _confidence(evidence: Evidence) -> str:
    return f"{100 * (1 - evidence.alpha):g} % confidence"


def _sd(value: float) -> str:
    return f"{value:.2g} SD"


def _sd_above(value: float) -> str:
    """Return a bound with two digits, rounded up: what is below 0.151 need not be below 0.15."""
    if value <= 0:
        return _sd(value)
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return _sd(math.ceil(value / unit - 1e-9) * unit)


def _p(pvalue: float) -> str:
    return f"p < {_SMALLEST_P:.4f}" if pvalue < _SMALLEST_P else p_is(pvalue)


def ladder(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Return the question, the answer and the p-values of each step."""
    at_all = f"{'exact swaps' if evidence.paired else 'MMD'} {_p(evidence.mmd.pvalue)}"
    if evidence.me is not None:
        at_all += f", ME {_p(evidence.me.pvalue)}"
    beyond = f"phase test {_p(evidence.phase.pvalue)}"
    if evidence.flip is not None:
        beyond += f", flip test {_p(evidence.flip.pvalue)} (exact; it decides)"
    elif evidence.only_symmetric:
        beyond += ", from the part that asks whether noise has a positive characteristic function"
    offset = evidence.beyond_offset_pvalue
    last = "too few rows" if offset is None else f"phase test {_p(offset)}"
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
    pairs = [("effect beyond noise", f"{_effect(evidence)}; margin {evidence.margin:g} SD")]
    pairs += [("warning", text) for text in evidence.dependent] + _cluster_findings(evidence)
    if evidence.differs_beyond_noise and evidence.up_to_offset is not None:
        pairs.append(("effect beyond noise and offset", _interval(evidence.effect_beyond_offset)))
        clear = [str(offset) for offset in evidence.offsets() if offset.is_clear]
        joint = "" if len(evidence.columns) == 1 else "joint "
        pairs.append((f"{joint}offset of {evidence.names[0]}", first_few(clear) or "not clear in any one column"))
    if evidence.differs_at_all:
        pairs += _noise(evidence)
    if len(evidence.columns) > 1:
        differ = [column for column in evidence.by_column if column.adjusted_beyond_noise <= evidence.alpha]
        differ.sort(key=lambda column: column.adjusted_beyond_noise)
        texts = [f"{column.column} ({_p(column.adjusted_beyond_noise)})" for column in differ]
        doubt = "; all columns together do not confirm it" if differ and not evidence.differs_beyond_noise else ""
        pairs.append(("columns beyond noise (Holm)", (first_few(texts) or "none by itself") + doubt))
    pairs += [("where they differ", place_text(place, evidence.names)) for place in evidence.places]
    return pairs


def _effect(evidence: Evidence) -> str:
    """Return the effect with its interval, or with its bound, as the sentence has it, where no difference was found."""
    effect = evidence.effect
    if evidence.differs_beyond_noise or effect.seen < 1 or not math.isfinite(evidence.bound):
        return _interval(effect)
    return f"{_sd(effect.estimate)}, below {_sd_above(evidence.bound)} ({_confidence(evidence)})"


def _interval(effect: EffectSize) -> str:
    if math.isnan(effect.estimate):
        return "not known: no phase can be seen"
    if effect.estimate == math.inf:
        return "larger than can be measured: neither sample varies"
    high = f"{effect.high:.2g}" if effect.seen == 1 else f"{effect.high:.2g}, as not all phases can be seen"
    return f"{_sd(effect.estimate)} (95 % interval {effect.low:.2g} to {high})"


def _cluster_findings(evidence: Evidence) -> list[tuple[str, str]]:
    """Return how many clusters each sample has, and how many independent rows they are worth."""
    if evidence.n_clusters is None or evidence.independent_rows is None:
        return []
    parts = zip(evidence.names, evidence.n_clusters, evidence.independent_rows, strict=True)
    texts = [
        f"{name} {counted(number, 'cluster')}, worth {worth:,.0f} independent rows" for name, number, worth in parts
    ]
    return [("clusters", "; ".join(texts))]


def _noise(evidence: Evidence) -> list[tuple[str, str]]:
    """Return in which sample noise was added, with its standard deviations."""
    clear = [noise for noise in evidence.noise if noise.sample is not None]
    pairs = []
    for name in evidence.names:
        texts = [noise_text(noise, len(evidence.columns) > 1) for noise in clear if noise.sample == name]
        if texts:
            pairs.append((f"noise added in {name}", first_few(texts)))
    return pairs or ([("noise added", "not clear in any column")] if evidence.noise else [])


def noise_text(noise: NoiseAdded, with_column: bool) -> str:
    """Return the standard deviation of the noise added, with its interval."""
    column = f"{noise.column} " if with_column else ""
    return f"{column}SD {noise.sd:.3g} ({noise.low:.3g} to {noise.high:.3g})"


def place_text(place: Place, names: tuple[str, str]) -> str:
    """Return which sample has more rows at a place."""
    where = ", ".join(f"{name} = {value:.3g}" for name, value in zip(place.columns, place.values, strict=True))
    order = (0, 1) if place.shares[0] >= place.shares[1] else (1, 0)
    more, less = (f"{place.shares[i]:.1%} of {names[i]}" for i in order)
    return f"near {where}: {more}, {less}"


def first_few(texts: Sequence[str]) -> str:
    """Return the first texts with commas, and dots for the others."""
    return ", ".join(texts[:_MOST_IN_A_LIST]) + (", ..." if len(texts) > _MOST_IN_A_LIST else "")
