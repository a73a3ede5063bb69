import numpy as np
import pytest


@pytest.fixture
def samples(rng):
    return rng.normal(size=(120, 2)), rng.normal(size=(90, 2)) + np.array([0.3, 0])
