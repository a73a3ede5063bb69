"""How often a planted cluster is named as the place where two samples differ (beyond the paper).

A tenth of the rows of one sample are moved to a cluster at (2, 2) in two columns; all others are standard normal. `hit`
is the share of runs in which the first place lies in these two columns, within one width of the cluster. `named` is the
share in which any place is named: 0.05 at most where nothing is planted.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from uptonoise.comparison import differing_places
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment

_CENTRE = 2.0


def _named(generator: np.random.Generator, n: int, d: int, width: float) -> dict[str, float]:
    X, Y = generator.normal(size=(2, n, d))
    if width:
        X[: n // 10, :2] = _CENTRE + width * generator.normal(size=(n // 10, 2))
    places = differing_places(generator.permutation(X), Y, [f"x{column}" for column in range(d)], 0.05, generator)
    hit = False
    if places and places[0].columns == ("x0", "x1"):
        hit = float(np.linalg.norm(np.subtract(places[0].values, _CENTRE))) < width
    return {"named": float(bool(places)), "hit": float(hit), "places": float(len(places))}


CELLS = [
    Measured({"width": width or "none", "N": n, "d": d}, partial(_named, n=n, d=d, width=width))
    for d in (2, 10)
    for n, width in ((1_000, 0.0), (1_000, 0.2), (1_000, 0.5), (2_000, 1.0))
]
"""Clusters of three widths among 2 and 10 columns, and nothing planted."""
EXPERIMENT = MeasuredExperiment(
    "places",
    __doc__.splitlines()[0],
    CELLS,
    repetitions=100,
    draw=dots(("width", "N", "d"), ["named", "hit"], "share", counts="repetitions"),
)
