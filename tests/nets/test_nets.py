"""Layers against the definition, gradients against differences, and the networks as scikit-learn estimators."""

import pickle
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score

import uptonoise as un
from uptonoise.datasets import make_gamma_bags
from uptonoise.fourier.characteristic import Characteristic
from uptonoise.learning.augmentation import with_noise

torch = pytest.importorskip("torch")

from uptonoise import nets  # noqa: E402
from uptonoise.nets.layers import BagNetwork, RunningNorm  # noqa: E402
from uptonoise.nets.losses import CrossEntropy, PinballLoss, SquaredLoss  # noqa: E402
from uptonoise.nets.noise import Noise  # noqa: E402
from uptonoise.nets.output import Table, logistic  # noqa: E402
from uptonoise.nets.training import batches, characteristic_of, drawn_validation  # noqa: E402

LAYERS = [nets.FourierLayer, nets.PhaseLayer]
REGRESSORS = [nets.FourierNetRegressor, nets.PhaseNetRegressor]
CLASSIFIERS = [nets.FourierNetClassifier, nets.PhaseNetClassifier]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def gamma_bags(n_bags=120, seed=0, d=1, sizes=(20, 60)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(kind, **options):
    settings = {"n_frequencies": 10, "n_epochs": 3, "batch_size": 16, "device": "cpu", "random_state": 0}
    return kind(**(settings | options))


def padded_of(bags):
    values = torch.full((len(bags), int(bags.sizes.max()), bags.n_columns), torch.nan)
    mask = torch.zeros(values.shape[:2], dtype=torch.bool)
    for number, bag in enumerate(bags):
        values[number, : len(bag)] = torch.tensor(bag)
        mask[number, : len(bag)] = True
    return values, mask


def tensors_of(bags):
    return torch.tensor(np.array(bags.values)), torch.tensor(np.array(bags.offsets))


# Layers


def test_layers_are_the_characteristic_function_and_its_phase(double, plain_ecf):
    bags, _ = gamma_bags(5, d=2)
    W = un.sample_frequencies(7, 2, random_state=1)
    phi = np.array([plain_ecf(bag, W) for bag in bags])
    for kind, expected in zip(LAYERS, (phi, phi / np.abs(phi)), strict=True):
        layer = kind(2, 7, frequencies=W)
        found = layer(*tensors_of(bags)).detach().numpy()
        np.testing.assert_allclose(found.reshape(5, 7, 2), np.stack([expected.real, expected.imag], axis=-1), atol=1e-6)


def test_features_are_those_of_the_transformers_times_root_m(double):
    bags, _ = gamma_bags(4, d=2)
    plain_phases = partial(un.PhaseFeatures, amplitude="plain")
    for kind, transformer in ((nets.FourierLayer, un.FourierFeatures), (nets.PhaseLayer, plain_phases)):
        features = transformer(6, random_state=0).fit(bags)
        layer = kind(2, 6, frequencies=features.frequencies_)
        found = layer(*tensors_of(bags)).detach().numpy()
        np.testing.assert_allclose(found / np.sqrt(6), features.transform(bags), atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("bias", [True, False])
def test_ragged_and_padded_give_the_same_numbers_and_gradients(kind, bias):
    bags, _ = gamma_bags(6, d=2)
    values, offsets = tensors_of(bags)
    layer = kind(2, 5, bias=bias, random_state=0)
    found = []
    for given in ((values.float(), offsets, None), (padded_of(bags)[0].float(), None, padded_of(bags)[1])):
        layer.zero_grad()
        features = layer(*given)
        features.square().sum().backward() if kind is nets.FourierLayer else features.sum().backward()
        found.append((features.detach(), layer.frequencies.grad.clone()))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


def test_equal_sizes_need_no_mask_and_rows_need_no_offsets():
    layer = nets.FourierLayer(2, 3, random_state=0)
    block = torch.arange(12.0).reshape(2, 3, 2)
    assert torch.equal(layer(block), layer(block.reshape(6, 2), torch.tensor([0, 3, 6])))
    assert torch.equal(layer(block.reshape(6, 2)), layer(block.reshape(6, 1, 2)))


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(
    "make", [nets.FourierLayer, nets.PhaseLayer, lambda *a, **k: nets.PhaseLayer(*a, shrinkage=1.0, **k)]
)
def test_gradients_agree_with_finite_differences(double, make, padded):
    bags, _ = gamma_bags(3, sizes=(2, 6), d=2)
    layer = make(2, 3, bias=True, random_state=0)
    values, mask = padded_of(bags) if padded else (tensors_of(bags)[0], None)
    offsets = None if padded else tensors_of(bags)[1]
    values = torch.nan_to_num(values).requires_grad_()

    def features(rows, frequencies, bias):
        return torch.func.functional_call(layer, {"frequencies": frequencies, "bias": bias}, (rows, offsets, mask))

    assert torch.autograd.gradcheck(features, (values, layer.frequencies, layer.bias))


@pytest.mark.parametrize("amplitude", [1e-2, 1e-6, 0.0])
@pytest.mark.parametrize("shrinkage", [0.0, 1.0])
def test_gradients_at_small_amplitude_are_right_and_bounded(double, amplitude, shrinkage):
    # Two rows half a turn apart, up to the amplitude: phi = -i sin(e) exp(i pi / 2) or so.
    layer = nets.PhaseLayer(1, 1, frequencies=[[1.0]], shrinkage=shrinkage)
    values = torch.tensor([[0.3], [0.3 + np.pi - 2 * np.arcsin(amplitude)]], requires_grad=True)
    offsets = torch.tensor([0, 2])
    assert torch.autograd.gradcheck(lambda rows: layer(rows, offsets), (values,))
    layer(values, offsets).sum().backward()
    assert torch.isfinite(layer.frequencies.grad).all()
    assert float(values.grad.abs().max()) <= 10 * np.sqrt(2)


def test_shrinkage_knows_amplitude_and_size(double):
    layer = nets.PhaseLayer(1, 1, frequencies=[[1.0]], shrinkage=1.0)
    one_row = layer(torch.tensor([[0.4]])).detach().norm()
    assert float(one_row) == pytest.approx(1 / np.sqrt(2))
    many = layer(torch.full((1, 10_000, 1), 0.4)).detach().norm()
    assert float(many) == pytest.approx(1, abs=1e-4)


def test_frequencies_start_at_the_scale():
    layer = nets.FourierLayer(2, 4_000, scale=5.0, random_state=0)
    assert float(layer.frequencies.detach().std()) == pytest.approx(1 / 5, rel=0.05)
    assert layer.bias is None
    assert "m=4000" in repr(layer)
    assert "shrinkage=2" in repr(nets.PhaseLayer(1, 1, shrinkage=2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda layer: layer(torch.zeros(4, 1), torch.tensor([0, 2])), "offsets must go from 0"),
        (lambda layer: layer(torch.zeros(4, 1), torch.tensor([0, 2, 2, 4])), "bag 1 has none"),
        (lambda layer: layer(torch.zeros(4, 1), mask=torch.ones(4, 1, dtype=torch.bool)), "mask is for a padded"),
        (lambda layer: layer(torch.zeros(2, 2, 1), torch.tensor([0, 4])), "offsets are for rows"),
        (lambda layer: layer(torch.zeros(2, 2, 1), mask=torch.ones(2, 2)), "mask must be boolean"),
        (lambda layer: layer(torch.zeros(2)), "values must be of shape"),
        (lambda layer: nets.PhaseLayer(1, 2, shrinkage=-1.0), "shrinkage must be"),
        (lambda layer: nets.PhaseLayer(1, 2, frequencies=[[1.0]]), "frequencies must be 2"),
        (lambda layer: nets.FourierLayer(0, 2), "n_columns must be a positive"),
    ],
)
def test_layers_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call(nets.FourierLayer(1, 2))


def test_a_large_bag_is_summed_in_pieces(monkeypatch, plain_ecf):
    monkeypatch.setattr("uptonoise.nets.training._BLOCK_ELEMENTS", 30)
    bags, _ = gamma_bags(7, sizes=(1, 40))
    layer = nets.FourierLayer(1, 3, random_state=0)
    found = characteristic_of(layer, torch.tensor(bags.values, dtype=torch.float32), bags.offsets).numpy()
    expected = np.array([plain_ecf(bag, layer.frequencies.detach().numpy()) for bag in bags])
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-5)


