import numpy as np
import pytest
import torch

from uptonoise import nets
from uptonoise.datasets import make_gamma_bags
from uptonoise.nets.losses import CrossEntropy, PinballLoss, SquaredLoss
from uptonoise.nets.training import validation_split

from .helpers import REGRESSORS, gamma_bags, small


def test_losses_against_their_definitions():
    outputs, targets = torch.tensor([[0.5], [2.0]]), torch.tensor([[1.0], [1.0]])
    assert SquaredLoss(1)(outputs, targets).tolist() == [0.25, 1.0]
    pinball = PinballLoss(np.array([0.9]))
    assert pinball(outputs, targets).tolist() == pytest.approx([0.45, 0.1])
    logits, codes = torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([2])
    probabilities = np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()
    assert float(CrossEntropy(3)(logits, codes)) == pytest.approx(-np.log(probabilities[2]))
    np.testing.assert_allclose(CrossEntropy(3).predicted(logits)[0], probabilities, atol=1e-6)


def test_training_starts_from_the_best_constant(rng):
    targets = torch.tensor(rng.gamma(2, size=(2_000, 1)))
    levels = np.array([0.1, 0.5, 0.9])
    loss = PinballLoss(levels)
    np.testing.assert_allclose(loss.predicted(loss.constant(targets)[None])[0], np.quantile(targets, levels), rtol=1e-6)
    shares = CrossEntropy(2).predicted(CrossEntropy(2).constant(torch.tensor([0, 0, 0, 1]))[None])[0]
    assert shares.tolist() == pytest.approx([0.75, 0.25])
    assert torch.isfinite(loss.constant(torch.ones(5, 1))).all()


def test_quantiles_do_not_cross_and_cover():
    bags, y = gamma_bags(500)
    levels = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    model = small(nets.PhaseNetRegressor, quantiles=levels, n_epochs=40, learning_rate=0.03).fit(bags[:300], y[:300])
    predicted = model.predict_quantiles(bags[300:])
    assert predicted.shape == (200, 7)
    assert (np.diff(predicted, axis=1) >= 0).all()
    assert (np.diff(model.predict_quantiles([np.full((3, 1), 1e4)]), axis=1) >= 0).all()
    assert 0.65 < np.mean((predicted[:, 1] <= y[300:]) & (y[300:] <= predicted[:, 5])) < 0.92
    np.testing.assert_array_equal(model.predict(bags[300:]), predicted[:, 3])
    one = small(nets.PhaseNetRegressor, quantiles=0.9).fit(bags[:50], y[:50])
    assert one.predict_quantiles(bags[:5]).shape == (5, 1)


def test_calibration_gives_each_quantile_its_share():
    bags, y = gamma_bags(200)
    levels = np.array([0.1, 0.25, 0.5, 0.9])
    options = {"quantiles": tuple(levels), "learning_rate": 0.05, "n_epochs": 5, "validation_fraction": 0.4}
    held_out = validation_split(np.zeros(200), np.ones(200, dtype=bool), 0.4, np.random.default_rng(0))[1]
    for calibration, part in (("all", np.arange(200)), ("validation", held_out)):
        model = small(nets.FourierNetRegressor, calibration=calibration, **options).fit(bags, y)
        predicted = model.predict_quantiles(bags)
        shares = np.mean(y[part, None] <= predicted[part], axis=0)
        np.testing.assert_allclose(shares, levels, atol=1.5 / len(part))
        assert (np.diff(predicted, axis=1) > 0).all()
    raw = small(nets.FourierNetRegressor, calibration=None, **options).fit(bags, y).predict_quantiles(bags)
    assert np.abs(np.mean(y[:, None] <= raw, axis=0) - levels).max() > 0.02


def test_calibration_counts_weights():
    loss = PinballLoss(np.array([0.2, 0.5]))
    outputs, targets = torch.zeros(100, 2), torch.arange(100.0)[:, None]
    weights = torch.where(torch.arange(100) < 50, 1.0, 0.0)
    quantiles = loss.predicted(loss.shift(outputs, targets, weights)[None])[0]
    assert quantiles.tolist() == pytest.approx([9.1, 24.25], abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REGRESSORS)
def test_intervals_cover_held_out_bags(kind):
    covered = []
    for seed in range(5):
        bags, y = make_gamma_bags(7_000, random_state=seed)
        model = kind(60, quantiles=(0.1, 0.5, 0.9), n_epochs=20, device="cpu", random_state=seed)
        low, _, high = model.fit(bags[:2_000], y[:2_000]).predict_quantiles(bags[2_000:]).T
        covered.append(np.mean((low <= y[2_000:]) & (y[2_000:] <= high)))
    assert np.abs(np.array(covered) - 0.8).max() < 0.03
