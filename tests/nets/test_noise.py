import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone

import uptonoise as un
from uptonoise import nets
from uptonoise.datasets import make_gamma_bags
from uptonoise.fourier.characteristic import Characteristic
from uptonoise.learning.augmentation import with_noise
from uptonoise.nets.noise import Noise

from .helpers import gamma_bags, small


def test_noise_on_phi_has_the_mean_and_the_error_of_noise_on_rows(rng):
    n_bags, size, d = 4_000, 30, 2
    rows = torch.tensor(rng.gamma(2, size=(size, d)), dtype=torch.float32).repeat(n_bags, 1)
    sizes, variances = torch.full((n_bags,), size), np.array([0.5, 2.0])
    layer = nets.FourierLayer(d, 4, random_state=0)
    clean = layer.characteristic(rows, sizes).detach()
    levels = np.ones(n_bags)
    each = np.full(n_bags, float(size))
    whole = Characteristic(clean.double().numpy() @ [1, 1j], each, each)
    W = layer.frequencies.detach().double().numpy()
    reference = with_noise(whole, W, rows[:size].double().numpy(), variances, levels, rng).phi
    noise = Noise(rows[:size], variances, 0, (1.0, 1.0), clean=0.0)
    on_phi = noise.on_phi(clean, sizes, layer.frequencies).detach().double().numpy() @ [1, 1j]
    on_rows = layer.characteristic(noise.on_rows(rows, sizes), sizes).detach().double().numpy() @ [1, 1j]
    for found in (on_phi, on_rows):
        np.testing.assert_allclose(found.mean(axis=0), reference.mean(axis=0), atol=0.02)
        np.testing.assert_allclose(found.var(axis=0), reference.var(axis=0), rtol=0.15, atol=2e-3)
        np.testing.assert_allclose(np.cov(found.T), np.cov(reference.T), atol=5e-3)


def test_noise_has_its_levels_and_its_share_of_clean_bags():
    noise = Noise(torch.zeros(1, 2), np.array([1.0, 0.0]), 0, (2.0, 2.0), clean=0.2)
    sizes = torch.full((20_000,), 2)
    added = noise.on_rows(torch.zeros(40_000, 2), sizes).reshape(20_000, 2, 2)
    assert not added[..., 1].any()
    assert float((added[..., 0] == 0).all(dim=1).float().mean()) == pytest.approx(0.2, abs=0.01)
    assert float(added[..., 0].var()) == pytest.approx(0.8, abs=0.05)
    assert not torch.equal(noise.on_rows(torch.zeros(40_000, 2), sizes), added.reshape(-1, 2))
    again = Noise(torch.zeros(1, 1), np.ones(1), 0, (0.0, 1.0), clean=0.0, repeats=True)
    one, two = (again.on_phi(torch.ones(5, 3, 2), torch.ones(5), torch.ones(3, 1)) for _ in range(2))
    assert torch.equal(one, two)


def test_noise_has_gradients_also_where_there_is_none():
    frequencies = torch.tensor([[0.0], [1.0], [30.0]], requires_grad=True)
    noise = Noise(torch.zeros(1, 1), np.ones(1), 0, (0.0, 1.0), clean=0.5)
    noise.on_phi(torch.ones(20, 3, 2), torch.full((20,), 4), frequencies).sum().backward()
    assert torch.isfinite(frequencies.grad).all()
    assert float(frequencies.grad[1]) != 0


@pytest.mark.parametrize("domain", ["fourier", "rows"])
def test_training_against_noise_pays_where_there_is_noise(domain):
    bags, y = make_gamma_bags(500, 60, noise=0.0, random_state=0)  # whose label shows in the amplitude, too
    options = {"n_frequencies": 20, "n_epochs": 10}
    plain = small(nets.FourierNetRegressor, **options).fit(bags[:400], y[:400])
    hard = small(nets.FourierNetRegressor, noise_augmentation=1.0, noise_domain=domain, **options)
    hard.fit(bags[:400], y[:400])
    assert plain.noise_range_ is None
    assert hard.noise_range_ == (0.0, 1.0)
    curves = [un.robustness_curve(model, bags[400:], y[400:], [1.0], n_repeats=3) for model in (plain, hard)]
    assert curves[1].mean[0] < 0.9 * curves[0].mean[0]
    assert hard.score(bags[400:], y[400:]) > 0


@pytest.mark.parametrize("domain", ["fourier", "rows"])
def test_noise_is_that_of_the_seed_and_stays_with_the_model(domain, tmp_path):
    bags, y = gamma_bags(50)
    options = {"noise_augmentation": 0.5, "noise_target": (0.1, 0.4), "noise_domain": domain}
    one, two, other = (
        small(nets.PhaseNetRegressor, random_state=seed, quantiles=(0.1, 0.9), **options).fit(bags, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.history_["loss"], two.history_["loss"])
    np.testing.assert_array_equal(one.history_["validation_loss"], two.history_["validation_loss"])
    np.testing.assert_array_equal(one.predict_quantiles(bags), two.predict_quantiles(bags))
    assert not np.array_equal(one.history_["loss"], other.history_["loss"])
    clean = small(nets.PhaseNetRegressor, quantiles=(0.1, 0.9)).fit(bags, y)
    assert not np.array_equal(one.history_["loss"], clean.history_["loss"])
    one.save(tmp_path / "model.npz")
    again = nets.PhaseNetRegressor.load(tmp_path / "model.npz")
    assert again.noise_range_ == (0.1, 0.4)
    assert again.noise_domain == domain
    with pytest.warns(UserWarning, match=r"noise sizes from 0\.1 to 0\.4; got `levels` up to 0\.5"):
        un.robustness_curve(again, bags, y, [0, 0.5], n_repeats=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.robustness_curve(again, bags, y, [0, 0.4], n_repeats=1)


def test_classifiers_take_noise_too():
    bags, y = gamma_bags(60)
    model = small(nets.PhaseNetClassifier, noise_augmentation=1.0).fit(bags, (y > 3).astype(int))
    assert model.noise_range_ == (0.0, 1.0)
    assert clone(model).noise_augmentation == 1.0