def test_running_means_are_plain_means_at_first_and_forget_later(rng):
    norm = RunningNorm(2)
    features = torch.tensor(rng.normal(3, 2, size=(20, 10, 2)), dtype=torch.float32)
    for batch in features:
        norm(batch)
    np.testing.assert_allclose(norm.mean, features.mean(dim=(0, 1)), rtol=1e-5)
    np.testing.assert_allclose(norm.variance, features.var(dim=1).mean(dim=0), rtol=1e-5)
    normalised = norm.eval()(features[0])
    np.testing.assert_allclose(normalised, (features[0] - norm.mean) / norm.variance.sqrt(), rtol=1e-4, atol=1e-5)
    norm.train()
    for _ in range(1_000):
        norm(torch.tensor([[0.0, 0.0], [2.0, 2.0]]))
    assert norm.mean.tolist() == pytest.approx([1, 1], abs=0.01)


# Losses


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


# Training


def test_no_batch_is_a_single_bag(rng):
    for n_bags in range(2, 40):
        for batch_size in (2, 3, 10, 100):
            parts = batches(n_bags, batch_size, rng)
            assert min(map(len, parts)) >= 2
            assert sorted(np.concatenate(parts)) == list(range(n_bags))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_last_batch_of_one_bag_is_no_trouble(kind):
    bags, y = gamma_bags(33)
    assert np.isfinite(small(kind, batch_size=16, validation_fraction=0).fit(bags, y).predict(bags)).all()


