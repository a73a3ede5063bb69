import csv
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from typing import get_args

import numpy as np
import pytest
from scipy import stats
from test_datasets import DATA, needs_higgs

import uptonoise as un
from uptonoise.comparison import Verdict
from uptonoise.datasets import make_aerosol_like, make_gamma_bags
from uptonoise.experiments import _rejections, abc, bag_models, bag_sizes, covariate_shift
from uptonoise.experiments.__main__ import NAMES
from uptonoise.experiments._alternatives import Alternative
from uptonoise.experiments._rejections import Cell, Experiment, wald_band
from uptonoise.experiments._seeded import Found, Problem, SeededExperiment
from uptonoise.experiments._sizes import SizeExperiment, interpolated


def experiment(name):
    return import_module(f"uptonoise.experiments.{name.replace('-', '_')}").EXPERIMENT


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(experiment(name), Experiment)])
def test_cells_have_names_of_their_own(name):
    cells = experiment(name).cells()
    assert len({cell.name for cell in cells}) == len(cells) > 3
    assert all(cell.at_level <= set(cell.tests) for cell in cells)
    assert experiment(name).name == name


def test_verdicts_of_a_cell_add_up_to_one(tmp_path):
    whole = experiment("verdicts")
    few = replace(whole, cells=lambda: whole.cells()[1:2])
    row = table(few.run(tmp_path, repetitions=3, workers=1))[0]
    rates = [float(row[verdict]) for verdict in get_args(Verdict)]
    assert sum(rates) == pytest.approx(1.0, abs=1e-3)
    assert len(whole.cells()) == 12


def test_models_on_bags_are_compared_on_splits(tmp_path):
    whole = experiment("bag-models")

    def few_bags(seed):
        bags, y = make_aerosol_like(60, 10, random_state=seed)
        return bag_models.Data(bags, y, None)

    def split(data, generator):
        order = generator.permutation(60)
        return bag_models.Part(order[:45], order[45:], None)

    setting = bag_models.Setting("few", few_bags, split, exact=True)
    rows = table(replace(whole, settings=(setting,)).run(tmp_path, repetitions=1, workers=1))
    assert [row["model"] for row in rows] == ["mean", *bag_models.MODELS, "exact kernel"]
    assert all(float(row["MSE"]) > 0 for row in rows)


def test_noise_that_training_bags_had_not(tmp_path, monkeypatch):
    whole = experiment("covariate-shift")
    monkeypatch.setattr(covariate_shift, "LEVELS", (0.0, 3.0))
    monkeypatch.setattr(covariate_shift, "KINDS", ("laplace",))

    def few_bags(seed):
        bags, y = make_gamma_bags(60, 20, random_state=seed)
        return bag_models.Data(bags, y, None)

    def split(data, generator):
        order = generator.permutation(60)
        return bag_models.Part(order[:45], order[45:], None)

    setting = bag_models.Setting("few", few_bags, split, exact=False)
    rows = table(replace(whole, settings=(setting,)).run(tmp_path, repetitions=1, workers=1))
    assert {row["model"] for row in rows} == {"mean", *covariate_shift.models()}
    assert {(row["noise"], row["level"]) for row in rows} == {
        (kind, level)
        for kind, level in (("gaussian", "0.0"), ("gaussian", "3.0"), ("laplace", "1.0"), ("laplace", "3.0"))
    }


def test_bags_of_other_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(bag_sizes, "_FITTED", 30)
    monkeypatch.setattr(bag_sizes, "_TESTED", 20)
    whole = experiment("bag-sizes")
    few = [replace(one, fitted=10, tested=(5, (3, 30))) for one in whole.settings[:2]]
    rows = table(replace(whole, settings=few).run(tmp_path, repetitions=1, workers=1))
    assert {row["rows tested"] for row in rows} == {"5", "3 to 30"}
    assert {row["phases"] for row in rows} == {"mean", "plain", "shrunk"}


def test_inference_is_compared_by_noise(tmp_path):
    pytest.importorskip("matplotlib")
    whole = experiment("abc")
    assert whole.methods == tuple(abc.METHODS)
    tried = ("DR", "semi-automatic", "rejection")
    few = replace(whole, sigmas=(0.0, 0.1), methods=tried, n_training=40, n_particles=150, n_exact=(20, 60), n_rows=20)
    rows = table(few.run(tmp_path, repetitions=5, workers=1))
    assert len(rows) == 3 * (2 + 3)
    assert {row["observed"] for row in rows} == {"as trained", "stronger", "Laplace"}
    assert all(0 < float(row["RMSE"]) < 10 for row in rows)
    assert (tmp_path / "abc.png").stat().st_size > 10_000
    larger = replace(experiment("abc-rows"), methods=("rejection",), n_particles=150)
    assert len(table(larger.run(tmp_path, repetitions=3, workers=1))) == 3


def test_the_conjugate_posterior_is_the_measure(tmp_path):
    few = replace(experiment("conjugate"), settings=((1_000, 0.1, False), (1_000, 0.1, True)), n_training=60)
    rows = table(few.run(tmp_path, repetitions=40, workers=1))
    assert len(rows) == 6
    assert all(float(row["error of mean"]) < 0.6 and 0.7 < float(row["sd / exact"]) < 1.4 for row in rows)


