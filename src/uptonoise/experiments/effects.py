"""How often the interval of the effect covers the effect of the signals, whatever the noise (beyond the paper).

`covered` and `covered, offset` should be 0.95: up to noise, and up to noise and an offset. The true effect is that of
the signals' phases without noise, in units of the spread that the samples have. `bound missed` should be at most 0.05;
`below 0.2` is the share of runs in which the upper bound is below the default margin. `seen` is the share of runs in
which all phases are seen; in the others, the interval counts the largest possible difference for the rest.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._signal_pairs import PAIRS, signal_pair
from uptonoise.fourier import Sketch, spread_of_amplitudes
from uptonoise.twosample import Pair, Phases

_RATIOS = (0.5, 1.0, 2.0, 4.0)
_N_ROWS = 2_000
_MARGIN = 0.2


def _covered(generator: np.random.Generator, name: str, noise: tuple[float, float]) -> dict[str, float]:
    signals = signal_pair(name)
    X, Y = signals.sample(generator, _N_ROWS, noise)
    left = Sketch.for_samples(X, Y, random_state=generator).update(X)
    pair = Pair.of(left, Sketch.like(left).update(Y))
    spread = _smaller_spread(pair)
    true, beyond = (signals.effect(spread, up_to_offset) for up_to_offset in (False, True))
    effect, offset = (Phases.of(pair).effect(up_to_offset=up_to_offset) for up_to_offset in (False, True))
    bound = effect.upper_bound()
    return {
        "effect": true,
        "estimate": effect.estimate,
        "covered": float(effect.low <= true <= effect.high),
        "effect, offset": beyond,
        "covered, offset": float(offset.low <= beyond <= offset.high),
        "bound missed": float(bound < true),
        f"below {_MARGIN}": float(bound < _MARGIN),
        "seen": float(effect.seen == 1),
    }


def _smaller_spread(pair: Pair) -> float:
    order = np.argsort(pair.X.frequencies[:, 0])
    frequencies = pair.X.frequencies[order, 0]
    return min(
        spread_of_amplitudes(frequencies, np.abs(sketch.ecf[order]) ** 2, sketch.n_rows) for sketch in (pair.X, pair.Y)
    )


_NOISES = [(0.0, 0.0), *((ratio, 0.0) for ratio in _RATIOS), *((0.0, ratio) for ratio in _RATIOS)]
CELLS = [
    Measured({"signals": name, "N": _N_ROWS, "n1": n1, "n2": n2}, partial(_covered, name=name, noise=(n1, n2)))
    for name in (*PAIRS, "HIGGS")
    for n1, n2 in _NOISES
]
"""Four pairs of signals without noise, and with four sizes of it in either sample; and one signal twice."""
EXPERIMENT = MeasuredExperiment(
    "effects",
    __doc__.splitlines()[0],
    CELLS,
    repetitions=500,
    draw=dots(("signals", "n1", "n2"), ["covered", "covered, offset"], "coverage", line=0.95, counts="repetitions"),
)
