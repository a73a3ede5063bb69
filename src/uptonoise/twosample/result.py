"""What every two-sample test returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from uptonoise._util.wording import counted

_SMALLEST = 1e-300  # p-values below are not told apart


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TwoSampleResult:
    """The outcome of a two-sample test; each test's own result adds fields.

    Attributes
    ----------
    statistic : float
        The test's statistic.
    pvalue : float
        The probability of a statistic at least as large where the null hypothesis holds.
    sizes : tuple of int
        The numbers of rows of X and Y.
    columns : tuple of str
        The names of the columns.
    null : str
        What the statistic was compared with.
    seed : int or None
        The seed that gives this result again; None where a Generator was given.
    n_clusters : tuple of int, or None
        The numbers of clusters of X and Y; None where rows are independent.
    independent_rows : tuple of float, or None
        How many independent rows the clusters of X and Y are worth; None without clusters, and where it is not known.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> result = un.mmd_test(rng.normal(size=100), rng.normal(size=80) + 3, random_state=0)
    >>> result.pvalue < 0.01, result.sizes, sorted(result.to_dict())[:2]
    (True, (100, 80), ['columns', 'method'])
    """

    test: ClassVar[str] = "Two-sample test"

    statistic: float
    pvalue: float
    sizes: tuple[int, int]
    columns: tuple[str, ...]
    null: str
    seed: int | None
    n_clusters: tuple[int, int] | None = None
    independent_rows: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as what JSON knows: numbers, strings, lists, dicts and None."""
        return {"test": self.test} | {field.name: as_json(getattr(self, field.name)) for field in fields(self)}

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the result and return the Axes; :func:`uptonoise.plots.plot` tells how, and needs matplotlib."""
        from uptonoise.plots import plot

        return plot(self, ax=ax, **options)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __hash__(self) -> int:
        # Arrays cannot be hashed; equal results agree in these.
        return hash((type(self), self.statistic, self.pvalue, self.sizes, self.columns, self.null, self.seed))

    def __repr__(self) -> str:
        columns = f"{len(self.columns)} column" + ("" if len(self.columns) == 1 else "s")
        lines = [
            f"{self.test}: {p_is(self.pvalue)}",
            f"  statistic {self.statistic:.4g}, null: {self.null}",
            f"  X has {self._counts(0)}, Y has {self._counts(1)}, {columns}; seed {self.seed}",
            *(f"  {line}" for line in self._more()),
        ]
        return "\n".join(lines)

    def _counts(self, sample: int) -> str:
        """Return how many rows a sample has, and what they are worth."""
        rows = f"{self.sizes[sample]:,}" + (" rows" if sample == 0 or self.n_clusters is not None else "")
        if self.n_clusters is None:
            return rows
        worth = (
            "" if self.independent_rows is None else f", worth {self.independent_rows[sample]:,.0f} independent rows"
        )
        return f"{rows} in {counted(self.n_clusters[sample], 'cluster')}{worth}"

    def _more(self) -> list[str]:
        """Return the lines that a test's own result adds to what people read."""
        return []


def p_is(pvalue: float) -> str:
    """Return a p-value with its sign, as "p = 0.03".

    Examples
    --------
    >>> from uptonoise.twosample.result import p_is
    >>> p_is(0.0312), p_is(0.0)
    ('p = 0.0312', 'p < 1e-300')
    """
    return f"p = {said_pvalue(pvalue)}" if not pvalue < _SMALLEST else f"p < {_SMALLEST:g}"


def said_pvalue(pvalue: float) -> str:
    """Return a p-value as people read it; a question mark where there is none."""
    if math.isnan(pvalue):
        return "?"
    if pvalue < _SMALLEST:
        return f"< {_SMALLEST:g}"
    return f"{pvalue:.3g}" if pvalue >= 1e-4 else f"{pvalue:.1e}"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return bool(one == other)


def as_json(value: Any) -> Any:
    """Return a value as what JSON knows; a number that is none, or infinite, is None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [as_json(one) for one in value]
    if isinstance(value, dict):
        return {str(key): as_json(one) for key, one in value.items()}
    return value
