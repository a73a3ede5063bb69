"""The question people ask: whether two samples differ, and whether beyond noise.

:func:`compare` climbs a ladder. Do the samples differ at all (MMD and ME)? Do they differ beyond symmetric noise (phase
test; flip test where rows are few)? Do they differ beyond noise and an offset? Each null hypothesis holds wherever the
one before it does, so a step counts only if the one before it was taken, and a false "beyond noise" has at most the
level as its chance, however many steps follow. "Only by noise" is a claim of its own: it is made only where the effect
beyond noise lies below a margin, with confidence.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.comparison.clustered import clustered_sketches
from uptonoise.fourier import Sketch
from uptonoise.rows import (
    LEAST_CLUSTERS,
    RowSource,
    SharedClustersWarning,
    as_rows,
    dependence,
    grouped_rows,
    is_frame,
    read_rows,
    some_rows,
    two_clustered,
    warn_of_dependence,
)
from uptonoise.twosample import (
    Adjustment,
    EffectSize,
    ExtraNoise,
    FlipResult,
    MeResult,
    MmdResult,
    PairwiseResult,
    PhaseResult,
    adjusted_pvalues,
    as_json,
    as_sketches,
    cluster_counts,
    extra_noise,
    flip_test,
    me_test,
    mmd_test,
    p_is,
    pairwise_phase_test,
    phase_test,
    read_samples,
    why_no_shift,
)

Verdict = Literal[
    "no difference found",
    "no difference beyond noise found",
    "differ only by noise",
    "differ by noise and an offset",
    "differ beyond noise and an offset",
    "too noisy to tell",
]

MARGIN = 0.04  # the effect of a shift by 0.2 standard deviations
_FEW_ROWS = 50  # below which the exact test decides
_IN_MEMORY = 100_000  # rows of both samples; beyond, everything takes linear time and bounded memory
_QUADRATIC = 4_000  # rows of both samples up to which MMD has its exact kernel
_SHOWN_TO_ME = 20_000  # rows of each sample, where not all fit
_LEAST_FOR_ME = 20
_SHOWN_COLUMNS = 5
_SHOWN_ROWS = 5_000
_FEW_IN_GROUP = 10
_MOST_COLUMNS = 1_000


@dataclass(frozen=True, eq=False, kw_only=True)
class ColumnComparison:
    """What the ladder finds in one column alone.

    Attributes
    ----------
    column : str
        Its name.
    at_all, beyond_noise, beyond_offset : float
        The p-values of the column's margin: any difference, beyond noise, beyond noise and an offset.
        The last one is NaN where there are too few rows for it.
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

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as what JSON knows; what is not known is None."""
        return {field.name: as_json(getattr(self, field.name)) for field in fields(self)}


class Offset(NamedTuple):
    """By how much a column of X lies further than that of Y, with a 95 % interval."""

    column: str
    shift: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.column} {self.shift:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison:
    """The outcome of :func:`compare`: a verdict, and all that it rests on.

    Attributes
    ----------
    verdict : str
        One of five: "no difference found", "differ only by noise", "differ by noise and an offset", "differ beyond
        noise and an offset", "too noisy to tell"; and "no difference beyond noise found", where the samples differ and
        it is not shown that they do so only by noise.
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
        The level of the tests, and the effect below which "only by noise" is said.
    seed : int or None
        The seed that gives this comparison again; None where a Generator was given.
    sketches : tuple of Sketch
        The sketches of both, which is all that another comparison needs.
    symmetric : bool
        Whether neither sample was found to be skewed: its phases then tell where it lies, and nothing else.
    shown : tuple of arrays or None
        Some rows of each sample, at most 5,000, for pictures; None without rows.
    n_clusters : tuple of int, or None
        Their numbers of clusters; None where rows count as independent.
    independent_rows : tuple of float, or None
        How many independent rows the clusters are worth.
    dependent : tuple of str
        Why rows look dependent, where no clusters were named.
    """

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
    n_clusters: tuple[int, int] | None = None
    independent_rows: tuple[float, float] | None = None
    dependent: tuple[str, ...] = ()

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
        """Whether any difference was found."""
        return self.at_all_pvalue <= self.alpha or self.differs_beyond_noise

    @property
    def differs_beyond_noise(self) -> bool:
        """Whether a difference beyond noise was found."""
        return self.beyond_noise_pvalue <= self.alpha

    @property
    def differs_beyond_offset(self) -> bool:
        """Whether a difference beyond noise and an offset was found."""
        pvalue = self.beyond_offset_pvalue
        return self.differs_beyond_noise and (pvalue is None or pvalue <= self.alpha)

    @property
    def effect(self) -> EffectSize:
        """How large the difference beyond noise is; up to an offset, where that is the verdict."""
        is_offset = self.differs_beyond_noise and not self.differs_beyond_offset
        return self.up_to_offset.effect if is_offset and self.up_to_offset is not None else self.phase.effect

    @property
    def verdict(self) -> Verdict:
        """The verdict: one of five, and what is said in place of "differ only by noise" where that is not shown."""
        if self.differs_beyond_offset:
            return "differ beyond noise and an offset"
        if self.differs_beyond_noise:
            return "differ by noise and an offset"
        if self.phase.too_noisy and self.effect.law is not None:
            return "too noisy to tell"
        if not self.differs_at_all:
            return "no difference found"
        is_shown = self.effect.equivalent(self.margin, self.alpha)
        return "differ only by noise" if is_shown else "no difference beyond noise found"

    @property
    def sentence(self) -> str:
        """The verdict in a plain sentence, or two."""
        return f"{self._said_verdict()}{self._said_symmetry()}"

    def _said_verdict(self) -> str:
        both, verdict = f"{self.names[0]} and {self.names[1]}", self.verdict
        if verdict == "differ beyond noise and an offset":
            return f"{both} {self._said_beyond()}."
        if verdict == "differ by noise and an offset":
            offsets = [f"{one.column} by {one.shift:.3g}" for one in self.offsets() if one.low > 0 or one.high < 0]
            named = f" ({_listed(offsets)})" if offsets else ""
            return f"{both} differ by an offset{named}, up to noise{self._said_seen('further effects')}."
        if verdict == "too noisy to tell":
            what = "differ by more than noise" if self.differs_at_all else "differ"
            return (
                f"Too noisy, or too few rows, to tell whether {both} {what}: a shift by half of the spread would be "
                f"seen with probability {self.phase.reference_power:.2f}."
            )
        if verdict == "differ only by noise":
            return f"{both} differ only by noise; any further effect is below {self._said_bound()}."
        if verdict == "no difference beyond noise found":
            return f"{both} differ, but no difference beyond noise was found{self._said_seen('effects')}."
        return f"No difference between {both} was found{self._said_seen('effects')}."

    def _said_beyond(self) -> str:
        p, effect = p_is(self.beyond_noise_pvalue), self.phase.effect
        size = f"effect {effect.estimate:.2g}" + (", below the margin" if effect.high < self.margin else "")
        if self.phase.phase_pvalue > self.alpha and self.flip is None:
            size = "symmetrically, as noise with a positive characteristic function cannot make it"
        if self.up_to_offset is None:
            return f"differ beyond noise ({p}; {size}); too few rows to tell whether by an offset only"
        return f"differ beyond noise and an offset ({p}; {size})"

    def _said_bound(self) -> str:
        bound = self.effect.upper_bound(self.alpha)
        return f"{bound:.2g} (that of a shift of Gaussians by {math.sqrt(bound):.2g} SD)"

    def _said_seen(self, effects: str) -> str:
        seen = self.effect.detectable(self.alpha)
        if not math.isfinite(seen):
            return ""
        shift = f"{math.sqrt(seen):.2g}"
        return f"; {effects} above {seen:.2g} (that of a shift of Gaussians by {shift} SD) would have been seen"

    def _said_symmetry(self) -> str:
        if not self.symmetric or not self.differs_at_all or self.differs_beyond_offset:
            return ""
        return " Neither is clearly skewed, so that a change of width, shape or dependence would look like noise."

    def offsets(self) -> list[Offset]:
        """Return by how much the first sample lies further than the second in each column, up to noise.

        They are estimated together, with 95 % intervals; none where there are too few rows.
        """
        result = self.up_to_offset
        if result is None or result.shift is None or result.shift_interval is None:
            return []
        parts = zip(self.columns, result.shift.tolist(), result.shift_interval.tolist(), strict=True)
        return [Offset(name, shift, low, high) for name, shift, (low, high) in parts]

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict and all that it rests on as what JSON knows; without sketches and rows."""
        derived = ("verdict", "sentence", "at_all_pvalue", "beyond_noise_pvalue", "beyond_offset_pvalue")
        found = {name: getattr(self, name) for name in derived}
        kept = [field.name for field in fields(self) if field.name not in ("sketches", "shown")]
        return found | {name: as_json(getattr(self, name)) for name in kept}

    def to_frame(self, native: Any = None) -> Any:
        """Return one row a column, as a pandas frame or of the backend named.

        Parameters
        ----------
        native : str or module, optional
            What narwhals calls the backend: "pandas", "polars" or "pyarrow"; by default pandas.

        Returns
        -------
        DataFrame
        """
        import narwhals as nw

        rows = [one.to_dict() for one in self.by_column]
        names = [field.name for field in fields(ColumnComparison)]
        data = {name: [row[name]["estimate"] if name == "effect" else row[name] for row in rows] for name in names}
        return nw.from_dict(data, backend=native or "pandas").to_native()

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write all this as one self-contained page of HTML, with pictures; it needs the extra ``cli``.

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
        from uptonoise.report import write_report

        write_report(self, path, force=force)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot four panels and return their Axes; :func:`uptonoise.plots.plot` tells how, and needs matplotlib."""
        from uptonoise.plots import plot

        return plot(self, ax=ax, **options)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Comparison) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.names, self.sizes, self.columns, self.mmd.pvalue, self.phase.pvalue, self.seed))

    def __repr__(self) -> str:
        lines = [f"{label + '?':33}{answer:5}{why}" for label, answer, why in self.ladder()]
        lines += [f"{label:33}{text}" for label, text in self.findings()]
        lines += [f"{'missing':33}{text}" for text in self.missing]
        lines += [f"{'warning':33}{text}" for text in self.dependent]
        lines += [f"{'clusters':33}{text}" for text in self.clusters_in_words()]
        sizes = f"{self.sizes[0]:,} and {self.sizes[1]:,} rows"
        lines.append(f"{sizes:33}columns {_listed(self.columns)}; seed {self.seed}")
        return "\n".join([self.sentence, *(f"  {line}" for line in lines)])

    def clusters_in_words(self) -> list[str]:
        """Return for each sample how many clusters it has, and how many independent rows they are worth."""
        if self.n_clusters is None or self.independent_rows is None:
            return []
        parts = zip(self.names, self.sizes, self.n_clusters, self.independent_rows, strict=True)
        return [
            f"{name}: {counted(n_rows, 'row')} in {counted(n_clusters, 'cluster')}, worth {worth:,.0f} independent rows"
            for name, n_rows, n_clusters, worth in parts
        ]

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
        at_all = f"MMD {p_is(self.mmd.pvalue)}"
        if self.me is not None:
            at_all += f", ME {p_is(self.me.pvalue)}"
        beyond = f"phase test {p_is(self.phase.pvalue)}"
        if self.flip is not None:
            beyond += f", flip test {p_is(self.flip.pvalue)} (exact; it decides)"
        offset = self.beyond_offset_pvalue
        last = "too few rows" if offset is None else f"phase test {p_is(offset)}"
        unknown = offset is None and self.differs_beyond_noise
        return [
            ("differ at all", _said(self.differs_at_all), at_all),
            ("differ beyond noise", _said(self.differs_beyond_noise), beyond),
            ("differ beyond noise and offset", "?" if unknown else _said(self.differs_beyond_offset), last),
        ]

    def findings(self) -> list[tuple[str, str]]:
        """Return what else was found, as pairs of a label and a text."""
        effect = self.effect
        found = [
            ("effect", f"{effect.estimate:.2g} ({effect.low:.2g} to {effect.high:.2g}) per row; margin {self.margin:g}")
        ]
        verdict = self.verdict
        if verdict == "differ by noise and an offset":
            found.append((f"offset of {self.names[0]}", _listed([str(one) for one in self.offsets()])))
        if verdict != "differ beyond noise and an offset" and self.differs_at_all:
            noisier = [_said_noise(one, self.names) for one in self._noisier()]
            found.append(("extra noise (Holm)", _listed(noisier) or "none found"))
        if len(self.columns) > 1:
            columns = sorted(self.by_column, key=lambda one: one.adjusted_beyond_noise)
            differ = [one for one in columns if one.adjusted_beyond_noise <= self.alpha]
            texts = [f"{one.column} ({p_is(one.adjusted_beyond_noise)})" for one in differ]
            found.append(("columns beyond noise (Holm)", _listed(texts) or "none by itself"))
        if self.me is not None and self.me.pvalue <= self.alpha:
            found.append(("where they differ most", self._said_place()))
        return found

    def _noisier(self) -> list[ColumnComparison]:
        """Return the columns in which one sample is clearly noisier, adjusted for how many columns there are."""
        known = [one for one in self.by_column if 0 < one.extra_noise_error < math.inf]
        scores = np.array([abs(one.extra_noise) / one.extra_noise_error for one in known])
        adjusted = adjusted_pvalues(2 * ndtr(-scores), "holm")
        return [one for one, pvalue in zip(known, adjusted, strict=True) if pvalue <= self.alpha]

    def _said_place(self) -> str:
        assert self.me is not None
        most = int(np.argmax(self.me.contributions))
        more = self.names[0] if self.me.differences[most] > 0 else self.names[1]
        place = [f"{name} = {value:.3g}" for name, value in zip(self.columns, self.me.regions[most], strict=True)]
        return f"{more} has more rows near {_listed(place)}"


def _said(answer: bool) -> str:
    return "yes" if answer else "no"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_SHOWN_COLUMNS]) + (", ..." if len(texts) > _SHOWN_COLUMNS else "")


def _said_noise(one: ColumnComparison, names: tuple[str, str]) -> str:
    """Return which sample is noisier in a column, and by how much."""
    noisier = names[0] if one.extra_noise > 0 else names[1]
    return f"{noisier} in {one.column} by a variance of {abs(one.extra_noise):.2g} +- {one.extra_noise_error:.1g}"


def compare(
    X: Any,
    Y: Any,
    *,
    names: Sequence[str] | None = None,
    margin: float = MARGIN,
    alpha: float = 0.05,
    weights: tuple[Any, Any] = (None, None),
    clusters: Any = None,
    n_frequencies: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Ask whether two samples differ, and whether by more than noise: one answer, with all that it rests on.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, Bags, RowSource, or Sketch
        The two samples; two Bags are two samples of clusters. Or two sketches with the same frequencies, from which
        all comes that needs no rows.
    names : pair of str, optional
        What to call them; by default X and Y, or their files.
    margin : float
        The effect below which "only by noise" is said. An effect is about the square of a shift in standard deviations,
        so the default, 0.04, is that of a shift by 0.2 of them.
    alpha : float
        The level of the tests, and one minus the confidence of bounds.
    weights : pair of arrays or str, optional
        Weights for the rows of X and of Y, or the names of the columns that hold them. Tests that need equal weights
        are left out then.
    clusters : pair of arrays, or str, optional
        Which rows belong together: an id for each row of X and of Y, or the column of both that holds them. Without it,
        rows that look dependent give a :class:`DependentRowsWarning`.
    n_frequencies : int, optional
        At most so many frequencies, as for :meth:`Sketch.for_samples`: fewer than by default take less time on many
        rows, and see less. Sketches bring their own.
    random_state : None, int, Generator or RandomState
        The seed; a fixed one by default, so that the same data give the same answer.

    Returns
    -------
    Comparison

    See Also
    --------
    compare_groups : many samples, all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.gamma(2, size=5_000), rng.gamma(2, size=5_000) + rng.normal(size=5_000)
    >>> print(un.compare(old, new, names=["old", "new"]).verdict)
    differ only by noise
    >>> print(un.compare(old + 3, new).verdict)
    differ by noise and an offset
    """
    _check_levels(margin, alpha)
    generator, seed = seeded_generator(random_state)
    dependent: tuple[str, ...] = ()
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        if n_frequencies is not None:
            raise ValueError("n_frequencies must be left out for sketches, which bring their own frequencies")
        left, right, _ = as_sketches(X, Y, weights, None, generator, clusters=clusters)
        rows = _Rows(None, "the rows: only sketches were given", False)
        called = ("X", "Y")
    else:
        sources = two_clustered(X, Y, weights, clusters)
        if len(sources[0].columns) > _MOST_COLUMNS:
            raise ValueError(
                f"{sources[0].name} must have at most {_MOST_COLUMNS:,} columns for a comparison; got "
                f"{len(sources[0].columns):,}. Choose those that matter"
            )
        signs = [dependence(source) for source in sources]  # before the pass, which may be the only one
        left, right, _ = as_sketches(*sources, (None, None), None, generator, n_frequencies)
        rows = _Rows.of(*sources, weights=weights, n_rows=left.n_rows + right.n_rows, generator=generator)
        called = (sources[0].name, sources[1].name)
        dependent = warn_of_dependence(signs)
    answer = _compared(left, right, rows, _checked_names(names, called), margin, alpha, generator, seed)
    return replace(answer, dependent=dependent, **cluster_counts(left, right))


