"""Coverage of the networks' 10 % to 90 % intervals on 5,000 held-out bags of the gamma model (beyond the paper).

1,000 bags to fit; `covered` should be 0.8, `below` and `above` 0.1. Without calibration the quantiles are those that
training ended with.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from uptonoise.datasets import make_gamma_bags
from uptonoise.experiments._figures import dots
from uptonoise.experiments._seeded import Found, Problem, SeededExperiment
from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor

_NETWORKS = {"phase network": PhaseNetRegressor, "Fourier network": FourierNetRegressor}


def coverage(seed: int, n_fit: int = 1_000, n_test: int = 5_000) -> Iterator[Found]:
    """Return the coverage of both networks, with and without calibration."""
    bags, y = make_gamma_bags(n_fit + n_test, random_state=seed)
    fit, test = slice(n_fit), slice(n_fit, None)
    for name, kind in _NETWORKS.items():
        for calibration in ("all", None):
            model = kind(
                40,
                quantiles=(0.1, 0.5, 0.9),
                calibration=calibration,
                n_epochs=15,
                device="cpu",
                progress=False,
                random_state=seed,
            )
            low, _, high = model.fit(bags[fit], y[fit]).predict_quantiles(bags[test]).T
            below, above = np.mean(y[test] < low), np.mean(y[test] > high)
            called = name if calibration is not None else f"{name}, not calibrated"
            yield Found(called, "covered", float(1 - below - above))
            yield Found(called, "below", float(below))
            yield Found(called, "above", float(above))
            yield Found(called, "width", float(np.mean(high - low)))


EXPERIMENT = SeededExperiment(
    "network-quantiles",
    __doc__.splitlines()[0],
    [Problem("gamma bags", coverage)],
    quick_problems=[Problem("gamma bags", partial(coverage, n_fit=60, n_test=60))],
    draw=dots(("problem", "model"), ["covered", "below", "above"], "share of held-out bags", 0.8),
)
