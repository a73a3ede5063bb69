"""Predictions within a range, and shrunk towards the constant one where noise has left little of a bag."""

import warnings

import numpy as np
import pytest
import torch

import uptonoise as un
from uptonoise import nets
from uptonoise.nets.losses import CrossEntropy, PinballLoss, SquaredLoss
from uptonoise.nets.steadiness import Steadiness, loudness

from .helpers import CLASSIFIERS, REGRESSORS, gamma_bags

QUICK = {"n_frequencies": 20, "n_epochs": 8, "batch_size": 16, "device": "cpu", "progress": False, "random_state": 0}


def noisy(bags, size):
    generator = np.random.default_rng(1)
    return un.Bags([bag + size * bags.values.std(axis=0) * generator.normal(size=bag.shape) for bag in bags])


@pytest.mark.parametrize("options", [{}, {"hidden": (), "noise_augmentation": None, "learning_rate": 0.03}])
@pytest.mark.parametrize("kind", REGRESSORS)
def test_no_noise_makes_predictions_much_worse_than_the_mean(kind, options):
    bags, y = gamma_bags(260)
    model = kind(**QUICK | options).fit(bags[:180], y[:180])
    test, truth = bags[180:], y[180:]
    constant = np.sqrt(np.mean((truth - y[:180].mean()) ** 2))
    errors = [np.sqrt(np.mean((model.predict(noisy(test, size)) - truth) ** 2)) for size in (0, 1, 10, 100, 1_000)]
    assert errors[0] < 0.7 * constant
    assert max(errors) < 1.1 * constant


def test_predictions_stay_in_the_range_of_the_targets():
    bags, y = gamma_bags(60)
    model = nets.FourierNetRegressor(**QUICK | {"n_epochs": 2}).fit(bags, y)
    model.network_.output.bias.data.fill_(1e6)
    assert model.predict(bags).max() <= y.max() + 0.11 * np.ptp(y)
    wild = nets.FourierNetRegressor(**QUICK | {"n_epochs": 2, "steady": False}).fit(bags, y)
    wild.network_.output.bias.data.fill_(1e6)
    assert wild.predict(bags).max() > 1e5


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_of_drowned_bags_are_the_frequent_one(kind):
    bags, y = gamma_bags(150)
    labels = np.where(y > 2.2, "many", "few")
    model = kind(**QUICK).fit(bags, labels)
    assert model.score(bags, labels) > 0.85
    drowned = model.predict_proba(noisy(bags, 1_000.0))
    np.testing.assert_allclose(drowned.sum(axis=1), 1)
    share = np.mean(labels == "many")
    assert np.abs(drowned[:, 1] - share).max() < 0.25
    assert (model.predict(noisy(bags, 1_000.0)) == "many").mean() > 0.95


def test_quantiles_stay_in_order_and_become_those_of_all_targets():
    bags, y = gamma_bags(150)
    model = nets.PhaseNetRegressor(quantiles=(0.1, 0.5, 0.9), **QUICK).fit(bags, y)
    low, middle, high = model.predict_quantiles(noisy(bags, 1_000.0)).T
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert abs(np.median(middle) - np.median(y)) < 0.5 * y.std()


@pytest.mark.parametrize(
    ("loss", "predicted", "targets"),
    [
        (SquaredLoss(1), torch.tensor([[0.5], [1.0]]), torch.tensor([[0.0], [2.0]])),
        (PinballLoss(np.array([0.1, 0.9])), torch.tensor([[0.0, 1.0], [0.5, 2.0]]), torch.tensor([[0.5], [3.0]])),
    ],
)
def test_losses_of_predictions_are_those_of_outputs(loss, predicted, targets):
    steps = torch.cat([predicted[:, :1], predicted.diff(dim=1).expm1().log()], dim=1)
    outputs = predicted if isinstance(loss, SquaredLoss) else steps
    torch.testing.assert_close(loss.of_predicted(predicted, targets), loss(outputs, targets))


def test_cross_entropy_of_probabilities():
    outputs, targets = torch.tensor([[0.3, -1.0], [2.0, 0.1]]), torch.tensor([0, 1])
    loss = CrossEntropy(2)
    torch.testing.assert_close(loss.of_predicted(loss.predicted(outputs), targets), loss(outputs, targets))


def test_loudness_of_noise_is_zero_and_grows_with_what_is_left(rng):
    sizes = torch.full((3_000,), 50)
    phi = torch.tensor(rng.normal(size=(3_000, 40, 2)) / 10)
    quiet = loudness(phi, sizes)
    assert abs(quiet.mean()) < 0.05
    assert (loudness(phi + 0.5, sizes) > quiet).all()


def test_files_whose_parts_do_not_fit_are_refused():
    whole = Steadiness(np.arange(3.0), np.ones(3), np.zeros(1), np.zeros((2, 1)))._asdict()
    assert Steadiness.checked(whole, 1).weights.tolist() == [1, 1, 1]
    for name, part in (("weights", np.ones(2)), ("constant", np.zeros(2)), ("knots", np.array([1.0, 0.0, 2.0]))):
        with pytest.raises(ValueError, match="does not fit together"):
            Steadiness.checked(whole | {name: part}, 1)


def test_the_default_network_is_trained_against_noise():
    bags, y = gamma_bags(40)
    model = nets.PhaseNetRegressor(**QUICK | {"n_epochs": 2}).fit(bags, y)
    assert model.noise_range_ == (0.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.robustness_curve(model, bags, y, [0, 9.0], n_repeats=1)
    with pytest.raises(ValueError, match='noise_augmentation must be a noise size, "unknown" or None'):
        nets.PhaseNetRegressor(**QUICK, noise_augmentation="much").fit(bags, y)
    with pytest.raises(ValueError, match="steady must be True or False"):
        nets.PhaseNetRegressor(**QUICK, steady=1).fit(bags, y)
