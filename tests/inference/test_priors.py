import numpy as np
import pytest
from scipy import stats

from uptonoise.inference import (
    PhaseABC,
    simulate,
)
from uptonoise.inference.priors import Prior

from .helpers import gamma


def test_priors_of_all_kinds_draw_alike():
    rng = np.random.default_rng
    one = Prior.of(stats.norm(2, 3))
    assert one.names == ("theta",)
    assert np.array_equal(one.draw(4, rng(0))[:, 0], stats.norm(2, 3).rvs(4, random_state=rng(0)))
    several = Prior.of(stats.multivariate_normal([0, 1, 2]))
    assert several.names == ("theta0", "theta1", "theta2")
    assert several.draw(1, rng(0)).shape == (1, 3)
    function = Prior.of(lambda n, generator: {"a": generator.random(n), "b": np.ones(n)})
    assert function.names == ("a", "b")
    assert Prior.of(lambda n, generator: generator.normal(size=(n, 2))).names == ("theta0", "theta1")
    assert np.array_equal(Prior.of({"a": stats.gamma(2), "b": stats.uniform(-1, 3)}).high, [np.inf, 2])


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (stats.norm, "prior must be a frozen distribution"),
        (3.0, "prior must be a frozen distribution .* got a float"),
        ({}, "at least one named distribution"),
        ({"a": 3.0}, "'a': a float"),
        ({"a": stats.multivariate_normal([0, 0])}, "must be of one number"),
        (stats.gamma(-1), "prior cannot be sampled"),
        ({"a": stats.gamma(-1)}, r"prior\['a'\] cannot be sampled"),
        (lambda n, rng: np.full(n, np.nan), "finite numbers within its support.*nan"),
        (lambda n, rng: rng.random(n + 1), "must return 2 draws of 1 parameter"),
    ],
)
def test_bad_priors_are_refused(prior, match):
    with pytest.raises(ValueError, match=match):
        PhaseABC(prior, gamma).fit()


def test_a_draw_outside_the_support_is_named():
    class Wrong:
        def rvs(self, size, random_state):
            return -np.ones(size)

        def support(self):
            return 0.0, np.inf

    with pytest.raises(ValueError, match="support, 0 to inf for theta; got -1"):
        simulate(Wrong(), gamma, 10)
