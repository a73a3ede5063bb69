"""Why noise that was not seen in training hurts: errors with larger observed bags, of 200 to 5,000 rows (E).

What is learnt is learnt from bags of 200 rows with noise variances up to 0.05. Noise makes phases less reliable, which
more rows repair; whatever sees noise is moved by it, which no number of rows repairs.
"""

from __future__ import annotations

from uptonoise.experiments.abc import METHODS, HierarchicalGamma, InferenceExperiment

SIZES = (200, 1_000, 5_000)


def larger_bags(sigma: float, n_rows: int) -> dict[str, HierarchicalGamma]:
    """Return data sets with stronger noise than in training, and more rows."""
    return {f"stronger, {size:,} rows": HierarchicalGamma(sigma, 2 * sigma + 0.05, n_rows=size) for size in SIZES}


EXPERIMENT = InferenceExperiment(
    "abc-rows",
    __doc__.splitlines()[0],
    sigmas=(0.05,),
    methods=tuple(name for name in METHODS if name != "DR"),
    observed=larger_bags,
    repetitions=100,
)
