import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning

from uptonoise import nets
from uptonoise.nets.training import batches, characteristic_of, threads_for, validation_split

from .helpers import BAGS, REGRESSORS, Y, gamma_bags, small


def test_a_large_bag_is_summed_in_pieces(monkeypatch, plain_ecf):
    monkeypatch.setattr("uptonoise.nets.training._BLOCK_ELEMENTS", 30)
    bags, _ = gamma_bags(7, sizes=(1, 40))
    layer = nets.FourierLayer(1, 3, random_state=0)
    found = characteristic_of(layer, torch.tensor(bags.values, dtype=torch.float32), bags.offsets).numpy()
    expected = np.array([plain_ecf(bag, layer.frequencies.detach().numpy()) for bag in bags])
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-5)


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
    training, validation = validation_split(strata, np.ones(81, dtype=bool), 0.2, rng)
    assert np.bincount(strata[validation], minlength=3).tolist() == [10, 6, 0]
    assert sorted([*training, *validation]) == list(range(81))
    training, validation = validation_split(strata, np.arange(81) < 3, 0.2, rng)
    assert (len(training), len(validation)) == (2, 1)
    assert len(validation_split(strata, np.arange(81) < 3, 0.0, rng)[1]) == 0


def test_the_rate_decays_from_the_initial_one():
    bags, y = gamma_bags(30)
    model = small(nets.PhaseNetRegressor, learning_rate=0.1, decay=0.5, n_epochs=4, patience=None).fit(bags, y)
    np.testing.assert_allclose(model.history_["learning_rate"], 0.1 / (1 + 0.5 * np.arange(4)))
    paper = nets.PhaseNetRegressor.paper(device="cpu", random_state=0, n_frequencies=3)
    assert (paper.batch_size, paper.n_epochs, paper.validation_fraction) == (10, 120, 0)
    paper.set_params(n_epochs=3, learning_rate=0.3).fit(bags, y)
    np.testing.assert_allclose(paper.history_["learning_rate"], 0.3 / np.cumprod(1 + 0.1 * np.arange(3)))
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
    held_out = validation_split(np.zeros(60), np.ones(60, dtype=bool), 0.4, np.random.default_rng(0))[1]
    errors = (model.predict(bags[held_out]) - y[held_out]) / model.target_scale_
    assert np.mean(errors**2) == pytest.approx(validation.min(), rel=1e-4)


def test_progress_is_a_line_on_stderr(capsys):
    bags, y = gamma_bags(20)
    small(nets.PhaseNetRegressor, progress=True).fit(bags, y)
    assert "training PhaseNetRegressor: 100%" in capsys.readouterr().err
    small(nets.PhaseNetRegressor).fit(bags, y)
    assert capsys.readouterr() == ("", "")


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


def test_small_work_has_one_thread():
    before = torch.get_num_threads()
    with threads_for(1_000):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