def test_validation_is_a_part_of_each_class(rng):
    strata = np.repeat([0, 1, 2], [50, 30, 1])
    training, validation = drawn_validation(strata, np.ones(81, dtype=bool), 0.2, rng)
    assert np.bincount(strata[validation], minlength=3).tolist() == [10, 6, 0]
    assert sorted([*training, *validation]) == list(range(81))
    training, validation = drawn_validation(strata, np.arange(81) < 3, 0.2, rng)
    assert (len(training), len(validation)) == (2, 1)
    assert len(drawn_validation(strata, np.arange(81) < 3, 0.0, rng)[1]) == 0


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


def test_the_rate_decays_from_the_initial_one():
    bags, y = gamma_bags(30)
    model = small(nets.PhaseNetRegressor, learning_rate=0.1, decay=0.5, n_epochs=4, patience=None).fit(bags, y)
    np.testing.assert_allclose(model.history_["learning_rate"], 0.1 / (1 + 0.5 * np.arange(4)))
    paper = nets.PhaseNetRegressor.paper(device="cpu", random_state=0, n_frequencies=3)
    assert (paper.batch_size, paper.n_epochs, paper.validation_fraction) == (10, 120, 0)
    paper.set_params(n_epochs=3, learning_rate=0.3).fit(bags, y)
    np.testing.assert_allclose(paper.history_["learning_rate"], 0.3 / (1 + 0.1 * np.arange(3)))
    assert np.isnan(paper.history_["validation_loss"]).all()
    assert paper.best_epoch_ == 2


def test_penalties_are_separate():
    bags, y = gamma_bags(60)
    common = {"n_epochs": 30, "learning_rate": 0.05, "patience": None, "solve_output": False}
    plain = small(nets.PhaseNetRegressor, output_penalty=0.0, frequency_penalty=0.0, **common).fit(bags, y)
    low = small(nets.PhaseNetRegressor, output_penalty=0.0, frequency_penalty=10.0, **common).fit(bags, y)
    weak = small(nets.PhaseNetRegressor, output_penalty=10.0, frequency_penalty=0.0, **common).fit(bags, y)

    def sizes(model):
        return float(np.abs(model.frequencies_).mean()), float(model.network_.output.weight.detach().abs().mean())

    assert sizes(low)[0] < 0.5 * sizes(plain)[0]
    assert sizes(weak)[1] < 0.5 * sizes(plain)[1]


def test_early_stopping_restores_the_best_epoch():
    bags, y = gamma_bags(60)
    options = {"n_frequencies": 40, "learning_rate": 0.1, "n_epochs": 60, "patience": 3, "validation_fraction": 0.4}
    model = small(nets.FourierNetRegressor, solve_output=False, **options).fit(bags, y)
    validation = model.history_["validation_loss"]
    assert len(validation) < 60
    assert model.best_epoch_ == np.argmin(validation) == len(validation) - 1 - 3
    held_out = drawn_validation(np.zeros(60), np.ones(60, dtype=bool), 0.4, np.random.default_rng(0))[1]
    errors = (model.predict(bags[held_out]) - y[held_out]) / model.target_scale_
    assert np.mean(errors**2) == pytest.approx(validation.min(), rel=1e-4)


