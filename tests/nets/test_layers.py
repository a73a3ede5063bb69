from functools import partial

import numpy as np
import pytest
import torch

import uptonoise as un
from uptonoise import nets
from uptonoise.nets.layers import RunningNorm

from .helpers import LAYERS, gamma_bags, padded_of, tensors_of


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
