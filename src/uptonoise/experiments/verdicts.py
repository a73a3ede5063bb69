"""How often each verdict of a comparison is given, where the truth is known (beyond the paper).

The truth is one of: the same distribution; the same with noise of any kind; with an offset too; another distribution.
Where the samples differ at most by noise, the rate of the verdicts beyond noise should be at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from uptonoise.comparison import Verdict, compare
from uptonoise.experiments._alternatives import chi2
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._noisy_distributions import NoisyPair
from uptonoise.experiments._rejections import Draw

_NOISE, _OFFSET, _OTHER, _NONE = "noise", "noise and an offset", "another law", "none"


def cells() -> Sequence[Measured]:
    """Return seven cells in which at most noise differs, two with an offset, and three with another distribution."""
    pairs = (
        (_NONE, NoisyPair("chi-squared", (500, 500), 2, (0.0, 0.0), "gaussian")),
        (_NONE, NoisyPair("lognormal", (30, 30), 1, (0.0, 0.0), "gaussian")),
        (_NONE, NoisyPair("counts", (2_000, 2_000), 5, (0.5, 0.5), "laplace")),
        (_NOISE, NoisyPair("chi-squared", (500, 500), 2, (1.0, 0.0), "gaussian")),
        (_NOISE, NoisyPair("lognormal", (2_000, 2_000), 5, (0.5, 0.0), "t")),
        (_NOISE, NoisyPair("mixture", (100, 100), 1, (2.0, 0.5), "cauchy")),
        (_NOISE, NoisyPair("gamma(0.5)", (200, 200), 2, (200.0, 0.0), "gaussian")),
        (_OFFSET, NoisyPair("chi-squared", (500, 500), 2, (1.0, 0.0), "gaussian", 1.0)),
        (_OFFSET, NoisyPair("lognormal", (2_000, 2_000), 5, (0.5, 0.0), "t", 1.0)),
    )
    others = ((500, 5, (0.0, 0.0)), (500, 5, (0.5, 0.5)), (2_000, 5, (2.0, 0.0)))
    return [
        *(
            Measured({"truth": truth} | pair.settings_of_one_size, partial(_verdict, pair.draw))
            for truth, pair in pairs
        ),
        *(_other(n, d, noise) for n, d, noise in others),
    ]


def _other(n: int, d: int, noise: tuple[float, float]) -> Measured:
    settings = {"truth": _OTHER, "law": "chi2(4)/4, chi2(8)/8", "N": n, "d": d, "noise": "gaussian"}
    sampler = partial(chi2(d, noise).draw, sizes=(n, n))
    return Measured(settings | {"n1": noise[0], "n2": noise[1]}, partial(_verdict, sampler))


def _verdict(sampler: Draw, generator: np.random.Generator) -> dict[str, float]:
    comparison = compare(*sampler(generator), random_state=generator)
    rates = {verdict: float(comparison.verdict == verdict) for verdict in Verdict}
    return {"beyond noise": float(comparison.differs_beyond_noise)} | rates


EXPERIMENT = MeasuredExperiment(
    "verdicts",
    __doc__.splitlines()[0],
    cells,
    repetitions=1_000,
    draw=dots(("truth", "law", "N", "d", "noise", "n1", "n2"), ["beyond noise", *Verdict], "share"),
)
