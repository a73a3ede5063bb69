"""Many samples at once: all pairs beyond noise, from one sketch of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.validation import checked_column, checked_columns
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.comparison.clustered import clustered_sketches
from uptonoise.comparison.evidence import MARGIN, Verdict, check_margin_and_alpha
from uptonoise.comparison.inputs import Missing, check_missing, of_sketches
from uptonoise.comparison.ladder import Settings, climb, compare
from uptonoise.comparison.result import Comparison, ReportedResult
from uptonoise.comparison.steps import Symmetry
from uptonoise.fourier import Sketch
from uptonoise.rows import (
    ArrayRows,
    InputRecord,
    RowSource,
    SourceRecord,
    as_frame,
    as_rows,
    grouped_rows,
    is_frame,
    suspected_in_frame,
    without_missing,
)
from uptonoise.twosample import Adjustment, PairwiseResult, pairwise_phase_test

_FEW_IN_GROUP = 10
_MOST_IN_FULL = 500  # pairs


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GroupComparison(ReportedResult):
    """The outcome of :func:`compare_groups`: all pairs of many samples.

    Attributes
    ----------
    pairs : PairwiseResult
        The phase tests of all pairs: p-values, and adjusted ones.
    two : Comparison or None
        Of two groups whose rows are there: what :func:`compare` says of them.
    sketches : dict of Sketch
        The sketch of each group, which is all that another comparison needs.
    columns : tuple of str
        The columns compared.
    alpha, margin : float
        As for :func:`compare`.
    seed : int or None
        The seed that gives this comparison again.
    input : InputRecord
        Which rows and columns were used, which were left out, and why.
    """

    not_compared: ClassVar[tuple[str, ...]] = ("input",)
    hidden: ClassVar[tuple[str, ...]] = ("sketches", "two")
    derived: ClassVar[tuple[str, ...]] = ("sentence", "differing", "verdicts")

    pairs: PairwiseResult
    sketches: dict[str, Sketch]
    columns: tuple[str, ...]
    alpha: float
    margin: float
    seed: int | None
    two: Comparison | None = None
    input: InputRecord = field(default_factory=InputRecord)

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
    def outliers(self) -> list[str]:
        """The groups that differ beyond noise from all others, where there are more than two groups."""
        differing = [name for pair in self.differing for name in pair]
        n_others = len(self.names) - 1
        return [name for name in self.names if n_others > 1 and differing.count(name) == n_others]

    @property
    def sentence(self) -> str:
        """The answer in a plain sentence."""
        if self.two is not None:
            return self.two.sentence
        n_groups, n_differing = len(self.names), len(self.differing)
        pairs = counted(n_groups * (n_groups - 1) // 2, "pair")
        if n_differing == 0:
            smallest = min(self.pairs.sizes)
            text = f"No two of {n_groups:,} groups were found to differ beyond noise ({pairs}, adjusted)"
            if smallest < _FEW_IN_GROUP:
                text += f"; the smallest group has {counted(smallest, 'row')}, too few to tell"
            return f"{text}."
        outliers = self.outliers
        rest = [pair for pair in self.differing if not set(pair) & set(outliers)]
        if outliers and not rest:
            they = " and ".join(outliers) if len(outliers) < 3 else f"{', '.join(outliers[:-1])} and {outliers[-1]}"
            verb = "differs" if len(outliers) == 1 else "each differ"
            return f"{they} {verb} from all {n_groups - 1:,} others; no other pair differs ({pairs}, adjusted)."
        named = ", ".join(f"{first} and {second}" for first, second in self.differing[:3])
        others = " and others" if n_differing > 3 else ""
        differ = "differs" if n_differing == 1 else "differ"
        return f"Of {pairs} of {n_groups:,} groups {n_differing:,} {differ} beyond noise (adjusted): {named}{others}."

    def pair(self, first: str, second: str) -> Comparison:
        """Compare two of the groups in full, as far as sketches can.

        P-values are those of this pair alone; :meth:`verdict` counts the number of pairs.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> groups = un.compare_groups({name: rng.normal(size=300) for name in "abc"})
        >>> groups.pair("a", "c").verdict
        'no difference found'
        """
        for name in (first, second):
            if name not in self.sketches:
                raise ValueError(f"groups must be out of {list(self.names)[:20]}; got {name!r}")
        if self.two is not None and (first, second) == self.two.names:
            return self.two
        if (first, second) not in self._compared:
            inputs = of_sketches(self.sketches[first], self.sketches[second])
            settings = Settings((first, second), self.margin, self.alpha, self.seed)
            symmetries = self._symmetries[first], self._symmetries[second]
            self._compared[first, second] = climb(inputs, settings, symmetries, np.random.default_rng(0))
        return self._compared[first, second]

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        """The pairs that were compared in full so far."""
        return {}

    @cached_property
    def _symmetries(self) -> dict[str, Symmetry]:
        return {name: Symmetry(sketch, self.alpha) for name, sketch in self.sketches.items()}

    def verdict(self, first: str, second: str) -> Verdict:
        """Return the verdict on two of the groups, adjusted for the number of pairs.

        A difference beyond noise that is not significant among so many pairs was not found, and not ruled out.
        """
        comparison = self.pair(first, second)
        i, j = self.names.index(first), self.names.index(second)
        if comparison.verdict.is_difference and self.pairs.adjusted[i, j] > self.alpha:
            return Verdict.NOT_RULED_OUT
        return comparison.verdict

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdict, the effect, the offset and the noise of each pair, the smallest p-value first.

        Of very many pairs, the first 500.
        """
        entries = []
        for i, j in list(zip(*self.pairs.ordered(), strict=True))[:_MOST_IN_FULL]:
            names = self.names[i], self.names[j]
            comparison = self.pair(*names)
            entries.append(
                {
                    "pair": names,
                    "verdict": self.verdict(*names),
                    "sentence": comparison.sentence,
                    "effect": comparison.effect,
                    "bound": comparison.bound,
                    "offsets": comparison.offsets(),
                    "noise": comparison.noise,
                }
            )
        return entries

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`, which has one row per pair, the smallest p-value first.

        Of very many pairs, the first 500 have a verdict and an effect.
        """
        table = dict(self.pairs.table())
        in_full = self.verdicts
        rest = len(table["pvalue"]) - len(in_full)
        table["verdict"] = [str(entry["verdict"]) for entry in in_full] + [None] * rest
        for name in ("estimate", "low", "high"):
            values = [getattr(entry["effect"], name) for entry in in_full] + [math.nan] * rest
            table["effect" if name == "estimate" else f"effect_{name}"] = values
        return table

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
    missing: Missing = "error",
    random_state: RandomState = 0,
) -> GroupComparison:
    """Compare all pairs of many samples beyond noise, from one sketch of each.

    Parameters
    ----------
    groups : frame, Bags, dict of samples, dict of Sketch, or RowSource with groups
        A frame needs `by`; ``scan_parquet(path, by="site")`` brings its groups.
    by, columns : str and sequence of str, optional
        The column of the frame that names each row's group, and the columns to compare; by default all others.
    clusters : str, array of shape (n_rows,), or dict of arrays, optional
        Ids of rows that belong together. A bag with a label is a cluster of the group that its label names.
    adjust, margin, alpha, missing, random_state
        As for :func:`pairwise_phase_test` and :func:`compare`.

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
    >>> frame.loc[frame["site"] == "c", "x"] *= -1                        # another distribution
    >>> un.compare_groups(frame, by="site").differing
    [('a', 'c'), ('b', 'c')]
    """
    check_margin_and_alpha(margin, alpha)
    by = None if by is None else checked_column(by, "by")
    columns = None if columns is None else checked_columns(columns, "columns")
    groups, records = _recorded(groups, by, columns, missing)
    generator, seed = seeded_generator(random_state)
    two = _compared_as_two(groups, by, columns, clusters, margin, alpha, generator if seed is None else seed)
    if two is None:
        sketches = _sketches_of(groups, by, columns, clusters, generator)
    else:
        sketches = dict(zip(two.names, two.sketches, strict=True))
    _check_several(sketches)
    pairs = pairwise_phase_test(sketches, adjust=adjust)
    first = next((sketch for sketch in sketches.values() if sketch.named), next(iter(sketches.values())))
    named = {str(name): sketch for name, sketch in sketches.items()}
    record = _input_record(named, records, first.columns)
    numbers: dict[str, Any] = {"alpha": float(alpha), "margin": float(margin), "seed": seed}
    return GroupComparison(pairs=pairs, sketches=named, columns=first.columns, two=two, input=record, **numbers)


def _check_several(sketches: Mapping[Any, Sketch]) -> None:
    if len(sketches) < 2:
        raise ValueError(f"groups must be at least two; got {len(sketches)}: {', '.join(map(str, sketches))}")


def _recorded(
    groups: Any, by: str | None, columns: Sequence[str] | None, missing: Missing
) -> tuple[Any, dict[str, Callable[[], SourceRecord]]]:
    """Return the groups, without missing values where these are dropped, and what tells later what was left out."""
    check_missing(missing)
    drops = missing == "drop"
    if is_frame(groups) and by is not None and grouped_rows(groups, by, columns) is None:
        frame = as_frame(groups, "groups")
        suspected = {} if columns is not None else suspected_in_frame(frame)
        if not drops:
            return groups, {"the frame": lambda: SourceRecord(suspected=suspected)}
        used = [by, *(columns or [name for name in frame.columns if name != by])]
        complete = frame.drop_nulls(used).filter(~nw.any_horizontal(*_are_nan(frame, used), ignore_nulls=True))
        n_dropped = len(frame) - len(complete)
        return complete.to_native(), {"the frame": lambda: SourceRecord(len(frame), n_dropped, suspected=suspected)}
    if isinstance(groups, RowSource):
        source = without_missing(groups) if drops else groups
        return source, {source.name: source.record}
    if isinstance(groups, Mapping) and not any(isinstance(group, Sketch) for group in groups.values()):
        sources = {name: as_rows(group, name=f"the group {name}") for name, group in groups.items()}
        if drops:
            sources = {name: without_missing(source) for name, source in sources.items()}
        return sources, {str(name): source.record for name, source in sources.items()}
    return groups, {"the groups": SourceRecord}


def _are_nan(frame: Any, columns: Sequence[str]) -> list[Any]:
    """Return an expression for each column that says where it is NaN."""
    floats = [name for name in columns if frame.schema[name].is_float()]
    return [nw.col(name).is_nan() for name in floats] or [nw.lit(False)]


def _input_record(
    sketches: Mapping[str, Sketch], records: Mapping[str, Callable[[], SourceRecord]], columns: Sequence[str]
) -> InputRecord:
    sizes = [int(sketch.n_rows) for sketch in sketches.values()]
    if len(records) != len(sketches):
        sizes = [sum(sizes)]
    return InputRecord.of(list(records), sizes, columns, [record() for record in records.values()])


def _compared_as_two(
    groups: Any,
    by: str | None,
    columns: Sequence[str] | None,
    clusters: Any,
    margin: float,
    alpha: float,
    random_state: RandomState,
) -> Comparison | None:
    """Compare two groups as two samples, where there are two, without clusters, and their rows are in memory."""
    if clusters is not None or (isinstance(groups, Bags) and groups.labels is not None):
        return None
    bags, is_dict = groups, isinstance(groups, Mapping) and by is None and columns is None
    if is_frame(groups) and by is not None and grouped_rows(groups, by, columns) is None:
        bags = Bags.from_long(groups, by=by, values=columns)
    sources: dict[Any, RowSource] | None = None
    if isinstance(bags, Bags) and len(bags) == 2:
        named = bags.columns if bags.named else None
        sources = {name: ArrayRows(np.asarray(bags[i]), f"the group {name}", named) for i, name in enumerate(bags.ids)}
    elif is_dict and len(groups) == 2 and not any(isinstance(group, Sketch) for group in groups.values()):
        sources = {name: as_rows(group, name=f"the group {name}") for name, group in groups.items()}
    if sources is None:
        return None
    X, Y = sources.values()
    return compare(X, Y, names=[str(name) for name in sources], margin=margin, alpha=alpha, random_state=random_state)


def _sketches_of(
    groups: Any, by: str | None, columns: Sequence[str] | None, clusters: Any, generator: np.random.Generator
) -> dict[Any, Sketch]:
    if clusters is not None or (isinstance(groups, Bags) and groups.labels is not None):
        return clustered_sketches(groups, by, columns, clusters, generator)
    if is_frame(groups):
        if by is None:
            raise ValueError("by must name the column with each row's group; got None")
        grouped = grouped_rows(groups, by, columns)
        source = grouped if grouped is not None else Bags.from_long(groups, by=by, values=columns)
        return Sketch.for_groups(source, random_state=generator)
    if by is not None or columns is not None:
        what = "dict" if isinstance(groups, Mapping) else type(groups).__name__
        raise ValueError(f"by and columns are for frames; groups is a {what}, which has its groups and columns already")
    if not isinstance(groups, Mapping):
        source = groups if isinstance(groups, RowSource) else as_rows(groups, name="groups")
        return Sketch.for_groups(source, random_state=generator)
    if all(isinstance(group, Sketch) for group in groups.values()):
        return dict(groups)
    empty = Sketch.for_samples(*groups.values(), random_state=generator)
    return {name: Sketch.like(empty).update(source) for name, source in groups.items()}