def _check_levels(margin: float, alpha: float) -> None:
    if not isinstance(margin, Real) or isinstance(margin, bool) or not 0 < margin < math.inf:
        raise ValueError(f"margin must be a positive number; got {margin!r}")
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}")


def _checked_names(names: Sequence[str] | None, default: tuple[str, str]) -> tuple[str, str]:
    if names is None:
        return default if default[0] != default[1] else ("X", "Y")
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"names must be two names, one for each sample; got {names!r}")
    if names[0] == names[1]:
        raise ValueError(f"names must differ; got {names[0]!r} twice")
    return names[0], names[1]


class _Rows(NamedTuple):
    """The rows of both samples in memory, all of them or some; or why there are none."""

    samples: tuple[Floats, Floats] | None
    why_none: str
    all_of_them: bool
    clusters: Any = None

    @classmethod
    def of(
        cls, left: RowSource, right: RowSource, weights: tuple[Any, Any], n_rows: int, generator: np.random.Generator
    ) -> _Rows:
        if any(weight is not None for weight in weights):
            return cls(None, "tests that take no weights", False)
        if not (left.can_be_read_again and right.can_be_read_again):
            return cls(None, "the rows: they could be read only once", False)
        if left.bag_ids is not None:
            return cls._clustered(left, right, n_rows)
        if n_rows <= _IN_MEMORY:
            return cls((read_rows(left), read_rows(right)), "", True)
        X, Y = (some_rows(source, _SHOWN_TO_ME, generator) for source in (left, right))
        return cls((X, Y), "", False)

    @classmethod
    def _clustered(cls, left: RowSource, right: RowSource, n_rows: int) -> _Rows:
        """Return rows with the numbers of their clusters, those of Y after those of X."""
        if n_rows > _IN_MEMORY or left.is_remote or right.is_remote:
            return cls(None, f"all rows in memory where they come in clusters, at most {_IN_MEMORY:,}", False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SharedClustersWarning)  # which was given with the sketches
            samples = read_samples(left, right, needed=LEAST_CLUSTERS, why="a comparison")
        if samples.clusters is None or samples.n_clusters is None:
            return cls((samples.X, samples.Y), "", True)
        clusters = samples.clusters[0], samples.clusters[1] + samples.n_clusters[0]
        return cls((samples.X, samples.Y), "", True, clusters)


