"""The outcome of a comparison of many groups: all pairs, and which groups are alike."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison.evidence import Verdict
from uptonoise.comparison.inputs import of_sketches
from uptonoise.comparison.ladder import climb
from uptonoise.comparison.result import Comparison, ReportedResult
from uptonoise.comparison.steps import Symmetry
from uptonoise.fourier import Sketch
from uptonoise.rows import InputRecord
from uptonoise.twosample import EffectSize, Pair, PairwiseResult, Phases

_FEW_IN_GROUP = 10
_MANY_GROUPS = 500  # all pairs of which take most of a minute
_MOST_IN_FULL = (500, 200)  # pairs, and those of many groups
_MOST_BY_EFFECT = 16  # groups whose similarity is told by effects, which take some milliseconds per pair


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
    hidden: ClassVar[tuple[str, ...]] = ("sketches",)
    derived: ClassVar[tuple[str, ...]] = ("sentence", "outliers", "by_similarity", "differing", "verdicts")

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
        if self.two is not None:
            return [self.two.names] if self.two.differs_beyond_noise else []
        i, j = self.pairs.ordered()
        differ = self.pairs.adjusted[i, j] <= self.alpha
        return [(self.names[i], self.names[j]) for i, j in zip(i[differ].tolist(), j[differ].tolist(), strict=True)]

    @property
    def outliers(self) -> list[str]:
        """The groups that differ beyond noise from all others, where there are more than two groups."""
        differing = Counter(name for pair in self.differing for name in pair)
        n_others = len(self.names) - 1
        return [name for name in self.names if n_others > 1 and differing[name] == n_others]

    @property
    def by_similarity(self) -> list[str]:
        """The groups that differ from all others, then the rest so that groups that are alike stand side by side.

        Groups are alike where the effect between them is small; of more than 16 groups, the noncentrality.
        """
        outliers = self.outliers
        rest = [name for name in self.names if name not in outliers]
        return [
            *(outliers[place] for place in by_similarity(self._distances(outliers))),
            *(rest[place] for place in by_similarity(self._distances(rest))),
        ]

    def _distances(self, names: list[str]) -> Floats:
        if len(self.names) > _MOST_BY_EFFECT:
            places = [self.names.index(name) for name in names]
            return np.sqrt(self.pairs.noncentralities[np.ix_(places, places)])
        distances = np.zeros((len(names), len(names)))
        for i, j in itertools.combinations(range(len(names)), 2):
            distances[i, j] = distances[j, i] = self.effect(names[i], names[j]).estimate
        return distances

    def effect(self, first: str, second: str) -> EffectSize:
        """Return how large the difference of two groups beyond noise is, without the rest of :meth:`pair`.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> groups = un.compare_groups({name: rng.normal(shift, size=500) for shift, name in enumerate("abc")})
        >>> round(groups.effect("a", "c").estimate)
        2
        """
        key = (first, second) if self.names.index(first) < self.names.index(second) else (second, first)
        if key in self._compared:
            return self._compared[key].effect
        if key not in self._effects:
            with single_threaded_blas():
                pair = Pair.of(self.sketches[key[0]], self.sketches[key[1]])
                self._effects[key] = Phases.of(pair).effect(up_to_offset=False)
        return self._effects[key]

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
        known = set(outliers)
        rest = [pair for pair in self.differing if not known.intersection(pair)]
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
            self._compared[first, second] = climb(
                inputs,
                np.random.default_rng(0),
                names=(first, second),
                margin=self.margin,
                alpha=self.alpha,
                seed=self.seed,
                symmetries=(self._symmetries[first], self._symmetries[second]),
            )
        return self._compared[first, second]

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        """The pairs that were compared in full so far."""
        return {}

    @cached_property
    def _effects(self) -> dict[tuple[str, str], EffectSize]:
        """The effects of pairs that were asked for so far, without the rest."""
        return {}

    @cached_property
    def _symmetries(self) -> dict[str, Symmetry]:
        return {name: Symmetry(copy(sketch), self.alpha) for name, sketch in self.sketches.items()}

    def verdict(self, first: str, second: str) -> Verdict:
        """Return the verdict on two of the groups, adjusted for the number of pairs.

        A difference beyond noise that is not significant among so many pairs was not found, and not ruled out.
        """
        comparison = self.pair(first, second)
        if comparison is self.two:
            return comparison.verdict
        i, j = self.names.index(first), self.names.index(second)
        if comparison.verdict.is_difference and self.pairs.adjusted[i, j] > self.alpha:
            return Verdict.NOT_RULED_OUT
        return comparison.verdict

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """The verdict, the effect, the offset and the noise of each pair, the smallest p-value first.

        Of very many pairs, the first 500; of more than 500 groups, the first 200.
        """
        entries = []
        most = _MOST_IN_FULL[len(self.names) > _MANY_GROUPS]
        for i, j in itertools.islice(zip(*self.pairs.ordered(), strict=True), most):
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

        Of very many pairs only the first have a verdict and an effect: those of :attr:`verdicts`.
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


def by_similarity(distances: Floats) -> list[int]:
    """Return the places of things: first the one that is furthest from the others, then always the nearest one left.

    Distances (n, n) that are not known (NaN) count as the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.comparison.group_result import by_similarity
    >>> places = np.array([0.0, 5.0, 0.2, 5.5])
    >>> by_similarity(np.abs(places[:, None] - places))
    [3, 1, 2, 0]
    """
    known = np.isfinite(distances)
    filled = np.where(known, distances, distances[known].max(initial=1.0))
    left = list(range(len(distances)))
    order: list[int] = []
    while left:
        remoteness = -filled.mean(axis=1) if not order else filled[order[-1]]
        order.append(min(left, key=remoteness.__getitem__))
        left.remove(order[-1])
    return order
