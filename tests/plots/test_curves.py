from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import uptonoise as un
from uptonoise import plots
from uptonoise.plots.characteristic import curves

from .helpers import legend_texts, rendered


def test_characteristic_function_has_its_values_and_bands(rng, plain_ecf):
    X = rng.normal(1, size=(400, 2))
    t = np.linspace(0, 3, 7)
    ax = plots.plot_characteristic(X, frequencies=t, column="x1", law=lambda t: np.exp(1j * t - t**2 / 2))
    phi = plain_ecf(X[:, 1], t[:, None])
    real, imaginary = (line for line in ax.get_lines() if len(line.get_xdata()) == 7)
    np.testing.assert_allclose(real.get_ydata(), phi.real, atol=1e-6)
    np.testing.assert_allclose(imaginary.get_ydata(), phi.imag, atol=1e-6)
    errors = np.cos(np.outer(X[:, 1], t)).std(axis=0, ddof=1) / 20
    band = ax.collections[0].get_paths()[0].get_extents()
    assert band.y0 == pytest.approx((phi.real - 1.96 * errors).min(), abs=1e-3)
    assert legend_texts(ax) == ["X", "exact", "real part", "imaginary part", "95% band"]
    law = [line for line in ax.get_lines() if len(line.get_xdata()) == 500]
    assert law[0].get_ydata()[-1] == pytest.approx((np.exp(3j - 4.5)).real)


@pytest.mark.parametrize(("n_runs", "rtol"), [(300, 0.15), pytest.param(600, 0.12, marks=pytest.mark.slow)])
def test_errors_of_amplitude_and_angle_are_those_of_repeated_samples(n_runs, rtol):
    rng = np.random.default_rng(5)
    t = np.array([0.0, 0.5, 1.0, 1.5])
    found = [curves([rng.exponential(size=400)], t, 0, None, 0.0)[0] for _ in range(n_runs)]
    for value, error in (("amplitude", "amplitude_error"), ("angle", "angle_error")):
        spread = np.std([getattr(one, value) for one in found], axis=0)
        told = np.mean([getattr(one, error) for one in found], axis=0)
        np.testing.assert_allclose(told[1:], spread[1:], rtol=rtol)
        assert told[0] == pytest.approx(0, abs=1e-6)
    assert found[0].is_reliable.all()


def test_phase_does_not_see_noise_and_fades_where_it_is_noise():
    rng = np.random.default_rng(4)
    X = rng.exponential(size=4_000)
    noisy = rng.exponential(size=4_000) + rng.normal(scale=0.7, size=4_000)
    ax = plots.plot_phase(X, noisy, names=["X", "noisy"], centre=0, law=lambda t: 1 / (1 - 1j * t))
    of_X, of_noisy, faint = (line for line in ax.get_lines() if len(line.get_xdata()) == 200)
    low = of_X.get_xdata() < 2
    np.testing.assert_allclose(of_X.get_ydata()[low], np.arctan(of_X.get_xdata()[low]), atol=0.1)
    np.testing.assert_allclose(of_noisy.get_ydata()[low], np.arctan(of_X.get_xdata()[low]), atol=0.3)
    assert np.isnan(of_noisy.get_ydata()[-1])
    assert not np.isnan(faint.get_ydata()[-1])
    assert faint.get_alpha() < 0.5


def test_phase_of_columns_far_from_zero(rng):
    X = rng.exponential(size=500)
    far, near = (plots.plot_phase(one, part="angle", centre=c) for one, c in ((X + 1e6, 1e6), (X, 0)))
    np.testing.assert_allclose(far.get_lines()[0].get_ydata(), near.get_lines()[0].get_ydata(), atol=1e-4)
    assert far.get_title(loc="left") == "Phase of x0 − 1e+06"  # noqa: RUF001
    assert "−" in plots.plot_phase(X + 50).get_title(loc="left")  # noqa: RUF001


def test_phase_gap_is_that_of_the_phase_test(rng):
    X, Y = rng.exponential(size=500), rng.normal(1, size=400)
    result = un.phase_test(X, Y)
    order = np.argsort(np.abs(result.frequencies[:, 0]))
    known = order[result.standard_errors[order] < 0.1]
    t = np.abs(result.frequencies[known, 0])
    ax = plots.plot_phase_gap(X, Y, frequencies=t)
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), result.phase_differences[known], atol=1e-5)


def test_curves_of_sketches(sketches, samples):
    ax = rendered(plots.plot_characteristic(*sketches, column="energy", part="amplitude"))
    line = ax.get_lines()[0]
    W = np.stack([line.get_xdata(), *np.zeros((2, len(line.get_xdata())))], axis=1)
    np.testing.assert_allclose(line.get_ydata(), np.abs(un.ecf(samples[0], W)), atol=1e-5)
    rendered(plots.plot_phase(*sketches, column=1, part="both"))
    rendered(plots.plot_phase_gap(*sketches, column=1, band=None))
    with pytest.raises(ValueError, match="frequencies must be left out for sketches"):
        plots.plot_phase(*sketches, frequencies=[1.0])
    with pytest.raises(ValueError, match="all be rows or all be sketches"):
        plots.plot_phase(sketches[0], samples[1])
    other = un.Sketch([[0.1, 0, 0], [0.2, 0, 0]]).update(samples[1])
    with pytest.raises(ValueError, match="must have the same frequencies"):
        plots.plot_phase_gap(sketches[0], other)


def test_curves_refuse_bad_arguments(rng):
    X = rng.normal(size=50)
    cases = [
        ({"part": "phase"}, "part must be one of"),
        ({"band": 95}, "band must lie between 0 and 1"),
        ({"names": ["a", "b"]}, "names must have one name per sample, 1 in all"),
        ({"law": lambda t: 1.0}, "law must return one number for each frequency"),
        ({"column": "y"}, "column must be one of"),
        ({"frequencies": [np.nan]}, "frequencies must be finite"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            plots.plot_characteristic(X, **options)
        with pytest.raises(ValueError, match=message):
            plots.plot_phase(X, **options)
    with pytest.raises(ValueError, match="samples must be at least one"):
        plots.plot_phase()
    assert plt.get_fignums() == []


def test_rows_that_can_be_read_once(rng):
    X = rng.normal(size=(300, 2))
    once = plots.plot_characteristic(iter([X[:100], X[100:]]), part="real", frequencies=[0.5, 1.0])
    again = plots.plot_characteristic(X, part="real", frequencies=[0.5, 1.0])
    np.testing.assert_allclose(once.get_lines()[0].get_ydata(), again.get_lines()[0].get_ydata(), atol=1e-6)