def _compared(
    left: Sketch,
    right: Sketch,
    rows: _Rows,
    names: tuple[str, str],
    margin: float,
    alpha: float,
    generator: np.random.Generator,
    seed: int | None,
) -> Comparison:
    missing: list[str] = []
    mmd, me, flip = _with_rows(left, right, rows, missing, generator)
    up_to_offset = _up_to_offset(left, right, missing)
    extra = _extra_noise(left, right, missing)
    return Comparison(
        names=names,
        sizes=(left.n_rows, right.n_rows),
        columns=(left if left.named else right).columns,
        mmd=mmd,
        me=me,
        phase=replace(phase_test(left, right), seed=seed),
        flip=flip,
        up_to_offset=up_to_offset and replace(up_to_offset, seed=seed),
        extra_noise=extra,
        by_column=() if extra is None else _by_column(left, right, extra, missing),
        missing=tuple(missing),
        alpha=float(alpha),
        margin=float(margin),
        seed=seed,
        sketches=(left, right),
        symmetric=_is_symmetric(left, alpha) and _is_symmetric(right, alpha),
        shown=None if rows.samples is None else (_some(rows.samples[0], generator), _some(rows.samples[1], generator)),
    )


def _is_symmetric(sketch: Sketch, alpha: float) -> bool:
    """Tell whether a sample cannot be told from its mirror image, up to an offset."""
    result = _up_to_offset(sketch, sketch.mirrored(), [])
    return result is not None and result.phase_pvalue > alpha