# Noise


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
    noise = Noise(1.0, 1.0, 0.0, rows[:size], variances, 0)
    on_phi = noise.on_phi(clean, sizes, layer.frequencies).detach().double().numpy() @ [1, 1j]
    on_rows = layer.characteristic(noise.on_rows(rows, sizes), sizes).detach().double().numpy() @ [1, 1j]
    for found in (on_phi, on_rows):
        np.testing.assert_allclose(found.mean(axis=0), reference.mean(axis=0), atol=0.02)
        np.testing.assert_allclose(found.var(axis=0), reference.var(axis=0), rtol=0.15, atol=2e-3)
        np.testing.assert_allclose(np.cov(found.T), np.cov(reference.T), atol=5e-3)


def test_noise_has_its_levels_and_its_share_of_clean_bags():
    noise = Noise(2.0, 2.0, 0.2, torch.zeros(1, 2), np.array([1.0, 0.0]), 0)
    sizes = torch.full((20_000,), 2)
    added = noise.on_rows(torch.zeros(40_000, 2), sizes).reshape(20_000, 2, 2)
    assert not added[..., 1].any()
    assert float((added[..., 0] == 0).all(dim=1).float().mean()) == pytest.approx(0.2, abs=0.01)
    assert float(added[..., 0].var()) == pytest.approx(0.8, abs=0.05)
    assert not torch.equal(noise.on_rows(torch.zeros(40_000, 2), sizes), added.reshape(-1, 2))
    again = Noise(0.0, 1.0, 0.0, torch.zeros(1, 1), np.ones(1), 0, repeats=True)
    one, two = (again.on_phi(torch.ones(5, 3, 2), torch.ones(5), torch.ones(3, 1)) for _ in range(2))
    assert torch.equal(one, two)


def test_noise_has_gradients_also_where_there_is_none():
    frequencies = torch.tensor([[0.0], [1.0], [30.0]], requires_grad=True)
    noise = Noise(0.0, 1.0, 0.5, torch.zeros(1, 1), np.ones(1), 0)
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
    with pytest.warns(UserWarning, match="noise levels from 0.1 to 0.4; got levels up to 0.5"):
        un.robustness_curve(again, bags, y, [0, 0.5], n_repeats=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.robustness_curve(again, bags, y, [0, 0.4], n_repeats=1)


def test_classifiers_take_noise_too():
    bags, y = gamma_bags(60)
    model = small(nets.PhaseNetClassifier, noise_augmentation=1.0).fit(bags, (y > 3).astype(int))
    assert model.noise_range_ == (0.0, 1.0)
    assert clone(model).noise_augmentation == 1.0


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


def test_progress_is_a_line_on_stderr(capsys):
    bags, y = gamma_bags(20)
    small(nets.PhaseNetRegressor, progress=True).fit(bags, y)
    assert "training PhaseNetRegressor: 3 epochs, 100 %" in capsys.readouterr().err
    small(nets.PhaseNetRegressor).fit(bags, y)
    assert capsys.readouterr() == ("", "")


# Predictions


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
    held_out = drawn_validation(np.zeros(200), np.ones(200, dtype=bool), 0.4, np.random.default_rng(0))[1]
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
    found = logistic(Table(F, labels, weights), 0.1)
    tensors = [torch.tensor(part, requires_grad=True) for part in found]
    losses = CrossEntropy(n_classes)(torch.tensor(F) @ tensors[0].T + tensors[1], torch.tensor(labels))
    whole = (torch.tensor(weights) * losses).sum() / weights.sum() + 0.05 * tensors[0].square().sum()
    whole.backward()
    assert max(float(tensor.grad.abs().max()) for tensor in tensors) < 1e-3


def test_several_targets():
    bags, y = gamma_bags(60)
    model = small(nets.FourierNetRegressor, n_epochs=20).fit(bags, np.stack([y, -y, np.ones(60)], axis=1))
    predicted = model.predict(bags)
    assert predicted.shape == (60, 3)
    assert np.corrcoef(predicted[:, 1], -y)[0, 1] > 0.7
    np.testing.assert_allclose(predicted[:, 2], 1, atol=0.1)
    assert small(nets.FourierNetRegressor).fit(bags, y[:, None]).predict(bags).shape == (60, 1)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("labels", [[False, True], ["a", "b", "c"], [3, 7, 9, 12]])
def test_classifiers_learn_two_and_more_classes(kind, labels):
    rng = np.random.default_rng(0)
    codes = np.arange(160) % len(labels)
    bags = [rng.gamma(1.0 + 4 * code, size=(40, 1)) for code in codes]
    y = np.array(labels)[codes]
    model = small(kind, n_epochs=15).fit(bags[:120], y[:120])
    assert model.score(bags[120:], y[120:]) > 0.8
    probabilities = model.predict_proba(bags)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_, sorted(labels))
    assert model.predict(bags).dtype == y.dtype


