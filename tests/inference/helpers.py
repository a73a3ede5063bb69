"""What the tests of inference share."""

import numpy as np
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise.inference import (
    DRABC,
    FourierABC,
    PhaseABC,
    RejectionABC,
)

PRIOR = stats.uniform(1, 5)


def gamma(theta, rng):
    return rng.gamma(theta, size=(60, 1))


def many_gammas(theta, rng):
    return rng.gamma(theta[:, :, None], size=(len(theta), 60, 1))


def located(theta, rng):
    return rng.normal(theta[0], theta[1], size=(40, 1))


FEATURES = {FourierABC: un.FourierFeatures, PhaseABC: un.PhaseFeatures}


def quick(kind=FourierABC, prior=PRIOR, simulator=many_gammas, **options):
    settings = {"n_particles": 2_000, "ess": 150, "vectorized": True, "random_state": 0} | options
    if kind is not RejectionABC:
        settings.setdefault("n_training", 40 if kind is DRABC else 150)
    if kind in FEATURES:
        settings.setdefault("regressor", make_pipeline(FEATURES[kind](30, random_state=0), Ridge(alpha=1e-3)))
    return kind(prior, simulator, **settings)


class Counted:
    """A simulator that counts its calls, and fails for some parameters while it is broken."""

    def __init__(self, broken=lambda theta: False, what="raise"):
        self.calls, self.broken, self.what = 0, broken, what

    def __call__(self, theta, rng):
        self.calls += 1
        found = gamma(theta, rng)
        if not self.broken(theta):
            return found
        if self.what == "raise":
            raise ArithmeticError("no\nsolution")
        return {
            "NaN": np.where(found > 1, np.nan, found),
            "columns": np.column_stack([found, found]),
            "empty": found[:0],
            "nothing": None,
        }[self.what]


FAILURES = {
    "raise": "ArithmeticError: no solution",
    "NaN": "NaN",
    "columns": "2 columns, and other simulations 1 column",
    "empty": "no rows",
    "nothing": "None",
}


def by_hand(summaries, at, epsilon):
    weights = np.exp(-np.sum((summaries - at) ** 2, axis=1) / epsilon)
    return weights / weights.sum()


def conjugate(n_rows=20):
    """The mean of normal rows with a standard normal prior: the posterior is N(n mean / (n + 1), 1 / (n + 1))."""

    def simulator(theta, rng):
        return rng.normal(theta[:, :, None], size=(len(theta), n_rows, 1))

    def truth(bag):
        n = len(bag)
        return bag.sum() / (n + 1), np.sqrt(1 / (n + 1))

    return simulator, truth