def _some(rows: Floats, generator: np.random.Generator) -> Floats:
    return rows if len(rows) <= _SHOWN_ROWS else rows[np.sort(generator.choice(len(rows), _SHOWN_ROWS, replace=False))]


def _with_rows(
    left: Sketch, right: Sketch, rows: _Rows, missing: list[str], generator: np.random.Generator
) -> tuple[MmdResult, MeResult | None, FlipResult | None]:
    """Return the tests that need rows, as far as there are any."""
    columns = (left if left.named else right).columns
    of_sketches = mmd_test(left, right)
    smallest = min(left.n_clusters or left.n_rows, right.n_clusters or right.n_rows)
    clustered = left.is_clustered and rows.clusters is not None
    units = "clusters" if clustered else "rows"
    if rows.samples is None:
        missing.append(f"ME and its places need {rows.why_none}")
        if smallest < _FEW_ROWS and not left.is_clustered:
            missing.append(f"the flip test, which is exact for few rows, needs {rows.why_none}")
        return of_sketches, None, None
    X, Y = rows.samples
    mmd = of_sketches
    if rows.all_of_them:
        quadratic = len(X) + len(Y) <= _QUADRATIC
        method: Literal["quadratic", "fourier"] = "quadratic" if quadratic else "fourier"
        found = mmd_test(X, Y, method=method, clusters=rows.clusters, random_state=generator)
        mmd = replace(found, columns=columns)
    me = None
    if smallest >= _LEAST_FOR_ME:
        me = replace(me_test(X, Y, clusters=rows.clusters, random_state=generator), columns=columns)
    else:
        missing.append(f"ME and its places need {_LEAST_FOR_ME} {units} of each sample")
    flip = None
    if rows.all_of_them and smallest < _FEW_ROWS and not clustered:
        flip = replace(flip_test(X, Y, random_state=generator), columns=columns)
    return mmd, me, flip


