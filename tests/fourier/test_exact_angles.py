from decimal import Decimal, localcontext

import numpy as np
import pytest

import uptonoise as un
from uptonoise.fourier.cosine_sine import angles_between


@pytest.fixture
def W():
    return un.sample_frequencies(9, 3, random_state=0)


def test_angles_of_centres_are_exact(rng):
    W, one, two = rng.normal(size=(50, 3)), 1e9 * rng.normal(size=3), 1e9 * rng.normal(size=3)
    with localcontext() as context:
        context.prec = 60
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        exact = [
            sum(Decimal(w) * (Decimal(a) - Decimal(b)) for w, a, b in zip(row, one, two, strict=True)) for row in W
        ]
        within = [float(angle - 2 * pi * (angle / (2 * pi)).to_integral_value()) for angle in exact]
    found = angles_between(W, one, two)
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * np.array(within)), atol=1e-14)
