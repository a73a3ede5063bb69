"""Hidden layers between the features of a bag and the output."""

import numpy as np
import pytest
import torch

from uptonoise import nets
from uptonoise.nets.layers import BagNetwork

from .helpers import CLASSIFIERS, REGRESSORS, gamma_bags, small


@pytest.mark.parametrize("kind", [*REGRESSORS, *CLASSIFIERS])
def test_hidden_layers_are_saved_and_loaded(kind, tmp_path):
    bags, y = gamma_bags(40)
    model = small(kind, hidden=(6, 4), steady=True).fit(bags, y if kind in REGRESSORS else (y > 3).astype(int))
    model.save(tmp_path / "model.npz")
    again = kind.load(tmp_path / "model.npz")
    assert [part.out_features for part in again.network_.hidden if hasattr(part, "out_features")] == [6, 4]
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))


def test_quantiles_with_hidden_layers():
    bags, y = gamma_bags(60)
    low, high = (
        small(nets.FourierNetRegressor, hidden=(6,), quantiles=(0.1, 0.9)).fit(bags, y).predict_quantiles(bags).T
    )
    assert (low <= high).all()


def test_hidden_layers_learn_products_that_a_linear_output_cannot():
    generator = np.random.default_rng(0)
    places = generator.uniform(-1, 1, size=(300, 1, 2))
    bags, y = places + 0.1 * generator.exponential(size=(300, 15, 2)), np.sign(places[:, 0, 0] * places[:, 0, 1])
    options = {"n_frequencies": 3, "n_epochs": 20, "learning_rate": 0.01}
    scores = [
        small(nets.PhaseNetRegressor, hidden=hidden, **options).fit(bags[:220], y[:220]).score(bags[220:], y[220:])
        for hidden in ((), (32,))
    ]
    assert scores[1] > scores[0] + 0.05


def test_weights_are_those_of_the_seed_and_not_of_torch():
    layer = nets.FourierLayer(1, 4, random_state=0)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    networks = [BagNetwork(layer, 1, hidden=(3,), seed=seed) for seed in (0, 0, 1)]
    assert torch.equal(torch.get_rng_state(), before)
    first, again, other = (network.hidden[0].weight for network in networks)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("hidden", [0, "64", (0,), (2.5,)])
def test_bad_widths_are_named(hidden):
    bags, y = gamma_bags(20)
    with pytest.raises(ValueError, match="hidden"):
        small(nets.PhaseNetRegressor, hidden=hidden).fit(bags, y)


def test_files_of_networks_without_hidden_layers_are_read(tmp_path, monkeypatch):
    bags, y = gamma_bags(20)
    model = small(nets.PhaseNetRegressor).fit(bags, y)
    names = model.get_params
    former = {name: value for name, value in names().items() if name not in ("hidden", "steady")}
    monkeypatch.setattr(model, "get_params", lambda deep=True: former)
    monkeypatch.setattr("uptonoise.nets.saving._VERSION", 1)
    model.save(tmp_path / "model.npz")
    monkeypatch.undo()
    again = nets.PhaseNetRegressor.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    assert again.hidden == ()
