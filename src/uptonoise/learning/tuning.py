"""Which setting of a search is taken: of those that predict about as well as the best, the smoothest.

Errors over scales and penalties lie in a flat valley: settings that predict clean bags alike differ a hundredfold under
noise, since small penalties let large coefficients multiply small errors. So of all settings whose error is at most one
standard error above the smallest, that with the largest penalty is taken, and of these that with the largest scale of
the layer that the model is linear in (docs/results/tuning.md shows errors over both). A choice at the edge of what was
tried is told by a warning.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from uptonoise._util.validation import checked_number
from uptonoise._util.warning import warn

Tolerance = float | Literal["standard error"]

_GRIDS = {"alpha": "alphas", "scale_factor": "scale_factors", "second_scale_factor": "second_scale_factors"}
_FEWEST = 3  # values of a grid that has an inside


class GridEdgeWarning(UserWarning):
    """The setting that a search chose lies at the edge of what was tried: a better one may lie beyond."""


def checked_tolerance(tolerance: Any) -> Tolerance:
    """Return how much worse than the best a chosen setting may be: a share of its error, or its standard error."""
    if isinstance(tolerance, str):
        if tolerance != "standard error":
            raise ValueError(f'tolerance must be a number that is not negative, or "standard error"; got {tolerance!r}')
        return "standard error"
    return checked_number(tolerance, "tolerance")


def smoothest_within(results: dict[str, Any], limit: float) -> int:
    """Return the place of the largest penalty, then of the largest last scale, among settings within a limit.

    The noise to fit against comes first: the least that has a setting within the limit. Of equally smooth settings it
    is the best: they differ in the scale of a first layer, which the second layer measures by their own median.
    """
    errors = -results["mean_test_score"]
    sizes = results.get("param_noise_level", np.zeros(len(errors)))
    within = np.flatnonzero((errors <= limit) & (sizes == sizes[errors <= limit].min()))
    scales = [name for name in ("param_second_scale_factor", "param_scale_factor") if name in results][:1]
    keys = [results[name][within] for name in ("param_alpha", *scales)]
    return int(within[np.lexsort([-errors[within], *reversed(keys)])[-1]])


def warn_at_edges(results: dict[str, Any], chosen: int) -> None:
    """Warn where a chosen setting is the first or the last of the values tried."""
    for name, grid in _GRIDS.items():
        values = np.unique(results.get(f"param_{name}", []))
        if len(values) < _FEWEST:
            continue
        value = results[f"param_{name}"][chosen]
        if value in (values[0], values[-1]):
            end, more = ("smallest", "smaller") if value == values[0] else ("largest", "larger")
            warn(
                f"the chosen {name}, {value:.3g}, is the {end} of those tried, and a better one may lie beyond; add "
                f"{more} values to {grid}",
                GridEdgeWarning,
            )
