"""How many rows a study needs: the planned power at several sizes, and the size that reaches a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.twosample.phase.power import phase_test_power, planned_sizes

_SIZES = (50, 100, 200, 400, 800, 1_600)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Plan(Result):
    """The power of a phase test to come, at several numbers of rows; :func:`plan` returns it.

    Attributes
    ----------
    n, k : arrays of int
        The numbers of rows of X and of Y, or of clusters.
    power : array
        The power at each of them.
    target : float
        The power that is wanted.
    n_needed : int or None
        The number of rows of X that reaches it, between two planned ones by interpolation; None where no size does.
    alpha : float
        The significance level of the test.
    n_draws : int
        How many data sets were simulated for each size.
    units : str
        What `n` and `k` count: "rows" or "clusters".
    """

    derived: ClassVar[tuple[str, ...]] = ("sentence", "n_needed")

    n: NDArray[np.int64]
    k: NDArray[np.int64]
    power: Floats
    target: float
    alpha: float
    n_draws: int
    units: str = "rows"

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each power, from the number of simulated data sets."""
        return np.asarray(np.sqrt(np.maximum(self.power * (1 - self.power), 0.25 / self.n_draws) / self.n_draws))

    @property
    def n_needed(self) -> int | None:
        """The number of rows of X that reaches the target; None where no planned number does."""
        reached = np.flatnonzero(self.power >= self.target)
        if not len(reached):
            return None
        place = int(reached[0])
        if place == 0 or self.power[place] == self.power[place - 1]:
            return int(self.n[place])
        ends = np.log(self.n[[place - 1, place]])
        between = float(np.interp(self.target, self.power[[place - 1, place]], ends))
        return math.ceil(math.exp(between) - 1e-9)

    @property
    def sentence(self) -> str:
        """The plan in a sentence."""
        wanted = f"power {self.target:g} at the significance level {self.alpha:g}"
        needed, last = self.n_needed, len(self.n) - 1
        if needed is None:
            return f"No planned size reaches {wanted}: {self.n[last]:,} {self.units} give {self.power[last]:.2f}."
        most = "at most " if needed == self.n[0] else "about "
        each = f"{self.units} in each sample" if np.array_equal(self.n, self.k) else f"{self.units} of the first sample"
        return f"For {wanted} plan {most}{needed:,} {each}."

    def table(self) -> dict[str, Any]:
        """Return one row per planned size."""
        return {"n": self.n, "k": self.k, "power": self.power, "standard_error": self.standard_errors}

    def __repr__(self) -> str:
        lines = [
            f"  {n:,} and {k:,} {self.units}: power {power:.2f}"
            for n, k, power in zip(self.n.tolist(), self.k.tolist(), self.power.tolist(), strict=True)
        ]
        return "\n".join([f"Plan: {self.sentence}", *lines])


def plan(pilot_X: Any, pilot_Y: Any, n: Any = _SIZES, k: Any = None, *, target: float = 0.9, **options: Any) -> Plan:
    """Return how many rows a phase test needs, from pilot data, as a table that a notebook shows as a card.

    Parameters
    ----------
    pilot_X, pilot_Y : array, frame, RowSource, or Sketch
        Two samples that differ as those to come will, as for :func:`phase_test_power`.
    n, k : int or sequence of int
        The numbers of rows to plan for, in ascending order; by default `k` is `n`.
    target : float
        The power that is wanted.
    **options
        As for :func:`phase_test_power`: `noise`, `alpha`, `positivity`, `clusters`, `cluster_size`, `n_draws` and
        `random_state`.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.datasets import make_chi2_samples
    >>> X, Y = make_chi2_samples(2_000, 1, freedoms=(4, 8), random_state=0)
    >>> answer = un.plan(X, Y, [50, 100, 200, 400], n_draws=100)
    >>> print(answer.sentence)
    For power 0.9 at the significance level 0.05 plan about ... rows in each sample.
    """
    checked_number(target, "target", above=True, most=1.0)
    unknown = [name for name in options if name not in signature(phase_test_power).parameters]
    if unknown:
        raise TypeError(f"plan() got an unexpected keyword argument {unknown[0]!r}")
    sizes_X, sizes_Y = map(np.atleast_1d, planned_sizes(n, n if k is None else k))
    if (np.diff(sizes_X) < 0).any():
        raise ValueError(f"n must be in ascending order; got {n!r}")
    power = phase_test_power(pilot_X, pilot_Y, sizes_X, sizes_Y, **options)
    clustered = options.get("clusters") is not None or getattr(pilot_X, "is_clustered", False)
    return Plan(
        n=sizes_X,
        k=sizes_Y,
        power=power,
        target=float(target),
        alpha=float(options.get("alpha", 0.05)),
        n_draws=int(options.get("n_draws", 400)),
        units="clusters" if clustered else "rows",
    )