def _up_to_offset(left: Sketch, right: Sketch, missing: list[str]) -> PhaseResult | None:
    reason = why_no_shift(left, right)
    if reason is None:
        try:
            return phase_test(left, right, invariant_to="noise+shift")
        except ValueError as error:
            reason = str(error)
    missing.append(f"the test up to an offset: {reason}")
    return None


def _extra_noise(left: Sketch, right: Sketch, missing: list[str]) -> ExtraNoise | None:
    try:
        return extra_noise(left, right)
    except ValueError as error:
        missing.append(f"extra noise, and columns by themselves: {error}")
        return None


def _by_column(left: Sketch, right: Sketch, extra: ExtraNoise, missing: list[str]) -> tuple[ColumnComparison, ...]:
    """Return the ladder of each column that has frequencies of its own."""
    named = left if left.named else right
    alone = np.count_nonzero(left.frequencies, axis=1) == 1
    own = [name for name, there in zip(named.columns, (left.frequencies[alone] != 0).any(axis=0), strict=True) if there]
    if len(own) < len(named.columns):
        missing.append(f"columns by themselves: the sketches have frequencies of their own for {own} only")
    places = [named.columns.index(name) for name in own]
    margins = [(left.select([left.columns[j]]), right.select([right.columns[j]])) for j in places]
    at_all = np.array([mmd_test(s, t).pvalue for s, t in margins])
    noise = [phase_test(s, t) for s, t in margins]
    offset = [_up_to_offset(s, t, []) for s, t in margins]
    beyond_noise = np.array([result.pvalue for result in noise])
    beyond_offset = np.array([np.nan if result is None else result.pvalue for result in offset])
    adjusted = [_holm(pvalues) for pvalues in (at_all, beyond_noise, beyond_offset)]
    return tuple(
        ColumnComparison(
            column=name,
            at_all=float(at_all[i]),
            beyond_noise=float(beyond_noise[i]),
            beyond_offset=float(beyond_offset[i]),
            adjusted_at_all=float(adjusted[0][i]),
            adjusted_beyond_noise=float(adjusted[1][i]),
            adjusted_beyond_offset=float(adjusted[2][i]),
            effect=noise[i].effect,
            **_offset_of(offset[i]),
            extra_noise=float(extra.variances[place]),
            extra_noise_error=float(extra.standard_errors[place]),
        )
        for i, (name, place) in enumerate(zip(own, places, strict=True))
    )


