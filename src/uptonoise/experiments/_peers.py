"""Tests of other libraries as outside yardsticks, with the arguments and results of ours; and ours in another use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest, epps_singleton_2samp, ks_2samp

from uptonoise._util.typing import Floats
from uptonoise.fourier import Sketch
from uptonoise.twosample import PhaseResult, phase_test


class Outcome(NamedTuple):
    """What an experiment asks of a test's result."""

    pvalue: float


def scaled_on_first(X: Any, Y: Any, random_state: Any, **options: Any) -> PhaseResult:
    """Run the phase test from sketches whose frequencies know only X."""
    left = Sketch.for_samples(X, random_state=random_state).update(X)
    return phase_test(left, Sketch.like(left).update(Y), **options)


def pted_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run pted's permutation test of the energy distance, with 199 permutations."""
    from pted import pted

    return Outcome(float(pted(X, Y, permutations=199, two_tailed=False, rng=random_state)))


def epps_singleton_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run scipy's Epps-Singleton test, for one column; it samples nothing."""
    return Outcome(float(epps_singleton_2samp(X.ravel(), Y.ravel()).pvalue))


def ks_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run scipy's Kolmogorov-Smirnov test, for one column; it samples nothing."""
    return Outcome(float(ks_2samp(X.ravel(), Y.ravel()).pvalue))


def centred_ks_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run the Kolmogorov-Smirnov test on samples less their medians."""
    return ks_test(X - np.median(X), Y - np.median(Y), random_state=random_state)


def classifier_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run a classifier two-sample test: whether nearest neighbours tell the rows of the other half better than chance.

    The number of neighbours is the root of the number of training rows (Lopez-Paz and Oquab 2017).
    """
    from sklearn.neighbors import KNeighborsClassifier

    rows, labels = np.concatenate([X, Y]), np.repeat([0, 1], [len(X), len(Y)])
    order = random_state.permutation(len(rows))
    half = len(rows) // 2
    train, rest = order[:half], order[half:]
    classifier = KNeighborsClassifier(int(np.sqrt(half))).fit(rows[train], labels[train])
    n_right = int(np.count_nonzero(classifier.predict(rows[rest]) == labels[rest]))
    return Outcome(float(binomtest(n_right, len(rest), alternative="greater").pvalue))


def stability_rule(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Apply a rule of monitoring tools: drift is a population stability index of at least 0.1 over ten bins.

    It is no test. The p-value is 0 where the rule calls drift, else 1.
    """
    inner = np.quantile(X.ravel(), np.arange(1, 10) / 10)
    shares = [np.bincount(np.searchsorted(inner, Z.ravel()), minlength=10) / len(Z) for Z in (X, Y)]
    expected, seen = (np.maximum(share, 1e-4) for share in shares)
    index = float(np.sum((seen - expected) * np.log(seen / expected)))
    return Outcome(float(index < 0.1))
