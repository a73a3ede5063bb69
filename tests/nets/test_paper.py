import numpy as np
import pytest
import torch

from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor
from uptonoise.nets.layers import BagNetwork, FourierLayer
from uptonoise.nets.training import Settings

QUICK = {"n_frequencies": 8, "n_epochs": 3, "device": "cpu", "progress": False, "random_state": 0}


@pytest.fixture(scope="module")
def gamma_bags():
    generator = np.random.default_rng(0)
    shapes = generator.uniform(1, 6, size=40)
    return [generator.gamma(shape, size=(30, 1)) for shape in shapes], shapes


def test_the_papers_networks_have_its_authors_epsilon_and_schedule():
    model = PhaseNetRegressor.paper()
    assert (model.epsilon, model.schedule, model.decay, model.statistics) == (1e-3, "cumulative", None, "training")


def test_the_rate_of_the_authors_is_divided_again_in_each_epoch():
    settings = Settings(0.3, 0.003, 100, 10, 0.0, 0.0, None, "cumulative")
    rate = 0.3
    for epoch in range(4):
        rate = rate / (1 + 0.003 * epoch)
        assert settings.rate(epoch) == pytest.approx(rate)
    assert Settings(0.3, 0.1, 100, 10, 0.0, 0.0, None).rate(5) == pytest.approx(0.2)


@pytest.mark.parametrize("kind", [FourierNetRegressor, PhaseNetRegressor])
def test_epsilon_is_that_of_features_divided_by_the_root_of_their_number(kind, gamma_bags):
    bags, y = gamma_bags
    model = kind.paper(**QUICK).fit(bags, y)
    assert model.network_.epsilon == pytest.approx(8e-3)
    divided = torch.randn(20, 16, generator=torch.manual_seed(0)) / 8**0.5
    norm = torch.nn.BatchNorm1d(16, eps=1e-3, affine=False)
    ours = torch.nn.BatchNorm1d(16, eps=model.network_.epsilon, affine=False)
    assert torch.allclose(norm(divided), ours(divided * 8**0.5), atol=1e-6)


def test_statistics_of_the_batch_are_those_of_batch_normalisation_in_training():
    network = BagNetwork(FourierLayer(1, 4, random_state=0), 1, normalisation="batch", epsilon=0.01)
    torch.nn.init.ones_(network.output.weight)
    rows, sizes = torch.randn(60, 1, generator=torch.manual_seed(0)), torch.full((6,), 10)
    phi = network.layer.characteristic(rows, sizes)
    by_batch = network.eval().head(phi, sizes, "batch")
    assert torch.allclose(by_batch, network.train().head(phi, sizes), atol=1e-6)


def test_noise_that_all_bags_share_is_normalised_away_by_statistics_of_the_batch(gamma_bags):
    bags, y = gamma_bags
    model = FourierNetRegressor.paper(**QUICK | {"n_epochs": 30}).fit(bags, y)
    generator = np.random.default_rng(1)
    noisy = [bag + 3 * generator.normal(size=bag.shape) for bag in bags]
    shift = {}
    for statistics in ("training", "batch"):
        model.set_params(statistics=statistics)
        shift[statistics] = abs(float(np.mean(model.predict(noisy) - model.predict(bags))))
    assert shift["batch"] < 0.01 < shift["training"]
    one = model.predict(bags)[:5]
    assert not np.allclose(one, model.predict(bags[:5]))
    with pytest.raises(ValueError, match="needs at least 2 bags"):
        model.predict(bags[:1])


def test_statistics_of_the_batch_need_a_normalisation(gamma_bags):
    for options, message in (
        ({"statistics": "batch", "normalisation": None}, "has no meaning without a normalisation"),
        ({"statistics": "test"}, "statistics must be one of"),
        ({"schedule": "steps"}, "schedule must be one of"),
        ({"epsilon": 0.0}, "epsilon must be"),
    ):
        with pytest.raises(ValueError, match=message):
            FourierNetRegressor(**QUICK | options).fit(*gamma_bags)
