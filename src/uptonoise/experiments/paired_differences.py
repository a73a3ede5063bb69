"""Distances between bags under noise that varies from bag to bag: the histograms of the paper's Figure F.1.

The paper draws 100 bags of 1,000 rows from each of chi2(4)/4 and chi2(8)/8 in 5 columns, gives each bag Gaussian noise
of a variance that is uniform between 0 and 0.1, and shows over all pairs that the MMD of paired differences and the MMD
move away from their noiseless values (the red lines), while the phase distance stays near its own. 100 Gaussian
frequencies at the median heuristic; the noiseless values are means over the bags before noise is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import binned, histograms
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.fourier import ecf, median_scale, sample_frequencies, squared_mmd, squared_paired_mmd, squared_phd

FREEDOMS = (4, 8)
DISTANCES = {"MMD of paired differences": squared_paired_mmd, "MMD": squared_mmd, "phase distance": squared_phd}


def distances(number: int, values: Values, seed: int) -> dict[str, Any]:
    """Return the distances of all pairs with noise, and the mean of those without."""
    generator = np.random.default_rng([seed, number])
    shape = (values["n_bags"], values["n_rows"], values["d"])
    clean = [generator.chisquare(freedom, shape) / freedom for freedom in FREEDOMS]
    sds = [np.sqrt(generator.uniform(0, values["noise"], (values["n_bags"], 1, 1))) for _ in FREEDOMS]
    noisy = [bags + sd * generator.standard_normal(shape) for bags, sd in zip(clean, sds, strict=True)]
    scale = median_scale(np.concatenate([bags.reshape(-1, values["d"]) for bags in clean]), random_state=generator)
    W = sample_frequencies(values["n_frequencies"], values["d"], scale=scale, random_state=generator)
    before, after = ([ecf(Bags(bags), W) for bags in both] for both in (clean, noisy))
    return {
        name: {"noisy": _pairs(function, after).round(8).tolist(), "noiseless": float(_pairs(function, before).mean())}
        for name, function in DISTANCES.items()
    }


def _pairs(function: Any, phis: Sequence[Any]) -> Floats:
    """Return the distances of all pairs of a bag of the first distribution and one of the second."""
    return np.array([function(phi[None, :], phis[1]) for phi in phis[0]]).ravel()


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return the bins of the three histograms, from 0 to beyond the noiseless value."""
    rows = []
    for name in DISTANCES:
        noisy = np.concatenate([result[name]["noisy"] for result in results])
        noiseless = float(np.mean([result[name]["noiseless"] for result in results]))
        top = 1.1 * max(noiseless, float(np.quantile(noisy, 0.995)))
        summary = {"distance": name, "noiseless": f"{noiseless:.6g}", "median": f"{np.median(noisy):.6g}"}
        rows += [summary | counts for counts in binned(np.minimum(noisy, top), values["bins"], (0.0, top))]
    return rows


EXPERIMENT = TaskExperiment(
    "paired-differences",
    __doc__.splitlines()[0],
    {"n_bags": 100, "n_rows": 1_000, "d": 5, "noise": 0.1, "n_frequencies": 100, "bins": 40},
    tasks_of(distances, lambda values: [()]),
    table,
    quick_values={"n_bags": 30},
    draw=histograms("distance", (), "squared distance", lambda rows: float(rows[0]["noiseless"]), "without noise"),
)