def test_class_weights_move_the_threshold():
    rng = np.random.default_rng(0)
    y = (np.arange(200) % 10 == 0).astype(int)
    bags = [rng.gamma(2.0 + 0.5 * label, size=(15, 1)) for label in y]
    shares = {}
    for weight in (None, "balanced", {0: 1.0, 1: 50.0}):
        model = small(nets.FourierNetClassifier, n_epochs=10, class_weight=weight).fit(bags, y)
        shares[str(weight)] = model.predict(bags).mean()
    assert shares["None"] < 0.1 < shares["balanced"] < shares[str({0: 1.0, 1: 50.0})]
    heavy = small(nets.FourierNetClassifier, n_epochs=10).fit(bags, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert heavy.predict(bags).mean() > 0.1


def test_a_two_dimensional_array_is_bags_of_one_row(rng):
    X = rng.uniform(-3, 3, size=(200, 2))
    y = np.sin(2 * X[:, 0])
    model = small(nets.FourierNetRegressor, n_frequencies=40, n_epochs=40, learning_rate=0.03).fit(X, y)
    assert model.score(X, y) > 0.8
    np.testing.assert_allclose(model.predict([row[None] for row in X[:9]]), model.predict(X[:9]), atol=1e-5)
    np.testing.assert_allclose(model.predict(X[:9, None, :]), model.predict(X[:9]), atol=1e-5)
    np.testing.assert_allclose(model.predict(torch.tensor(X[:9])), model.predict(X[:9]), atol=1e-5)


# Conduct


@pytest.mark.parametrize("kind", [*REGRESSORS, *CLASSIFIERS])
def test_clone_and_pickle(kind):
    bags, y = gamma_bags(40)
    model = small(kind, normalisation=None, bias=True).fit(bags, y if kind in REGRESSORS else (y > 3).astype(int))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(bags)
    with pytest.raises(NotFittedError):
        _ = fresh.frequencies_


def test_grid_search_and_cross_validation():
    bags, y = gamma_bags(45)
    grid = {"learning_rate": [1e-9, 0.05], "shrinkage": [0.0, 1.0]}
    search = GridSearchCV(small(nets.PhaseNetRegressor, n_epochs=8), grid, cv=3).fit(bags, y)
    assert search.best_params_["learning_rate"] == 0.05
    assert cross_val_score(small(nets.PhaseNetClassifier), bags, (y > 3).astype(int), cv=3).shape == (3,)
    assert len(ParameterGrid(nets.paper_grid())) == 8
    for one in ParameterGrid(nets.paper_grid()):
        nets.PhaseNetClassifier.paper().set_params(**one)


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


def test_columns_are_matched_by_name():
    bags, y = gamma_bags(30, d=2)
    frames = [pd.DataFrame(bag, columns=["a", "b"]) for bag in bags]
    model = small(nets.PhaseNetRegressor).fit(frames, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict([frame[["b", "a"]] for frame in frames]), model.predict(frames))
    with pytest.raises(ValueError, match="3 features, but PhaseNetRegressor is expecting 2"):
        model.predict(np.zeros((4, 3)))
    assert not hasattr(model.fit(bags, y), "feature_names_in_")


def test_labels_of_bags_are_the_targets():
    bags, y = gamma_bags(30)
    labelled = un.Bags(bags, labels=y)
    np.testing.assert_array_equal(
        small(nets.PhaseNetRegressor).fit(labelled).predict(bags),
        small(nets.PhaseNetRegressor).fit(bags, y).predict(bags),
    )


@pytest.mark.parametrize(
    "model",
    [
        small(nets.PhaseNetRegressor, shrinkage=1.0, bias=True, random_state=np.random.default_rng(0)),
        small(nets.FourierNetRegressor, quantiles=(0.2, 0.8), normalisation=None, scale=[2.0]),
        small(nets.PhaseNetClassifier, class_weight={"hi": 2.0, "lo": 1.0}, frequencies=np.ones((3, 1))),
        small(nets.FourierNetClassifier),
    ],
)
def test_save_and_load(model, tmp_path):
    bags, y = gamma_bags(40)
    y = y if "quantiles" in model.get_params() else np.where(y > 3, "hi", "lo").astype(object)
    model.fit([pd.DataFrame(bag, columns=["size"]) for bag in bags], y)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    np.testing.assert_array_equal(again.amplitudes(bags), model.amplitudes(bags))
    for name in ("loss", "validation_loss"):
        np.testing.assert_array_equal(again.history_[name], model.history_[name])
    assert again.best_epoch_ == model.best_epoch_
    assert again.feature_names_in_.tolist() == ["size"]
    if hasattr(model, "classes_"):
        assert again.class_weight == model.class_weight
        assert again.predict(bags).dtype == model.predict(bags).dtype
    again.set_params(warm_start=True).fit(bags, y)


def test_load_says_what_is_wrong_with_a_file(tmp_path, monkeypatch):
    bags, y = gamma_bags(20)
    path = tmp_path / "model.npz"
    model = small(nets.PhaseNetRegressor).fit(bags, y)
    model.save(path)
    with pytest.raises(ValueError, match=r"holds a PhaseNetRegressor; use PhaseNetRegressor\.load"):
        nets.FourierNetRegressor.load(path)
    un.plrr(random_state=0).fit(bags, y).save(tmp_path / "ridge.npz")
    with pytest.raises(ValueError, match=r"not a network that PhaseNetRegressor\.save wrote"):
        nets.PhaseNetRegressor.load(tmp_path / "ridge.npz")
    (tmp_path / "broken.npz").write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match="truncated"):
        nets.PhaseNetRegressor.load(tmp_path / "broken.npz")
    monkeypatch.setattr("uptonoise.nets.storage._VERSION", 2)
    model.save(path)
    monkeypatch.setattr("uptonoise.nets.storage._VERSION", 1)
    with pytest.raises(ValueError, match="version 2 of the format, and this version of uptonoise reads 1"):
        nets.PhaseNetRegressor.load(path)
    with pytest.raises(ValueError, match="numbers and strings"):
        model.set_params(progress=object()).save(path)


