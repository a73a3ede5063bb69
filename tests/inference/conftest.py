import numpy as np
import pytest
from scipy import stats

from uptonoise.inference import (
    Posterior,
)

from .helpers import gamma, quick


@pytest.fixture(scope="session")
def fitted():
    return quick().fit()


@pytest.fixture(scope="session")
def observed():
    return gamma(3.0, np.random.default_rng(5))


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(50_000, 1))
    return Posterior.of(theta, stats.norm(1, 0.5).pdf(theta[:, 0]), ["location"])
