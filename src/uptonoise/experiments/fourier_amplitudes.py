"""Amplitudes at random and at learnt frequencies on aerosol bags: the paper's Figure F.8.

The paper shows histograms of the amplitude abs(phi) over test bags and frequencies, on the test bags as they are and
with noise of level 3: at the random frequencies of tuned GLRR amplitudes are spread, at those that the Fourier network
has learnt they are near 1, so that its Fourier features are nearly phase features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise.experiments._bag_fits import Fit, aerosol, network
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import binned, histograms
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.fourier import ecf
from uptonoise.learning import glrr


def amplitudes(kind: str, split: int, values: Values, seed: int) -> dict[str, Any]:
    """Return the name of the data, and the amplitudes on clean and on noisy test bags."""
    data, level = aerosol(values["quick"]), values["level"]
    make = glrr if kind == "random" else network("fourier", quick=values["quick"])
    model, part = Fit(data, kind, make).on_split(seed, split, random_state=split)
    noisy = part.noisy(level, np.random.default_rng([seed, split, 1]))
    found = {}
    for name, bags in {"original": part.test, f"with noise of level {level:g}": noisy}.items():
        of_bags = np.abs(ecf(bags, model.first_.frequencies_)) if kind == "random" else model.amplitudes(bags)
        found[name] = of_bags.ravel().round(6).tolist()
    return {"data": data.name, "kind": kind, "amplitudes": found}


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return the bins of a histogram for each kind of frequencies and of bags, over all splits."""
    pooled: dict[tuple[str, str, str], list[list[float]]] = {}
    for result in results:
        for bags, amplitudes in result["amplitudes"].items():
            pooled.setdefault((result["data"], result["kind"], bags), []).append(amplitudes)
    rows = []
    for (data, kind, bags), by_split in pooled.items():
        means = [np.mean(amplitudes) for amplitudes in by_split]
        together = np.concatenate(by_split)
        shown = {
            "bags": data,
            "frequencies": kind,
            "test bags": bags,
            "mean amplitude": f"{np.mean(means):.4f}",
            "lowest of splits": f"{min(means):.4f}",
            "highest of splits": f"{max(means):.4f}",
            "median amplitude": f"{np.median(together):.4f}",
            "splits": len(means),
        }
        rows += [shown | counts for counts in binned(together, values["bins"], (0.0, 1.0))]
    return rows


EXPERIMENT = TaskExperiment(
    "fourier-amplitudes",
    __doc__.splitlines()[0],
    {"quick": False, "level": 3.0, "bins": 40},
    tasks_of(amplitudes, lambda values: [("random",), ("learnt",)]),
    table,
    quick_values={"quick": True, "bins": 20},
    repetitions=10,
    draw=histograms("frequencies", ("test bags",), "amplitude", lambda rows: 1.0, "that of phase features"),
    uses_gpu=True,
)