def test_a_seeded_experiment_goes_on_where_it_stopped(tmp_path):
    calls = []

    def measure(seed):
        calls.append(seed)
        return [Found("one", "error", float(seed)), Found("two", "error", 10.0)]

    whole = SeededExperiment("made-up", "", [Problem("a", measure)])
    whole.run(tmp_path, repetitions=2, workers=1)
    rows = table(whole.run(tmp_path, repetitions=3, workers=1))
    assert calls == [0, 1, 2]
    assert [row["model"] for row in rows] == ["one", "two"]
    assert rows[0]["error"] == "1.000 (0.100 to 1.900)"
    assert rows[0]["seeds"] == "3"
    assert len(table(tmp_path / "made-up-runs.csv")) == 6


def test_networks_are_compared_with_ridge_models():
    pytest.importorskip("torch")
    networks = import_module("uptonoise.experiments.networks")
    found = {(one.model, one.measure): one.value for one in networks.direction(0, n_bags=200)}
    assert len(found) == 11 * len(networks.LEVELS)
    assert {"PLRR", "shrunk PLRR", "GLRR", "phase network", "Fourier network"} < {model for model, _ in found}
    assert all(0 < value < 5 for value in found.values())


def test_intervals_and_classes_of_networks():
    pytest.importorskip("torch")
    quantiles = import_module("uptonoise.experiments.network_quantiles")
    found = {(one.model, one.measure): one.value for one in quantiles.coverage(0, 60, 40)}
    assert found["phase network", "covered"] == pytest.approx(
        1 - found["phase network", "below"] - found["phase network", "above"]
    )
    classes = import_module("uptonoise.experiments.network_classes")
    bags, labels = classes.drawn(np.random.default_rng(0), 400, (1.0, 1.0))
    rows = bags.values.reshape(400, -1)
    for label in (0, 1):
        assert rows[labels == label].mean() == pytest.approx(0, abs=0.03)
        assert rows[labels == label].var() == pytest.approx(2, abs=0.1)


def test_the_number_of_workers_changes_nothing(tmp_path):
    whole = experiment("chi2-power")
    few = replace(whole, cells=lambda: whole.cells()[:2])
    one = few.run(tmp_path / "one", repetitions=30, workers=1)
    two = few.run(tmp_path / "two", repetitions=30, workers=2)
    assert one.read_bytes() == two.read_bytes()
    rows = table(one)
    assert [row["N"] for row in rows] == ["100", "200"]
    assert float(rows[1]["me"]) > 0.9


def test_a_cell_that_leaves_the_band_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_rejections, "_AGAIN", 400)

    class Result:
        def __init__(self, pvalue):
            self.pvalue = pvalue

    def draw(generator):
        return np.zeros(3), np.zeros(3)

    def liberal(X, Y, random_state):
        return Result(random_state.random() / 4)

    def right(X, Y, random_state):
        return Result(random_state.random())

    cell = Cell({"N": 1}, draw, {"liberal": liberal, "right": right}, frozenset({"liberal", "right"}))
    path = Experiment("made-up", "", lambda: [cell]).run(tmp_path, repetitions=300, workers=1)
    again = table(path)[0]["again"]
    assert again.startswith("liberal at 0.05: 0.")
    assert again.endswith("in 400, ABOVE it")


def test_sizes_go_up_until_the_power_is_there(tmp_path):
    def draw(generator, sizes):
        return generator.normal(size=sizes[0]), generator.normal(1.0, size=sizes[1])

    def t_test(X, Y, random_state):
        return stats.ttest_ind(X, Y)

    def never(X, Y, random_state):
        return stats.ttest_ind(X, X)

    shift = Alternative(draw, 1)
    few = SizeExperiment(
        "made-up", "", {"shift": shift}, {"t": t_test, "never": never}, lambda _: {"t": 99, "never": 99}
    )
    (row,) = table(few.run(tmp_path, repetitions=400, workers=1))
    assert row["t"] == "25"  # 22 rows have power 0.9
    assert row["never"] == "over 99"
    assert interpolated((100, 0.85), (200, 0.95)) == pytest.approx(100 * np.sqrt(2))


def test_wald_band_is_that_of_the_paper():
    low, high = wald_band(0.05, 1000)
    assert high - 0.05 == pytest.approx(0.0177, abs=1e-4)
    assert low == pytest.approx(0.1 - high)


@needs_higgs
def test_higgs_draws_are_disjoint(monkeypatch):
    monkeypatch.setenv("UPTONOISE_DATA", str(DATA))
    cells = {cell.settings["X"]: cell for cell in experiment("higgs-high-level").cells() if cell.settings["N"] == 500}
    X, Y = cells["signal"].draw(np.random.default_rng(0))
    assert len(np.unique(np.concatenate([X, Y]), axis=0)) == 1000
    X, Y = cells["background"].draw(np.random.default_rng(0))
    assert un.me_test(X, Y, random_state=0).pvalue < 0.01


def test_command_line_names_the_experiments():
    done = subprocess.run(
        [sys.executable, "-m", "uptonoise.experiments", "--help"], capture_output=True, text=True, check=True
    )
    for name in NAMES:
        assert name in done.stdout
