"""The outcome of a comparison as people use it: read, plotted, written to JSON, a frame or a report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar

from uptonoise._util.results import Result
from uptonoise.comparison import wording
from uptonoise.comparison.evidence import ColumnComparison, Evidence


class ReportedResult(Result):
    """A result that can be written as a page."""

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the result as one self-contained HTML page with plots; it needs the extra ``cli``.

        A comparison of groups shows all pairs, and the 30 clearest ones in full.

        Parameters
        ----------
        path : str or path
            The file; it is written whole or not at all.
        force : bool
            Whether to overwrite a file that exists.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import uptonoise as un
        >>> page = Path(tempfile.mkdtemp()) / "report.html"
        >>> un.compare([0.0, 1.0, 2.0] * 30, [0.0, 1.0, 2.0] * 30).report(page)
        >>> page.exists()
        True
        """
        import_module("uptonoise.report").write_report(self, path, force=force)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(Evidence, ReportedResult):
    """The outcome of :func:`compare`: a verdict, and all that it rests on.

    Attributes
    ----------
    verdict : Verdict
        A string, one of six: "no difference found", "differ only by noise", "differ by noise and an offset", "differ
        beyond noise and an offset", "too noisy to tell"; and "no difference beyond noise found", where the samples
        differ and it is not shown that they do so only by noise.
    sentence : str
        The verdict in plain words, with names and numbers.
    names : tuple of str
        What the samples are called.
    sizes : tuple of int
        Their numbers of rows.
    columns : tuple of str
        The columns compared.
    mmd : MmdResult
        Whether they differ at all.
    me : MeResult or None
        The same, with the places where they differ most; None without rows.
    phase : PhaseResult
        Whether they differ beyond noise.
    flip : FlipResult or None
        The same exactly, where rows are few; it decides then.
    up_to_offset : PhaseResult or None
        Whether they differ beyond noise and an offset, with the offset.
    extra_noise : ExtraNoise or None
        How much noisier X is than Y.
    by_column : tuple of ColumnComparison
        The same for each column alone.
    missing : tuple of str
        What could not be computed, and why.
    alpha, margin : float
        The significance level of the tests, and the effect that "only by noise" must stay below.
    seed : int or None
        The seed that gives this comparison again; None where a Generator was given.
    sketches : tuple of Sketch
        The sketches of both, which is all that another comparison needs.
    symmetric : bool
        Whether neither sample is clearly skewed: its phases then tell where it lies, and nothing else.
    shown : tuple of arrays or None
        Some rows of each sample, at most 5,000, for plots; None without rows.
    input : InputRecord
        Which rows and columns were used, which were left out, and why.
    """

    derived: ClassVar[tuple[str, ...]] = (
        "verdict",
        "sentence",
        "at_all_pvalue",
        "beyond_noise_pvalue",
        "beyond_offset_pvalue",
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
        rows = [column.to_dict() for column in self.by_column]
        names = [field.name for field in fields(ColumnComparison)]
        return {name: [row[name]["estimate"] if name == "effect" else row[name] for row in rows] for name in names}

    def __repr__(self) -> str:
        lines = [f"{label + '?':33}{answer:5}{why}" for label, answer, why in self.ladder()]
        lines += [f"{label:33}{text}" for label, text in self.findings()]
        lines += [f"{'missing':33}{text}" for text in self.missing]
        if self.input.is_partial:
            lines += [f"{label:33}{text}" for label, text in self.input.lines()]
        sizes = f"{self.sizes[0]:,} and {self.sizes[1]:,} rows"
        lines.append(f"{sizes:33}columns {wording.first_few(self.columns)}; seed {self.seed}")
        return "\n".join([self.sentence, *(f"  {line}" for line in lines)])
