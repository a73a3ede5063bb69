"""What every two-sample test returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from uptonoise._util.results import Result
from uptonoise._util.wording import counted

_SMALLEST_TOLD = 1e-300  # p-values below are not told apart
SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)  # no p-value is 0: float64 holds no smaller number in full


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TwoSampleResult(Result):
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
    >>> result.pvalue < 0.01, result.sizes, result.to_dict()["columns"]
    (True, (100, 80), ['x0'])
    """

    test: ClassVar[str] = "Two-sample test"
    derived: ClassVar[tuple[str, ...]] = ("test",)

    statistic: float
    pvalue: float
    sizes: tuple[int, int]
    columns: tuple[str, ...]
    null: str
    seed: int | None
    n_clusters: tuple[int, int] | None = None
    independent_rows: tuple[float, float] | None = None

    def __repr__(self) -> str:
        columns = counted(len(self.columns), "column")
        lines = [
            f"{self.test}: {p_is(self.pvalue)}",
            f"statistic {self.statistic:.4g}, null: {self.null}",
            f"X has {self.sizes[0]:,} rows, Y has {self.sizes[1]:,}, {columns}; seed {self.seed}",
        ]
        if self.n_clusters is not None:
            line = f"in {self.n_clusters[0]:,} and {self.n_clusters[1]:,} clusters"
            if self.independent_rows is not None:
                line += ", worth {:,.0f} and {:,.0f} independent rows".format(*self.independent_rows)
            lines.append(line)
        return "\n  ".join([*lines, *self._more()])

    def _more(self) -> list[str]:
        """Return the lines that a test's own result adds to what people read."""
        return []


def p_is(pvalue: float) -> str:
    """Return a p-value with its sign, as "p = 0.0312" or "p < 1e-300"."""
    text = pvalue_text(pvalue)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def pvalue_text(pvalue: float) -> str:
    """Return a p-value as people read it; a question mark where there is none."""
    if math.isnan(pvalue):
        return "?"
    if pvalue < _SMALLEST_TOLD:
        return f"< {_SMALLEST_TOLD:g}"
    return f"{pvalue:.3g}" if pvalue >= 1e-4 else f"{pvalue:.1e}"
