import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

import uptonoise as un
from uptonoise import nets
from uptonoise.nets.layers import BagNetwork

from .helpers import BAGS, CLASSIFIERS, REGRESSORS, Y, gamma_bags, small


def test_bags_of_weight_zero_do_not_count():
    bags, y = gamma_bags(40)
    weights = (np.arange(40) < 20).astype(float)
    one = small(nets.PhaseNetRegressor).fit(bags, y, sample_weight=weights)
    other = small(nets.PhaseNetRegressor).fit(bags, np.where(weights == 0, 99.0, y), sample_weight=weights)
    np.testing.assert_array_equal(one.predict(bags), other.predict(bags))
    model = small(nets.PhaseNetClassifier).fit(bags, np.arange(40) // 10, sample_weight=weights)
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("kind", REGRESSORS)
def test_networks_learn_the_shape_of_gamma_bags(kind):
    bags, y = gamma_bags(400)
    model = small(kind, n_frequencies=30, n_epochs=40).fit(bags[:300], y[:300])
    assert model.score(bags[300:], y[300:]) > 0.8
    assert model.history_["loss"][-1] < 0.5 * model.history_["loss"][0]


def test_frequencies_are_learnt_and_in_the_units_of_the_data():
    bags, y = gamma_bags(60)
    scaled = un.Bags([1_000 * bag + 5_000 for bag in bags])
    one, other = (small(nets.PhaseNetRegressor, n_epochs=5).fit(given, y) for given in (bags, scaled))
    np.testing.assert_allclose(other.frequencies_ * 1_000, one.frequencies_, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(other.predict(scaled), one.predict(bags), rtol=1e-3)
    np.testing.assert_allclose(one.amplitudes(bags), np.abs(un.ecf(bags, one.frequencies_)), atol=1e-5)
    start = small(nets.PhaseNetRegressor, n_epochs=1, learning_rate=1e-12).fit(bags, y)
    assert np.abs(start.frequencies_ - one.frequencies_).max() > 1e-2


def test_given_frequencies_are_where_training_starts():
    bags, y = gamma_bags(60)
    W = un.sample_frequencies(4, 1, random_state=3)
    model = small(nets.PhaseNetRegressor, frequencies=W, n_epochs=1, learning_rate=1e-12, scale_factor=2.0)
    np.testing.assert_allclose(model.fit(bags, y).frequencies_, W / 2, rtol=1e-5)
    drawn = small(nets.PhaseNetRegressor, n_frequencies=2_000, n_epochs=1, learning_rate=1e-12, solve_output=False)
    drawn.fit(bags, y)
    assert drawn.frequencies_.std() == pytest.approx(1 / un.median_scale(bags), rel=0.1)


@pytest.mark.parametrize("kind", [*REGRESSORS, *CLASSIFIERS])
def test_frequencies_of_a_tuned_ridge_model(kind):
    bags, y = gamma_bags(90)
    y = y if kind in REGRESSORS else np.arange(90) % 3
    model = small(kind, frequencies="ridge", n_epochs=1, learning_rate=1e-12).fit(bags, y)
    drawn = small(kind, n_epochs=1, learning_rate=1e-12).fit(bags, y)
    assert model.frequencies_.shape == (10, 1)
    ratio = np.abs(model.frequencies_).std() / np.abs(drawn.frequencies_).std()
    assert ratio != pytest.approx(1, abs=0.01)
    again = small(kind, frequencies="ridge", n_epochs=1, learning_rate=1e-12).fit(bags, y)
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)
    with pytest.raises(ValueError, match="10 frequencies"):
        model.set_params(warm_start=True, n_frequencies=11).fit(bags, y)


@pytest.mark.parametrize("kind", [nets.PhaseNetRegressor, nets.FourierNetClassifier])
def test_a_seed_gives_the_same_network(kind):
    bags, y = gamma_bags(50)
    y = y if kind in REGRESSORS else (y > 3).astype(int)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    one = small(kind).fit(bags, y)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    two = small(kind).fit(bags, y)
    np.testing.assert_array_equal(one.history_["loss"], two.history_["loss"])
    for name, tensor in one.network_.state_dict().items():
        assert torch.equal(tensor, two.network_.state_dict()[name])
    assert not np.array_equal(small(kind, random_state=1).fit(bags, y).frequencies_, one.frequencies_)


@pytest.mark.parametrize("normalisation", ["running", "batch", None])
@pytest.mark.parametrize("kind", [*REGRESSORS, *CLASSIFIERS])
def test_a_prediction_does_not_depend_on_the_other_bags(kind, normalisation):
    bags, y = gamma_bags(60, sizes=(1, 300))
    predict = kind.predict if kind in REGRESSORS else kind.predict_proba
    model = small(kind, normalisation=normalisation).fit(bags, y if kind in REGRESSORS else (y > 3).astype(int))
    together = predict(model, bags)
    alone = np.concatenate([predict(model, bags[[number]]) for number in range(len(bags))])
    np.testing.assert_allclose(alone, together, atol=1e-5)
    strange = un.Bags.concatenate([bags[:3], un.Bags([np.full((50, 1), 1_000.0)] * 40)])
    np.testing.assert_allclose(predict(model, strange)[:3], together[:3], atol=1e-5)


def test_warm_start_goes_on():
    bags, y = gamma_bags(60)
    model = small(nets.PhaseNetRegressor, warm_start=True, n_epochs=5, patience=None).fit(bags, y)
    first, before = model.network_, model.history_["loss"].copy()
    model.fit(bags, y)
    assert len(model.history_["loss"]) == 10
    np.testing.assert_array_equal(model.history_["loss"][:5], before)
    assert model.history_["loss"][5:].mean() < before.mean()
    assert model.network_ is not first
    cold = small(nets.PhaseNetRegressor, n_epochs=5).fit(bags, y)
    assert len(cold.fit(bags, y).history_["loss"]) == 5
    with pytest.raises(ValueError, match="10 frequencies"):
        model.set_params(n_frequencies=11).fit(bags, y)
    with pytest.raises(ValueError, match="quantiles of the last fit"):
        model.set_params(n_frequencies=10, quantiles=0.5).fit(bags, y)


def test_bad_calls():
    with pytest.raises(ValueError, match="one target per bag for quantiles"):
        small(nets.PhaseNetRegressor, quantiles=0.5).fit(BAGS, np.stack([Y, Y], axis=1))
    with pytest.raises(ValueError, match="predict_quantiles needs a model with quantiles"):
        small(nets.PhaseNetRegressor).fit(BAGS, Y).predict_quantiles(BAGS)
    with pytest.raises(ValueError, match="one weight for each"):
        small(nets.PhaseNetRegressor).fit(BAGS, Y, sample_weight=[1.0])
    with pytest.raises(ValueError, match="finite and not negative"):
        small(nets.PhaseNetRegressor).fit(BAGS, Y, sample_weight=-Y)
    with pytest.raises(ValueError, match="at least 2 classes; got only 1"):
        small(nets.PhaseNetClassifier).fit(BAGS, np.ones(20, dtype=int))
    with pytest.raises(ValueError, match="one label for each of 20 bags"):
        small(nets.PhaseNetClassifier).fit(BAGS, [0, 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        small(nets.PhaseNetClassifier).fit(BAGS, Y)


def test_a_fit_that_fails_leaves_no_half_of_two_models():
    model = small(nets.FourierNetRegressor).fit(BAGS, Y)
    with pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e20).fit(BAGS, -Y)
    with pytest.raises(NotFittedError):
        model.predict(BAGS)


def test_the_network_is_a_plain_module():
    network = BagNetwork(nets.PhaseLayer(2, 3), 1)
    assert {name for name, _ in network.named_parameters()} == {"layer.frequencies", "output.weight", "output.bias"}


def test_import_without_torch():
    code = (
        "import sys, uptonoise\n"
        "assert 'torch' not in sys.modules\n"
        "sys.modules['torch'] = None\n"
        "try:\n    import uptonoise.nets\n"
        "except ImportError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 'pip install "uptonoise[torch]"' in said
