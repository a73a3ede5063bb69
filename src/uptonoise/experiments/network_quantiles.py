"""Coverage of the networks' 10 % to 90 % intervals on 5,000 held-out bags of the gamma model (beyond the paper).

1,000 bags to fit; `covered` should be 0.8, `below` and `above` 0.1. Without calibration the quantiles are those that
training ended with.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from uptonoise.datasets import make_gamma_bags
from uptonoise.experiments._figures import dots
from uptonoise.experiments._seeded import Problem, SeededExperiment
from uptonoise.experiments.networks import NETWORKS, PLAIN

_NOT_CALIBRATED = ", not calibrated"
MODELS = tuple(name + end for name in NETWORKS for end in ("", _NOT_CALIBRATED))
_OPTIONS: dict[str, Any] = {"n_frequencies": 40, "n_epochs": 15}


def coverage(seed: int, model: str, n_fit: int = 1_000, n_test: int = 5_000) -> dict[str, float]:
    """Return the coverage of a network's interval."""
    bags, y = make_gamma_bags(n_fit + n_test, random_state=seed)
    fit, test = slice(n_fit), slice(n_fit, None)
    network = NETWORKS[model.removesuffix(_NOT_CALIBRATED)](
        quantiles=(0.1, 0.5, 0.9),
        calibration=None if model.endswith(_NOT_CALIBRATED) else "all",
        progress=False,
        random_state=seed,
        **PLAIN | _OPTIONS,
    )
    low, _, high = network.fit(bags[fit], y[fit]).predict_quantiles(bags[test]).T
    below, above = float(np.mean(y[test] < low)), float(np.mean(y[test] > high))
    return {"covered": 1 - below - above, "below": below, "above": above, "width": float(np.mean(high - low))}


EXPERIMENT = SeededExperiment(
    "network-quantiles",
    __doc__.splitlines()[0],
    [Problem("gamma bags", MODELS, coverage, {"networks": _OPTIONS})],
    quick_problems=[Problem("gamma bags", MODELS, partial(coverage, n_fit=60, n_test=60))],
    draw=dots(("problem", "model"), ["covered", "below", "above"], "share of held-out bags", 0.8),
    uses_gpu=True,
)
