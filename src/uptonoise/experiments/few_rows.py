"""What merging many pairings costs the flip test in power, where rows are few (beyond the paper).

A single random pairing depends on the seed; 60 pairings, merged by a rule that is valid for any dependence, hardly
do. Where only noise differs, each share should be at most 0.05.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._signal_pairs import PAIRS
from uptonoise.twosample import flip_test

_SETTINGS = (
    ("noise", "one gamma", (0.0, 1.0), 0.0),
    ("a shift of 1 SD", "one gamma", (0.0, 0.0), 1.0),
    ("the signal", "exponential and mirror image", (0.0, 0.0), 0.0),
)


def _rejected(
    generator: np.random.Generator, signals: str, n: int, noise: tuple[float, float], shift: float
) -> dict[str, float]:
    X, Y = PAIRS[signals].sample(generator, n, noise)
    seeds = generator.integers(2**31, size=2)
    pvalues = {
        k: [flip_test(X + shift, Y, n_pairings=k, random_state=int(seed)).pvalue for seed in seeds] for k in (1, 60)
    }
    shares = {f"{k} pairings": float(values[0] <= 0.05) for k, values in pvalues.items()}
    changed = {f"{k} pairings, other seed": abs(np.log10(values[0] / values[1])) for k, values in pvalues.items()}
    return shares | changed


_SHARE = "share of p-values up to 0.05"
CELLS = [
    Measured(
        {"differs": differs, "signals": signals, "N": n},
        partial(_rejected, signals=signals, n=n, noise=noise, shift=shift * PAIRS[signals].X.sd),
    )
    for n in (20, 40)
    for differs, signals, noise, shift in _SETTINGS
]
"""Three differences at two sizes."""
_FIGURE = dots(("differs", "signals", "N"), ["1 pairings", "60 pairings"], _SHARE, counts="repetitions")
EXPERIMENT = MeasuredExperiment("few-rows", __doc__.splitlines()[0], CELLS, repetitions=500, draw=_FIGURE)