def _offset_of(result: PhaseResult | None) -> dict[str, float]:
    if result is None or result.shift is None or result.shift_interval is None:
        return {"offset": math.nan, "offset_low": math.nan, "offset_high": math.nan}
    low, high = result.shift_interval[0]
    return {"offset": float(result.shift[0]), "offset_low": float(low), "offset_high": float(high)}


def _holm(pvalues: Floats) -> Floats:
    """Adjust the p-values that are known."""
    adjusted, known = pvalues.copy(), ~np.isnan(pvalues)
    adjusted[known] = adjusted_pvalues(pvalues[known], "holm")
    return adjusted


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GroupComparison:
    """The outcome of :func:`compare_groups`: all pairs of many samples.

    Attributes
    ----------
    pairs : PairwiseResult
        The phase tests of all pairs: p-values, adjusted ones, effects.
    sketches : dict of Sketch
        The sketch of each group, which is all that another comparison needs.
    columns : tuple of str
        The columns compared.
    alpha, margin : float
        As for :func:`compare`.
    seed : int or None
        The seed that gives this comparison again.
    """

    pairs: PairwiseResult
    sketches: dict[str, Sketch]
    columns: tuple[str, ...]
    alpha: float
    margin: float
    seed: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups."""
        return self.pairs.names

    @property
    def differing(self) -> list[tuple[str, str]]:
        """The pairs that differ beyond noise, adjusted for the number of pairs; the smallest p-value first."""
        ordered = zip(*self.pairs.ordered(), strict=True)
        return [(self.names[i], self.names[j]) for i, j in ordered if self.pairs.adjusted[i, j] <= self.alpha]

    @property
    def sentence(self) -> str:
        """The answer in a plain sentence."""
        n_groups, found = len(self.names), len(self.differing)
        pairs = counted(n_groups * (n_groups - 1) // 2, "pair")
        if found == 0:
            fewest = min(self.pairs.sizes)
            few = (
                f"; the smallest group has {counted(fewest, 'row')}, too few to tell" if fewest < _FEW_IN_GROUP else ""
            )
            return f"No two of {n_groups:,} groups were found to differ beyond noise ({pairs}, adjusted){few}."
        named = ", ".join(f"{one} and {other}" for one, other in self.differing[:3]) + (
            " and others" if found > 3 else ""
        )
        differ = "differs" if found == 1 else "differ"
        return f"Of {pairs} of {n_groups:,} groups {found:,} {differ} beyond noise (adjusted): {named}."

    def pair(self, one: str, other: str) -> Comparison:
        """Compare two of the groups in full, as far as sketches can; p-values are those of this pair alone.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> groups = un.compare_groups({name: rng.normal(size=300) for name in "abc"})
        >>> groups.pair("a", "c").verdict
        'no difference found'
        """
        for name in (one, other):
            if name not in self.sketches:
                raise ValueError(f"groups must be out of {list(self.names)[:20]}; got {name!r}")
        left, right = self.sketches[one], self.sketches[other]
        found = compare(left, right, names=(one, other), margin=self.margin, alpha=self.alpha)
        return replace(found, seed=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as what JSON knows; without the sketches."""
        return {
            "sentence": self.sentence,
            "differing": [list(pair) for pair in self.differing],
            "columns": list(self.columns),
            "alpha": self.alpha,
            "margin": self.margin,
            "seed": self.seed,
            "pairs": self.pairs.to_dict(),
        }

    def to_frame(self, native: Any = None) -> Any:
        """Return one row a pair, the smallest p-value first, as a pandas frame or of the backend named."""
        return self.pairs.to_frame(native)

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write all pairs as one self-contained page of HTML, the clearest 30 in full; it needs the extra ``cli``.

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
        >>> un.compare_groups({name: [0.0, 1.0, 2.0] * 30 for name in "ab"}).report(page)
        >>> page.exists()
        True
        """
        from uptonoise.report import write_report

        write_report(self, path, force=force)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the result and return the Axes; :func:`uptonoise.plots.plot` tells how, and needs matplotlib."""
        from uptonoise.plots import plot

        return plot(self, ax=ax, **options)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, GroupComparison) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.pairs, self.columns, self.seed))

    def __repr__(self) -> str:
        return f"{self.sentence}\n{self.pairs!r}"


