"""The outcome of a comparison as people use it: read, plotted, written to JSON, a frame or a report."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar

from uptonoise._util.results import Result, computed
from uptonoise.comparison import wording
from uptonoise.comparison.columns import compare_columns
from uptonoise.comparison.evidence import ColumnComparison, Evidence


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
        """The verdict in a plain sentence, or two."""
        return wording.sentence(self)

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
        return wording.ladder(self)

    def findings(self) -> list[tuple[str, str]]:
        """Return what else was found, as pairs of a label and a text."""
        return wording.findings(self)

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
