"""Speed of the phase test and of all pairs of many sketches, as ratios in one run.

    python benchmarks/up_to_noise.py

``phase_test`` against the two ``ecf`` passes that it cannot do without, at the same frequencies; and
``pairwise_phase_test`` against as many single tests.
"""

from __future__ import annotations

import numpy as np
from _measure import best_time, interleaved, row

import uptonoise as un
from uptonoise._util.threads import n_threads

SEED = 0


def main() -> None:
    rng = np.random.default_rng(SEED)
    print(f"numpy {np.__version__}, {n_threads()} threads, seed {SEED}")
    row("", "measured", "bar")
    X, Y = rng.exponential(size=(2, 1_000_000, 5))
    W = un.Sketch.for_samples(X, Y).frequencies
    passes, test = interleaved(lambda: (un.ecf(X, W), un.ecf(Y, W)), lambda: un.phase_test(X, Y), 3)
    row("phase_test, two samples of 1,000,000 x 5 rows: time over two ecf passes", f"{test / passes:.2f}", "<= 5")
    row(f"  seconds, at {len(W)} frequencies", f"{passes:.2f} {test:.2f}")
    shift = best_time(lambda: un.phase_test(X, Y, invariant_to="noise+shift"), 1)
    row("  the same up to a shift", f"{shift / passes:.2f}")

    W = un.sample_frequencies(50, 3, random_state=SEED)
    sketches = [un.Sketch(W).update(rng.exponential(size=(int(size), 3))) for size in rng.integers(400, 600, 1_000)]
    pairs = best_time(lambda: un.pairwise_phase_test(sketches, positivity=False), 1)
    row("pairwise_phase_test, 1,000 sketches at 50 frequencies, 499,500 pairs: seconds", f"{pairs:.0f}", "< 120")
    single = best_time(lambda: [un.phase_test(sketches[0], other, positivity=False) for other in sketches[1:]], 1)
    row("  times faster than single tests", f"{single / 999 * 499_500 / pairs:.0f}")


if __name__ == "__main__":
    main()