def compare_groups(
    groups: Any,
    *,
    by: str | None = None,
    columns: Sequence[str] | None = None,
    clusters: Any = None,
    adjust: Adjustment = "holm",
    margin: float = MARGIN,
    alpha: float = 0.05,
    random_state: RandomState = 0,
) -> GroupComparison:
    """Compare all pairs of many samples beyond noise, from one sketch of each.

    Parameters
    ----------
    groups : frame, Bags, dict of samples, dict of Sketch, or RowSource with groups
        A frame needs `by`; ``scan_parquet(path, by="site")`` brings its groups.
    by : str, optional
        The column of the frame that names each row's group.
    columns : sequence of str, optional
        The columns to compare; by default all but `by`.
    clusters : str, array of shape (n_rows,), or dict of arrays, optional
        Which rows belong together: the column of a frame or of files that holds ids, or an id for each row; of a dict
        of samples, a dict of ids. Bags with labels need none: each bag is a cluster, and its label names its group.
    adjust : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        How p-values are adjusted for the number of pairs, as for :func:`pairwise_phase_test`.
    margin, alpha : float
        As for :func:`compare`.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Returns
    -------
    GroupComparison

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"site": np.repeat(["a", "b", "c"], 400), "x": rng.exponential(size=1_200)})
    >>> frame.loc[frame["site"] == "b", "x"] += rng.normal(size=400)      # noisier
    >>> frame.loc[frame["site"] == "c", "x"] *= -1                        # another law
    >>> un.compare_groups(frame, by="site").differing
    [('a', 'c'), ('b', 'c')]
    """
    _check_levels(margin, alpha)
    generator, seed = seeded_generator(random_state)
    labelled = isinstance(groups, Bags) and groups.labels is not None
    if clusters is None and not labelled:
        sketches = _sketches_of(groups, by, columns, generator)
    else:
        sketches = clustered_sketches(groups, by, columns, clusters, generator)
    if len(sketches) < 2:
        raise ValueError(f"groups must be at least two; got {len(sketches)}: {', '.join(map(str, sketches))}")
    pairs = pairwise_phase_test(sketches, adjust=adjust)
    first = next((sketch for sketch in sketches.values() if sketch.named), next(iter(sketches.values())))
    return GroupComparison(
        pairs=pairs,
        sketches={str(name): sketch for name, sketch in sketches.items()},
        columns=first.columns,
        alpha=float(alpha),
        margin=float(margin),
        seed=seed,
    )


