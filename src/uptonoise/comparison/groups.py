"""Many samples at once: all pairs beyond noise, from one sketch of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.comparison.evidence import MARGIN, check_margin_and_alpha
from uptonoise.comparison.inputs import Missing, check_missing
from uptonoise.comparison.ladder import compare
from uptonoise.comparison.result import Comparison, ReportedResult
from uptonoise.fourier import Sketch
from uptonoise.rows import InputRecord, SourceRecord, as_rows, grouped_rows, is_frame, without_missing
from uptonoise.twosample import Adjustment, PairwiseResult, pairwise_phase_test

_FEW_IN_GROUP = 10


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GroupComparison(ReportedResult):
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
    input : InputRecord
        Which rows and columns were used, which were left out, and why.
    """

    hidden: ClassVar[tuple[str, ...]] = ("sketches",)
    derived: ClassVar[tuple[str, ...]] = ("sentence", "differing")

    pairs: PairwiseResult
    sketches: dict[str, Sketch]
    columns: tuple[str, ...]
    alpha: float
    margin: float
    seed: int | None
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
    def sentence(self) -> str:
        """The answer in a plain sentence."""
        n_groups, n_differing = len(self.names), len(self.differing)
        pairs = counted(n_groups * (n_groups - 1) // 2, "pair")
        if n_differing == 0:
            smallest = min(self.pairs.sizes)
            text = f"No two of {n_groups:,} groups were found to differ beyond noise ({pairs}, adjusted)"
            if smallest < _FEW_IN_GROUP:
                text += f"; the smallest group has {counted(smallest, 'row')}, too few to tell"
            return f"{text}."
        named = ", ".join(f"{first} and {second}" for first, second in self.differing[:3])
        others = " and others" if n_differing > 3 else ""
        differ = "differs" if n_differing == 1 else "differ"
        return f"Of {pairs} of {n_groups:,} groups {n_differing:,} {differ} beyond noise (adjusted): {named}{others}."

    def pair(self, first: str, second: str) -> Comparison:
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
        for name in (first, second):
            if name not in self.sketches:
                raise ValueError(f"groups must be out of {list(self.names)[:20]}; got {name!r}")
        left, right = self.sketches[first], self.sketches[second]
        comparison = compare(left, right, names=(first, second), margin=self.margin, alpha=self.alpha)
        return replace(comparison, seed=self.seed)

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`, which has one row per pair, the smallest p-value first."""
        return self.pairs.table()

    def __repr__(self) -> str:
        return f"{self.sentence}\n{self.pairs!r}"


def compare_groups(
    groups: Any,
    *,
    by: str | None = None,
    columns: Sequence[str] | None = None,
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
    by : str, optional
        The column of the frame that names each row's group.
    columns : sequence of str, optional
        The columns to compare; by default all but `by`.
    adjust : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        How p-values are adjusted for the number of pairs, as for :func:`pairwise_phase_test`.
    margin, alpha, missing
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
    >>> frame.loc[frame["site"] == "c", "x"] *= -1                        # another distribution
    >>> un.compare_groups(frame, by="site").differing
    [('a', 'c'), ('b', 'c')]
    """
    check_margin_and_alpha(margin, alpha)
    check_missing(missing)
    generator, seed = seeded_generator(random_state)
    sketches, records = _sketches_of(groups, by, columns, missing, generator)
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
        input=_input_record(sketches, records, first.columns),
    )


def _sketches_of(
    groups: Any, by: str | None, columns: Sequence[str] | None, missing: Missing, generator: np.random.Generator
) -> tuple[dict[Any, Sketch], dict[str, SourceRecord]]:
    """Return the sketch of each group, and what each source has left out, by its name."""
    if is_frame(groups):
        if by is None:
            raise ValueError("by must name the column with each row's group; got None")
        grouped = grouped_rows(groups, by, columns)
        source = Bags.from_long(groups, by=by, values=columns) if grouped is None else grouped
        return _of_groups(source, missing, generator)
    if by is not None or columns is not None:
        what = "dict" if isinstance(groups, Mapping) else type(groups).__name__
        raise ValueError(f"by and columns are for frames; groups is a {what}, which has its groups and columns already")
    if not isinstance(groups, Mapping):
        return _of_groups(groups, missing, generator)
    if all(isinstance(group, Sketch) for group in groups.values()):
        return dict(groups), {}
    samples = {name: as_rows(group, name=str(name)) for name, group in groups.items()}
    if missing == "drop":
        samples = {name: without_missing(sample) for name, sample in samples.items()}
    empty = Sketch.for_samples(*samples.values(), random_state=generator)
    sketches = {name: Sketch.like(empty).update(sample) for name, sample in samples.items()}
    return sketches, {str(name): sample.record() for name, sample in samples.items()}


def _of_groups(
    groups: Any, missing: Missing, generator: np.random.Generator
) -> tuple[dict[Any, Sketch], dict[str, SourceRecord]]:
    source = as_rows(groups, name="groups")
    if missing == "drop":
        source = without_missing(source)
    sketches = Sketch.for_groups(source, random_state=generator)
    return sketches, {source.name: source.record()}


def _input_record(
    sketches: Mapping[Any, Sketch], records: Mapping[str, SourceRecord], columns: Sequence[str]
) -> InputRecord:
    sizes = [int(sketch.n_rows) for sketch in sketches.values()]
    if len(records) == len(sketches) != 1:
        return InputRecord.of(list(records), sizes, columns, list(records.values()))
    names = list(records) or ["the sketches"]
    return InputRecord.of(names, [sum(sizes)], columns, list(records.values()) or [SourceRecord()])