# Bad input

BAGS, Y = gamma_bags(20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantiles": 1.0}, "quantiles must be one or more increasing numbers between 0 and 1"),
        ({"quantiles": (0.5, 0.1)}, "quantiles must be one or more increasing"),
        ({"quantiles": ()}, "quantiles must be"),
        ({"n_frequencies": 0}, "n_frequencies must be a positive integer"),
        ({"n_epochs": 0}, "n_epochs must be a positive integer"),
        ({"batch_size": 1}, "batch_size must be at least 2 for a normalisation"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0"),
        ({"decay": -1.0}, "decay must be a number at least 0"),
        ({"frequency_penalty": "a"}, "frequency_penalty must be"),
        ({"output_penalty": np.inf}, "output_penalty must be"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number at least 0 and below 1"),
        ({"validation_fraction": 0.95}, "validation_fraction=0.95 of 20 bags leaves 1 to train on"),
        ({"patience": 0}, "patience must be a positive integer"),
        ({"normalisation": "layer"}, "normalisation must be one of running, batch, or None"),
        ({"shrinkage": -1.0}, "shrinkage must be"),
        ({"scale": "mean"}, "scale must be one of median"),
        ({"scale": [1.0, 2.0]}, "scale must be a positive length, or 1 of them"),
        ({"scale_factor": 0}, "scale_factor must be"),
        ({"scale": 1e-9}, "scales from the mean of the training rows"),
        ({"frequencies": np.ones((3, 2))}, "frequencies must"),
        ({"frequencies": "drawn"}, 'frequencies must be an array, "ridge" or None'),
        ({"noise_augmentation": -1.0}, "noise_augmentation must be a noise level that is not negative"),
        ({"noise_augmentation": (0.5, 1.0)}, "one noise level for a network.*GridSearchCV tries several"),
        ({"noise_augmentation": 1.0, "noise_target": (1.0, 0.5)}, "noise_target must be a range"),
        ({"noise_target": (0.0, 1.0)}, "noise_target has no meaning without noise_augmentation"),
        ({"noise_domain": "time"}, "noise_domain must be one of fourier, rows"),
        ({"calibration": "test"}, "calibration must be one of all, validation, or None"),
        (
            {"quantiles": 0.5, "calibration": "validation", "validation_fraction": 0.0},
            "needs a validation_fraction above 0",
        ),
        ({"device": "abacus"}, "device must be"),
        ({"device": "meta"}, "device must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        small(nets.PhaseNetRegressor, **options).fit(BAGS, Y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (BAGS, None, "y must be given"),
        (BAGS, Y[:5], "one target for each of 20 bags"),
        (BAGS, np.full(20, 2.0), "y must vary"),
        (BAGS, np.where(np.arange(20) == 3, np.nan, Y), "y must be finite"),
        (BAGS, ["a"] * 20, "y must hold real numbers"),
        (BAGS[:1], Y[:1], "at least 2 bags"),
        (np.arange(20.0), Y, "array"),
        ([np.full((3, 1), np.nan)] * 20, Y, "X"),
        ([np.ones((3, 1))] * 20, Y, "rows of the samples are equal"),
        ([], [], "X"),
    ],
)
def test_bad_bags_and_targets(X, y, message):
    with pytest.raises(ValueError, match=message):
        small(nets.PhaseNetRegressor).fit(X, y)


def test_bad_calls():
    with pytest.raises(ValueError, match="one target a bag for quantiles"):
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


def test_labels_unseen_in_training():
    y = np.arange(20) % 2
    model = small(nets.PhaseNetClassifier, warm_start=True).fit(BAGS, y)
    with pytest.raises(ValueError, match="y has labels that were not there in training: 2; the model knows 0, 1"):
        model.score(BAGS, y + 1)
    with pytest.raises(ValueError, match="not there in training: 2"):
        model.fit(BAGS, y + 1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_where_one_is_asked_for():
    with pytest.raises(ValueError, match=r"device='cuda' is not there: torch sees 0 GPUs. Use device=\"cpu\""):
        small(nets.PhaseNetRegressor, device="cuda").fit(BAGS, Y)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("options", [{}, {"quantiles": (0.1, 0.9)}, {"normalisation": "batch"}])
def test_a_gpu_gives_the_network_of_the_cpu(options):
    bags, y = gamma_bags(60)
    models = [small(nets.PhaseNetRegressor, device=device, **options).fit(bags, y) for device in ("cpu", "cuda")]
    np.testing.assert_allclose(models[1].predict(bags), models[0].predict(bags), rtol=1e-2)
    np.testing.assert_allclose(models[1].amplitudes(bags), models[0].amplitudes(bags), atol=1e-2)
    assert models[1].network_.output.weight.device.type == "cpu"


def test_a_diverging_loss_stops_and_keeps_the_best_weights(monkeypatch):
    with pytest.raises(ValueError, match=r"diverged in epoch 0.*Lower learning_rate \(it is 1e\+20\)"):
        small(nets.FourierNetRegressor, learning_rate=1e20).fit(BAGS, Y)
    # A good first epoch, and a rate out of all proportion from then on.
    monkeypatch.setattr("uptonoise.nets.training.Settings.rate", lambda self, epoch: 1e-3 if epoch == 0 else 1e20)
    for fraction in (0.2, 0.0):
        with pytest.warns(ConvergenceWarning, match="diverged in epoch 1.*the weights of the best epoch are kept"):
            model = small(nets.FourierNetRegressor, validation_fraction=fraction).fit(BAGS, Y)
        assert model.best_epoch_ == 0
        assert len(model.history_["loss"]) == 1
        assert np.abs(model.predict(BAGS) - Y).max() < 6


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
