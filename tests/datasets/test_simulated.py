import numpy as np
import pytest
from scipy import stats

from uptonoise.datasets import (
    NOISE_KINDS,
    make_chi2_samples,
    symmetric_noise,
)


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noise_is_symmetric_and_of_the_size_asked_for(kind):
    noise = symmetric_noise(200_000, 2, sd=3.0, kind=kind, random_state=0)
    assert abs(np.median(noise)) < 0.05
    size = np.median(np.abs(noise))
    laws = {
        "gaussian": stats.norm(scale=3),
        "laplace": stats.laplace(scale=3 / np.sqrt(2)),
        "cauchy": stats.cauchy(scale=3 * stats.norm.ppf(0.75)),
        "t": stats.t(3, scale=np.sqrt(3)),
    }
    if kind in laws:
        assert size == pytest.approx(laws[kind].ppf(0.75), rel=0.02)
        assert stats.kstest(noise[:20_000, 0], laws[kind].cdf).pvalue > 1e-3
    if kind in ("gaussian", "laplace", "mixture"):
        assert noise.std() == pytest.approx(3.0, rel=0.02)


def test_chi2_samples_have_the_moments_of_the_paper():
    X, Y = make_chi2_samples((100_000, 50_000), 2, noise=(2.0, 0.0), random_state=0)
    assert X.shape == (100_000, 2)
    assert Y.shape == (50_000, 2)
    np.testing.assert_allclose(X.mean(0), 1, atol=0.03)
    np.testing.assert_allclose(X.var(0), 0.5 * 3, rtol=0.05)
    np.testing.assert_allclose(Y.var(0), 0.25, rtol=0.05)
    same, again = (make_chi2_samples(10, random_state=1)[0] for _ in range(2))
    np.testing.assert_array_equal(same, again)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_rows": 0}, "n_rows"),
        ({"n_rows": (1, 2, 3)}, "n_rows"),
        ({"n_columns": 0}, "n_columns"),
        ({"noise": (-1.0, 0.0)}, "noise"),
        ({"kind": "uniform", "noise": (1.0, 1.0)}, "kind must be one of gaussian"),
        ({"freedoms": (0, 4)}, "freedoms"),
    ],
)
def test_bad_chi2_samples(change, match):
    with pytest.raises(ValueError, match=match):
        make_chi2_samples(**change)


def test_bad_noise():
    with pytest.raises(ValueError, match="sd"):
        symmetric_noise(3, 2, sd=-1)
