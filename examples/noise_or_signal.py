"""Tell a sample that differs by its signal from one that differs only by the noise of the instrument.

Two detectors measure the same chi-squared signal, one of them with twice as much noise variance as signal variance.
MMD, like every ordinary distance, sees two different samples. The phase discrepancy does not see the noise, and still
sees a signal that really differs.
"""

from __future__ import annotations

import numpy as np

import uptonoise as un

N_ROWS, N_COLUMNS, SEED = 20_000, 3, 0


def measured(rng: np.random.Generator, freedom: int, noise_to_signal: float) -> np.ndarray:
    """Return a chi-squared signal of mean 1 plus Gaussian noise of a given share of its variance."""
    signal = rng.chisquare(freedom, size=(N_ROWS, N_COLUMNS)) / freedom
    noise = rng.normal(scale=np.sqrt(noise_to_signal * 2 / freedom), size=signal.shape)
    return signal + noise


def main() -> None:
    rng = np.random.default_rng(SEED)
    clean = measured(rng, freedom=4, noise_to_signal=0)
    others = {
        "the same signal, no noise": measured(rng, freedom=4, noise_to_signal=0),
        "the same signal, little noise": measured(rng, freedom=4, noise_to_signal=0.5),
        "the same signal, much noise": measured(rng, freedom=4, noise_to_signal=2),
        "another signal, no noise": measured(rng, freedom=8, noise_to_signal=0),
        "another signal, much noise": measured(rng, freedom=8, noise_to_signal=2),
    }
    # Low enough that the characteristic function of the noisiest sample is still above its sampling error.
    frequencies = un.sample_frequencies(
        100, N_COLUMNS, scale=1.5 * un.median_scale(clean, *others.values()), random_state=SEED
    )
    print(f"A clean chi-squared signal ({N_ROWS:,} rows, {N_COLUMNS} columns) against")
    print(f"{'':32}{'MMD':>10}{'PhD':>10}   in units of chance{'MMD':>8}{'PhD':>8}")
    chance: tuple[float, float] | None = None
    for name, other in others.items():
        found = un.mmd(clean, other, frequencies), un.phd(clean, other, frequencies)
        chance = chance or found
        ratios = "".join(f"{one / by_chance:8.0f}" for one, by_chance in zip(found, chance, strict=True))
        print(f"{name:32}{found[0]:10.5f}{found[1]:10.5f}{'':21}{ratios}")
    print("Noise alone moves MMD as much as another signal does. The phase discrepancy stays near chance under noise")
    print("and sees the other signal, noisy or not.")


if __name__ == "__main__":
    main()
