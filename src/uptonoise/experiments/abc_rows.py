"""Why noise that was not seen in training hurts: errors with larger observed bags, of 200 to 5,000 rows (E).

What is learnt is learnt from bags of 200 rows with noise variances up to 0.05. Noise makes phases less reliable, which
more rows repair; whatever sees noise is moved by it, which no number of rows repairs.
"""

from __future__ import annotations

from uptonoise.experiments._figures import dots
from uptonoise.experiments.abc import METHODS, PRIOR, HierarchicalGamma, inference_experiment

SIZES = (200, 1_000, 5_000)

EXPERIMENT = inference_experiment(
    "abc-rows",
    __doc__.splitlines()[0],
    lambda sigma, n_rows: {
        f"stronger, {size:,} rows": HierarchicalGamma(sigma, 2 * sigma + 0.05, n_rows=size) for size in SIZES
    },
    dots(("observed", "method"), ["RMSE"], "RMSE of posterior mean", float(PRIOR.std())),
    repetitions=100,
    sigmas=(0.05,),
    methods=tuple(name for name in METHODS if name != "DR"),
)
