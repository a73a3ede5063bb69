from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261115)


def plain_ecf(X, W, weights=None):
    """The definition, in float64 and at once: what everything is checked against."""
    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    waves = np.exp(1j * (X @ np.asarray(W, dtype=float).T))
    return np.average(waves, axis=0, weights=weights)


@pytest.fixture(name="plain_ecf")
def plain_ecf_fixture():
    return plain_ecf
