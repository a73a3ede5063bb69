import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

import uptonoise as un
from uptonoise import nets
from uptonoise.nets.losses import CrossEntropy
from uptonoise.nets.training import logistic

from .helpers import REGRESSORS, gamma_bags, small


@pytest.mark.parametrize("kind", [nets.FourierNetRegressor, nets.PhaseNetClassifier])
def test_the_output_is_solved_at_the_frequencies_that_were_learnt(kind):
    bags, y = gamma_bags(150)
    y = y if kind in REGRESSORS else np.digitize(y, [2.5, 4.5])
    options = {"n_epochs": 2, "learning_rate": 0.001, "validation_fraction": 0.2}
    solved = small(kind, **options).fit(bags[:100], y[:100])
    plain = small(kind, solve_output=False, **options).fit(bags[:100], y[:100])
    np.testing.assert_array_equal(solved.frequencies_, plain.frequencies_)
    assert solved.score(bags[100:], y[100:]) > plain.score(bags[100:], y[100:]) + 0.1
    noisy = small(kind, noise_augmentation=0.5, **options).fit(bags[:100], y[:100])
    assert noisy.score(bags[100:], y[100:]) > plain.score(bags[100:], y[100:])


@pytest.mark.parametrize("n_bags", [60, 30])  # more and fewer than there are features
def test_a_solved_output_is_ridge_regression_on_the_features(n_bags):
    bags, y = gamma_bags(n_bags)
    weights = np.linspace(0, 2, n_bags)
    m = 10 if n_bags == 60 else 40
    model = small(nets.FourierNetRegressor, n_frequencies=m, validation_fraction=0, normalisation=None)
    model.set_params(output_penalty=2e-3).fit(bags, y, weights)
    phi = un.ecf(bags, model.frequencies_) * np.exp(-1j * model.frequencies_ @ model.centre_)
    F = np.stack([phi.real, phi.imag], axis=-1).reshape(n_bags, -1)
    ridge = Ridge(alpha=1e-3 * weights.sum()).fit(F, y, weights)
    np.testing.assert_allclose(model.predict(bags), ridge.predict(F), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_solved_output_makes_the_loss_of_training_smallest(n_classes, rng):
    F, labels = rng.normal(size=(80, 3)), np.arange(80) % n_classes
    weights = rng.uniform(0.5, 1.5, 80)
    found = logistic(F, labels, weights, 0.1)
    tensors = [torch.tensor(part, requires_grad=True) for part in found]
    losses = CrossEntropy(n_classes)(torch.tensor(F) @ tensors[0].T + tensors[1], torch.tensor(labels))
    whole = (torch.tensor(weights) * losses).sum() / weights.sum() + 0.05 * tensors[0].square().sum()
    whole.backward()
    assert max(float(tensor.grad.abs().max()) for tensor in tensors) < 1e-3
