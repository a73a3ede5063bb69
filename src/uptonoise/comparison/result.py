"""The outcome of a comparison as people use it: read, plotted, written to JSON, a frame or a report."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar

from uptonoise._util.results import Result, computed
from uptonoise._util.wording import counted
from uptonoise.comparison import wording
from uptonoise.comparison.columns import compare_columns
from uptonoise.comparison.evidence import ColumnComparison, Evidence, Verdict


class ReportedResult(Result):
    """A result that can be written as a page."""

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the result as one self-contained HTML page with plots; it needs the extra ``cli``.

        A comparison of groups shows all pairs, and the 6 clearest ones in full.

        Parameters
        ----------
        path : str or path
            The file; it is written whole or not at all.
        force : bool
            Whether to overwrite a file that exists.

        Examples
        --------
        >>> import tempfile
        >>> import uptonoise as un
        >>> comparison = un.compare([0.0, 1.0, 2.0] * 30, [0.0, 1.0, 2.0] * 30)
        >>> comparison.report(tempfile.mkdtemp() + "/report.html")
        """
        import_module("uptonoise.report").write_report(self, path, force=force)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(Evidence, ReportedResult):
    """The outcome of :func:`compare`: a verdict, and all that it rests on.

    Attributes
    ----------
    verdict : Verdict
        A string, one of nine: "no difference found", "differ only by noise", "differ by noise and an offset", "differ
        beyond noise and an offset", "differ, but by less than the margin", "differ beyond noise, too few rows to tell
        an offset", "cannot tell noise from signal" (neither sample is clearly skewed), "too noisy to tell", and "a
        difference beyond noise was not found, and not ruled out".
    sentence : str
        The verdict in plain words, with names and numbers.
    names : tuple of str
        What the samples are called.
    sizes : tuple of int
        Their numbers of rows.
    columns : tuple of str
        The columns compared.
    paired : bool
        Whether the rows belong together.
    mmd : MmdResult
        Whether they differ at all; by swaps within pairs where these are given.
    me : MeResult or None
        The same, at learnt places; None without rows.
    phase : PhaseResult
        Whether they differ beyond noise.
    flip : FlipResult or None
        The same exactly, where rows are few; it decides then.
    up_to_offset : PhaseResult or None
        Whether they differ beyond noise and an offset, with the offset.
    effect : EffectSize
        How large the difference beyond noise is, in standard deviations of a shift.
    effect_beyond_offset : EffectSize
        How large the difference beyond noise and an offset is.
    noise : tuple of NoiseAdded
        Which sample is noisier in each column, as a standard deviation with its interval; none where the signals
        differ.
    extra_noise : ExtraNoise or None
        The same as differences of variances, whatever the verdict.
    places : tuple of Place
        At most three places where one sample has significantly more rows; none without rows.
    by_column : tuple of ColumnComparison
        The same for each column alone.
    missing : tuple of str
        What could not be computed, and why.
    alpha, margin : float
        The significance level of the tests, and the largest effect that is negligible, in standard deviations.
    seed : int or None
        The seed that gives this comparison again; None where a Generator was given.
    sketches : tuple of Sketch
        The sketches of both, which is all that another comparison needs.
    differences : Sketch or None
        The sketch of the differences of rows that belong together.
    at_all_pvalue : float
        The p-value of any difference: twice the smaller one of MMD's and ME's, or MMD's alone.
    beyond_noise_pvalue : float
        The p-value that decides whether they differ beyond noise.
    beyond_offset_pvalue : float or None
        The p-value up to noise and an offset; None where there are too few rows for it.
    differs_at_all, differs_beyond_noise, differs_beyond_offset : bool
        Whether such a difference was detected.
    only_symmetric : bool
        Whether the difference beyond noise is one of symmetric parts alone, which the effect does not measure.
    bound : float
        What the effect beyond noise is below, with confidence 1 - alpha, in standard deviations.
    symmetric : bool
        Whether neither sample is clearly skewed: its phases then tell where it lies, and nothing else.
    shown : tuple of arrays or None
        Some rows of each sample, at most 5,000, for plots; None without rows.
    summaries : tuple of Summary, or None
        Mean, standard deviation and median of each column, of the rows in memory; None without rows.
    n_clusters : tuple of int, or None
        Their numbers of clusters; None where rows count as independent.
    independent_rows : tuple of float, or None
        How many independent rows the clusters of each are worth.
    dependent : tuple of str
        Why rows look dependent, where no clusters were named.
    input : InputRecord
        Which rows and columns were used, which were left out, and why.
    """

    by_column: tuple[ColumnComparison, ...] = computed(compare_columns)

    derived: ClassVar[tuple[str, ...]] = (
        "verdict",
        "sentence",
        "bound",
        "noise",
        "at_all_pvalue",
        "beyond_noise_pvalue",
        "beyond_offset_pvalue",
        "symmetric",
    )

    @property
    def sentence(self) -> str:
        """The verdict in a plain sentence, or two: what differs, by how much, and what is ruled out."""
        both, is_bounded = f"{self.names[0]} and {self.names[1]}", math.isfinite(self.bound) and self.effect.seen == 1
        bound, confidence = wording.sd_above(self.bound), f"{100 * (1 - self.alpha):g} % confidence"
        match self.verdict:
            case Verdict.BEYOND_OFFSET:
                return f"{both} differ beyond noise and an offset{wording.beyond_offset(self)}."
            case Verdict.BEYOND_NOISE:
                return (
                    f"{both} differ beyond noise ({wording.p_text(self.beyond_noise_pvalue)}); there are too few rows "
                    "to tell whether by more than an offset."
                )
            case Verdict.OFFSET:
                rest = wording.ruled_out(self.effect_beyond_offset, self.alpha, "Apart from noise and the offset")
                return f"{both} differ by noise and an offset: {wording.offset_text(self)}.{rest}"
            case Verdict.NEGLIGIBLE:
                return (
                    f"{both} differ beyond noise, but by less than the margin: the difference is smaller than a shift "
                    f"of {bound} ({confidence}; margin {self.margin:g} SD)."
                )
            case Verdict.ONLY_NOISE:
                return f"{both} differ only by noise.{wording.ruled_out(self.effect, self.alpha, 'Apart from noise')}"
            case Verdict.SYMMETRIC:
                rest = wording.ruled_out(self.effect, self.alpha, "Apart from such changes")
                return (
                    f"{both} differ, but neither is clearly skewed, so that a change of width or shape cannot be told "
                    f"from noise.{rest if self.effect.seen == 1 else ''}"
                )
            case Verdict.TOO_NOISY | Verdict.NOT_RULED_OUT:
                if self.effect.estimate == math.inf:
                    rest = ": neither sample varies, and there are too few rows"
                elif is_bounded:
                    rest = f": it may be as large as a shift of {bound} (margin {self.margin:g} SD)"
                else:
                    rest = ": part of the phases cannot be seen"
                if self.verdict == Verdict.NOT_RULED_OUT:
                    return f"{both} differ. A difference beyond noise was not found, and not ruled out{rest}."
                what = "differ by more than noise" if self.differs_at_all else "differ"
                return f"It is too noisy, or there are too few rows, to tell whether {both} {what}{rest}."
            case _:
                rest = f"; any difference beyond noise is smaller than a shift of {bound} ({confidence})"
                return f"No difference between {both} was found{rest if is_bounded else ''}."

    def ladder(self) -> list[tuple[str, str, str]]:
        """Return the steps of the ladder: the question, the answer, and the p-values that it rests on.

        Examples
        --------
        >>> import uptonoise as un
        >>> for question, answer, why in un.compare([0.0, 1.0, 2.0] * 30, [0.0, 1.0, 2.0] * 30).ladder():
        ...     print(question, answer)
        differ at all no
        differ beyond noise no
        differ beyond noise and offset no
        """
        at_all = f"{'exact swaps' if self.paired else 'MMD'} {wording.p_text(self.mmd.pvalue)}"
        if self.me is not None:
            at_all += f", ME {wording.p_text(self.me.pvalue)}"
        beyond = f"phase test {wording.p_text(self.phase.pvalue)}"
        if self.flip is not None:
            beyond += f", flip test {wording.p_text(self.flip.pvalue)} (exact; it decides)"
        elif self.only_symmetric:
            beyond += ", from the part that asks whether noise has a positive characteristic function"
        offset = self.beyond_offset_pvalue
        last = "too few rows" if offset is None else f"phase test {wording.p_text(offset)}"
        yes = {True: "yes", False: "no"}
        answer = "?" if offset is None and self.differs_beyond_noise else yes[self.differs_beyond_offset]
        return [
            ("differ at all", yes[self.differs_at_all], at_all),
            ("differ beyond noise", yes[self.differs_beyond_noise], beyond),
            ("differ beyond noise and offset", answer, last),
        ]

    def findings(self) -> list[tuple[str, str]]:
        """Return what else was found, as pairs of a label and a text."""
        effect, several = wording.interval_text(self.effect), len(self.columns) > 1
        if not self.differs_beyond_noise and self.effect.seen == 1 and math.isfinite(self.bound):  # as the sentence has
            bound = f"{wording.sd_above(self.bound)} ({100 * (1 - self.alpha):g} % confidence)"
            effect = f"{self.effect.estimate:.2g} SD, below {bound}"
        pairs = [("effect beyond noise", f"{effect}; margin {self.margin:g} SD")]
        pairs += [("warning", text) for text in self.dependent]
        if self.n_clusters is not None and self.independent_rows is not None:
            parts = zip(self.names, self.n_clusters, self.independent_rows, strict=True)
            texts = [f"{name} {counted(n, 'cluster')}, worth {worth:,.0f} independent rows" for name, n, worth in parts]
            pairs.append(("clusters", "; ".join(texts)))
        if self.differs_beyond_noise and self.up_to_offset is not None:
            pairs.append(("effect beyond noise and offset", wording.interval_text(self.effect_beyond_offset)))
            clear = wording.first_few([str(offset) for offset in self.offsets() if offset.is_clear])
            label = f"{'joint ' if several else ''}offset of {self.names[0]}"
            pairs.append((label, clear or "not clear in any one column"))
        if self.differs_at_all:
            pairs += wording.noise_findings(self)
        if several:
            differ = [column for column in self.by_column if column.adjusted_beyond_noise <= self.alpha]
            differ.sort(key=lambda column: column.adjusted_beyond_noise)
            texts = [f"{column.column} ({wording.p_text(column.adjusted_beyond_noise)})" for column in differ]
            doubt = "; all columns together do not confirm it" if differ and not self.differs_beyond_noise else ""
            pairs.append(("columns beyond noise (Holm)", (wording.first_few(texts) or "none by itself") + doubt))
        return pairs + [("where they differ", wording.place_text(place, self.names)) for place in self.places]

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`, which has one row per column of the samples."""
        flat = []
        for column in self.by_column:
            row = {field.name: getattr(column, field.name) for field in fields(column)}
            row["effect_low"], row["effect_high"] = column.effect.low, column.effect.high
            row["effect"], row["effect_beyond_offset"] = column.effect.estimate, column.effect_beyond_offset.estimate
            offset, noise = row.pop("offset"), row.pop("noise")
            row["offset"], row["offset_low"], row["offset_high"] = (math.nan,) * 3 if offset is None else offset[1:]
            row["noise_in"], row["noise_sd"], row["noise_low"], row["noise_high"] = (
                (None, *(math.nan,) * 3) if noise is None else noise[1:]
            )
            flat.append(row)
        return {name: [row[name] for row in flat] for name in (flat[0] if flat else ())}

    def __repr__(self) -> str:
        lines = [f"{label + '?':33}{answer:5}{why}" for label, answer, why in self.ladder()]
        lines += [f"{label:33}{text}" for label, text in self.findings()]
        lines += [f"{'missing':33}{text}" for text in self.missing]
        if self.input.is_partial:
            lines += [f"{label:33}{text}" for label, text in self.input.lines()]
        sizes = f"{self.sizes[0]:,} and {self.sizes[1]:,} rows"
        lines.append(f"{sizes:33}columns {wording.first_few(self.columns)}; seed {self.seed}")
        return "\n".join([self.sentence, *(f"  {line}" for line in lines)])