def _sketches_of(
    groups: Any, by: str | None, columns: Sequence[str] | None, generator: np.random.Generator
) -> dict[Any, Sketch]:
    if isinstance(groups, Mapping):
        _refuse_choice(by, columns, "a dict")
        if groups and all(isinstance(group, Sketch) for group in groups.values()):
            return dict(groups)
        if not groups:
            return {}
        sources = list(groups.values())
        empty = Sketch.for_samples(*sources, random_state=generator)
        return {name: Sketch.like(empty).update(source) for name, source in groups.items()}
    if is_frame(groups):
        if by is None:
            raise ValueError("by must name the column with each row's group; got None")
        grouped = grouped_rows(groups, by, columns)
        if grouped is not None:
            return Sketch.for_groups(grouped, random_state=generator)
        return Sketch.for_groups(Bags.from_long(groups, by=by, values=columns), random_state=generator)
    _refuse_choice(by, columns, f"a {type(groups).__name__}")
    source = groups if isinstance(groups, RowSource) else as_rows(groups, name="groups")
    return Sketch.for_groups(source, random_state=generator)


def _refuse_choice(by: str | None, columns: Sequence[str] | None, what: str) -> None:
    if by is not None or columns is not None:
        raise ValueError(f"by and columns are for frames; groups is {what}, which has its groups and columns already")
