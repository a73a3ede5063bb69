import csv
import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from real_data import DATA, needs_higgs
from scipy import stats

import uptonoise as un
from uptonoise.comparison import Verdict
from uptonoise.datasets import make_aerosol_like, make_gamma_bags
from uptonoise.experiments import NAMES, _experiment, abc, bag_models, covariate_shift, load as experiment, title
from uptonoise.experiments._alternatives import Alternative
from uptonoise.experiments._error_figures import noise_bands
from uptonoise.experiments._experiment import Experiment, Kept, Runner, Task
from uptonoise.experiments._figures import dots, wald_band
from uptonoise.experiments._rejections import Cell, RejectionExperiment
from uptonoise.experiments._seeded import Problem, SeededExperiment
from uptonoise.experiments.noise_sizes import SizeExperiment, interpolated


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(experiment(name), RejectionExperiment)])
def test_cells_have_names_of_their_own(name):
    cells = experiment(name).cells
    assert len({cell.name for cell in cells}) == len(cells) > 1
    assert all(cell.at_level | cell.at_most <= set(cell.tests) for cell in cells)
    assert experiment(name).name == name


def test_verdicts_of_a_cell_add_up_to_one(tmp_path):
    whole = experiment("verdicts")
    few = replace(whole, cells=whole.cells[1:2])
    row = table(few.run(tmp_path, repetitions=3, workers=1))[0]
    rates = [float(row[verdict]) for verdict in Verdict]
    assert sum(rates) == pytest.approx(1.0, abs=1e-3)
    assert len(whole.cells) == 20


def test_models_on_bags_are_compared_on_splits(tmp_path):
    whole = experiment("bag-models")

    def few_bags(random_state):
        bags, y = make_aerosol_like(60, 10, random_state=random_state)
        return bags, y

    def split(data, generator):
        order = generator.permutation(60)
        return bag_models.Part(order[:45], order[45:], None)

    setting = bag_models.Setting("few", few_bags, split, exact=True)
    rows = table(replace(whole, settings=lambda quick: (setting,)).run(tmp_path, repetitions=1, workers=1))
    assert [row["model"] for row in rows] == ["mean", *bag_models.MODELS, "exact kernel"]
    assert all(float(row["MSE"]) > 0 for row in rows)


def test_noise_that_training_bags_had_not(tmp_path, monkeypatch):
    whole = experiment("covariate-shift")
    monkeypatch.setattr(covariate_shift, "LEVELS", (0.0, 3.0))
    monkeypatch.setattr(covariate_shift, "KINDS", ("laplace",))

    def few_bags(random_state):
        bags, y = make_gamma_bags(60, 20, random_state=random_state)
        return bags, y

    def split(data, generator):
        order = generator.permutation(60)
        return bag_models.Part(order[:45], order[45:], None)

    setting = bag_models.Setting("few", few_bags, split)
    rows = table(replace(whole, settings=lambda quick: (setting,)).run(tmp_path, repetitions=1, workers=1))
    assert {row["model"] for row in rows} == {"mean", *covariate_shift.models()}
    assert {(row["noise"], row["level"]) for row in rows} == {
        (kind, level)
        for kind, level in (("gaussian", "0.0"), ("gaussian", "3.0"), ("laplace", "1.0"), ("laplace", "3.0"))
    }


def test_bags_of_other_sizes(tmp_path):
    whole = experiment("bag-sizes")
    few = [replace(one, fitted=10, tested=(5, (3, 30)), n_fitted=30, n_tested=20) for one in whole.settings(False)[:2]]
    rows = table(replace(whole, settings=lambda quick: few).run(tmp_path, repetitions=1, workers=1))
    assert {row["rows tested"] for row in rows} == {"5", "3 to 30"}
    assert {row["phases"] for row in rows} == {"mean", "plain", "shrunk"}


def test_inference_is_compared_by_noise(tmp_path):
    pytest.importorskip("matplotlib")
    whole = experiment("abc")
    assert whole.values["methods"] == tuple(abc.METHODS)
    tried = {"sigmas": (0.0, 0.1), "methods": ("DR", "semi-automatic", "rejection")}
    few = tried | {"n_training": 40, "n_particles": 150, "n_exact": (20, 60), "n_rows": 20}
    rows = table(replace(whole, values=whole.values | few).run(tmp_path, repetitions=5, workers=1))
    assert len(rows) == 3 * (2 + 3)
    assert {row["observed"] for row in rows} == {"as trained", "stronger", "Laplace"}
    assert all(0 < float(row["RMSE"]) < 10 for row in rows)
    larger = experiment("abc-rows")
    larger = replace(larger, values=larger.values | {"methods": ("rejection",), "n_particles": 150})
    assert len(table(larger.run(tmp_path, repetitions=3, workers=1))) == 3


def test_the_conjugate_posterior_is_the_measure(tmp_path):
    rows = table(experiment("conjugate").quickened().run(tmp_path, repetitions=40, workers=1))
    assert len(rows) == 6
    assert all(float(row["error of mean"]) < 0.6 and 0.7 < float(row["sd / exact"]) < 1.4 for row in rows)


def test_a_seeded_experiment_goes_on_where_it_stopped(tmp_path):
    calls = []

    def measure(seed, model):
        calls.append((seed, model))
        return {"error": float(seed) if model == "one" else 10.0}

    def with_settings(**settings):
        return SeededExperiment("made-up", "", [Problem("a", ("one", "two"), measure, settings)])

    whole = with_settings(n_epochs=3)
    whole.run(tmp_path, repetitions=2, workers=1)
    rows = table(whole.run(tmp_path, repetitions=3, workers=1))
    assert calls == [(seed, model) for seed in range(3) for model in ("one", "two")]  # seeds of the first run are read
    assert [row["model"] for row in rows] == ["one", "two"]
    assert rows[0]["error"] == "1.000 (0.100 to 1.900)"
    assert rows[0]["seeds"] == "3"
    assert len(table(tmp_path / "made-up-runs.csv")) == 6
    with_settings(n_epochs=4).run(tmp_path, repetitions=1, workers=1)  # other settings: nothing is taken over
    assert calls[6:] == [(0, "one"), (0, "two")]


def test_the_record_says_where_networks_were_trained(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    problem = Problem("a", ("one", "two"), lambda seed, model: {"error": float(seed)})
    plain = SeededExperiment("made-up", "", [problem])
    assert "device" not in json.loads(plain.run(tmp_path, workers=1).with_suffix(".json").read_text())
    whole = replace(plain, name="networks-made-up", uses_gpu=True)
    with monkeypatch.context() as patch:  # a run that another machine began
        patch.setattr(_experiment, "device_in_use", lambda: "some GPU")
        begun = whole.kept(tmp_path, whole.repetitions)
    begun.add(
        "a / seed 0 / one", [{"problem": "a", "seed": "0", "model": "one", "measure": "error", "value": "9"}], 1.0
    )
    monkeypatch.setattr(_experiment, "device_in_use", lambda: "cpu")
    path = whole.run(tmp_path, workers=1)
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["device"] == "cpu, some GPU"
    assert record["tasks_resumed"] == 1
    assert table(path)[0]["error"] == "5.400 (1.450 to 9.000)"


def test_networks_are_compared_with_ridge_models():
    pytest.importorskip("torch")
    networks = import_module("uptonoise.experiments.networks")
    (problem,) = networks.EXPERIMENT.quickened().problems[1:]
    assert {"PLRR", "shrunk PLRR", "GLRR", "phase network", "Fourier network"} < set(problem.models)
    for model in ("GLRR", "phase network", "Fourier network, against noise"):
        found = problem.measure(0, model)
        assert list(found) == [f"noise {level:g}" for level in networks.LEVELS]
        assert all(0 < value < 5 for value in found.values())
    assert problem.measure(0, model) == found


def test_intervals_and_classes_of_networks():
    pytest.importorskip("torch")
    quantiles = import_module("uptonoise.experiments.network_quantiles")
    found = quantiles.coverage(0, "phase network", 60, 40)
    assert found["covered"] == pytest.approx(1 - found["below"] - found["above"])
    assert found != quantiles.coverage(0, "phase network, not calibrated", 60, 40)
    classes = import_module("uptonoise.experiments.network_classes")
    bags, labels = classes.noisy_classes(np.random.default_rng(0), 400, (1.0, 1.0))
    rows = bags.values.reshape(400, -1)
    for label in (0, 1):
        assert rows[labels == label].mean() == pytest.approx(0, abs=0.03)
        assert rows[labels == label].var() == pytest.approx(2, abs=0.1)


def test_the_number_of_workers_changes_nothing(tmp_path):
    whole = experiment("chi2-power")
    cell = whole.cells[0]
    few = replace(whole, cells=[replace(cell, tests={"me": cell.tests["me"]})])
    one = few.run(tmp_path / "one", repetitions=27, workers=1)
    two = few.run(tmp_path / "two", repetitions=27, workers=2)
    assert one.read_bytes() == two.read_bytes()
    (row,) = table(one)
    assert row["N"] == "100"
    assert float(row["me"]) > 0.9


def test_a_cell_that_leaves_the_band_is_run_again(tmp_path):
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
    path = RejectionExperiment("made-up", "", [cell]).run(tmp_path, repetitions=100, workers=1)
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
        "made-up",
        "",
        {"shift": shift},
        {"t": t_test, "never": never},
        {"shift": {"t": 99, "never": 99}},
        draw=dots(["samples"], ["t"], ""),
    )
    (row,) = table(few.run(tmp_path, repetitions=400, workers=1))
    assert row["t"] == "25"  # 22 rows have power 0.9
    assert row["never"] == "over 99"
    assert interpolated((100, 0.85), (200, 0.95)) == pytest.approx(100 * np.sqrt(2))


def test_errors_of_seeds_are_drawn_with_bands():
    levels = {"noise 0": "0.400 (0.300 to 0.500)", "noise 0.1": "2.000 (1.000 to 4.000)"}
    rows = [{"problem": p, "model": m} | levels | {"seeds": "10"} for p in ("a", "b") for m in ("one", "two", "three")]
    figure = noise_bands({"first": ["one", "three"], "second": ["two"]}, "error", 1.0)("made up", rows)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        f"{problem}: {group} (10 seeds)" for problem in "ab" for group in ("first", "second")
    ]
    assert [[text.get_text() for text in ax.get_legend().get_texts()] for ax in figure.axes[:2]] == [
        ["one", "three"],
        ["two"],
    ]
    (band,) = figure.axes[1].collections
    assert band.get_paths()[0].get_extents().extents.tolist() == [0, 0.3, 1, 4]
    assert [tick.get_text() for tick in figure.axes[1].get_xticklabels()] == ["0", "0.1"]


def test_wald_band_is_that_of_the_paper():
    low, high = wald_band(0.05, 1000)
    assert high - 0.05 == pytest.approx(0.0177, abs=1e-4)
    assert low == pytest.approx(0.1 - high)


@needs_higgs
def test_higgs_draws_are_disjoint(monkeypatch):
    monkeypatch.setenv("UPTONOISE_DATA", str(DATA))
    cells = {cell.settings["X"]: cell for cell in experiment("higgs-high-level").cells if cell.settings["N"] == 500}
    X, Y = cells["signal"].draw(np.random.default_rng(0))
    assert len(np.unique(np.concatenate([X, Y]), axis=0)) == 1000
    X, Y = cells["background"].draw(np.random.default_rng(0))
    assert un.me_test(X, Y, random_state=0).pvalue < 0.01


def test_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "uptonoise", "reproduce", "--list", "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == list(NAMES)


def test_every_experiment_is_in_the_frame():
    for name in NAMES:
        one = experiment(name)
        assert isinstance(one, Experiment)
        assert one.name == name
        assert one.paper == title(name)
        assert one.paper.endswith(".")
        assert one.repetitions >= 1
        json.dumps(one.described())


def check_quick(name, folder):
    """Run an experiment quickly, and look at all that it must write."""
    path = experiment(name).run(folder, workers=1, quick=True)
    assert len(table(path)) > 0
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["experiment"] == name
    assert record["quick"] is True
    assert record["seed"] == 0
    assert record["settings"]
    assert record["versions"]["uptonoise"] == un.__version__
    assert record["duration_s"] >= 0
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in path.with_suffix(".svg").read_bytes()
    assert not list(folder.glob("*.jsonl"))
    return path


@pytest.mark.parametrize("name", ["same-phase", "paired-differences"])
def test_quick_runs(name, tmp_path):
    check_quick(name, tmp_path)


@needs_higgs
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_quick_runs(name, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("UPTONOISE_DATA", str(DATA))
    check_quick(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("aerosol-noise", "chi2-small-noise", "conjugate", "planning", "networks"),
        pytest.param("noise-sizes", marks=needs_higgs),
    ],
)
def test_workers_change_no_frame(name, tmp_path, monkeypatch):
    monkeypatch.setenv("UPTONOISE_DATA", str(DATA))
    one, two = (experiment(name).run(tmp_path / str(k), workers=k, quick=True) for k in (1, 2))
    assert one.read_bytes() == two.read_bytes()


def test_a_figure_is_drawn_again_from_the_table_alone(tmp_path, monkeypatch):
    path = check_quick("same-phase", tmp_path)
    before = path.with_suffix(".png").read_bytes(), path.with_suffix(".svg").read_bytes()
    for end in (".png", ".svg", ".json"):
        path.with_suffix(end).unlink()
    monkeypatch.setattr(Runner, "map", None)
    experiment("same-phase").redraw(tmp_path)
    assert (path.with_suffix(".png").read_bytes(), path.with_suffix(".svg").read_bytes()) == before
    with pytest.raises(FileNotFoundError, match="run the experiment first"):
        experiment("chi2-power").redraw(tmp_path)


def test_stand_ins_are_named_in_the_title():
    numbers = {"RMSE": "0.2", "5 %": "0.1", "95 %": "0.3", "MSE": "0.04", "splits": "2"}
    rows = [{"bags": "dark-matter-like", "model": model} | numbers for model in ("mean", "plrr")]
    drawn = experiment("dark-matter-table").figure(rows)
    assert "stand-in" in drawn.get_suptitle()
    assert "stand-in" in drawn.axes[0].get_title(loc="left")
    real = experiment("dark-matter-table").figure([row | {"bags": "dark matter"} for row in rows])
    some = experiment("dark-matter-table").figure([rows[0], rows[1] | {"splits": "30"}])
    assert "(2 to 30 splits)" in some.axes[0].get_title(loc="left")
    assert "stand-in" not in real.get_suptitle() + real.axes[0].get_title(loc="left")


def drawn_lines(ax):
    return [line for line in ax.get_lines() if len(line.get_xdata()) > 2]


def test_errors_under_noise_have_a_panel_a_group_with_the_same_heights():
    numbers = {"5 %": "0.1", "95 %": "0.3", "MSE": "0.04", "draws": "2"}
    rows = [
        {"bags": "misr1-like", "model": model, "level": level, "split": split, "RMSE": error} | numbers
        for split in ("0", "1")
        for model, error in [("mean", "0.2"), ("plrr", "0.1"), ("glrr", "0.2"), ("shrunk plrr", "0.01")]
        for level in ("0.0", "1.0", "2.0")
    ]
    figure = experiment("aerosol-noise").figure(rows)
    papers, _, ours = figure.axes
    assert (len(drawn_lines(papers)), len(drawn_lines(ours))) == (2, 2)
    assert papers.get_ylim() == ours.get_ylim()
    assert all("stand-in" in ax.get_title(loc="left") and ax.get_yscale() == "log" for ax in figure.axes)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["mean", "plrr", "glrr", "shrunk plrr"]


def test_errors_by_bag_size_have_a_line_for_phases_and_level():
    numbers = {"5 %": "0.1", "95 %": "0.3", "MSE": "0.04", "RMSE": "0.2", "splits": "2"}
    rows = [
        {"bags": "gamma", "rows fitted": "100", "rows tested": size, "level": level, "phases": phases} | numbers
        for size in ("20", "100", "5 to 5000")
        for level in ("0.0", "3.0")
        for phases in ("mean", "plain", "shrunk")
    ]
    figure = experiment("bag-sizes").figure(rows)
    (ax,) = figure.axes
    assert len(drawn_lines(ax)) == 4
    assert [label.get_text() for label in ax.get_xticklabels()] == ["20", "100", "5 to 5000"]
    assert len(figure.legends[0].get_texts()) == 5


def test_a_user_s_own_data_take_the_place_of_stand_ins(tmp_path, monkeypatch):
    rows = ["cluster,line_of_sight,velocity,log_mass"]
    rng = np.random.default_rng(0)
    rows += [f"{bag},1,{rng.normal():.3f},{14 + bag / 100}" for bag in range(40) for _ in range(5)]
    (tmp_path / "dark_matter.csv").write_text("\n".join(rows) + "\n")
    fits = import_module("uptonoise.experiments._bag_fits")
    monkeypatch.setenv("UPTONOISE_DATA", str(tmp_path))
    assert fits.dark_matter().name == "dark matter"
    assert len(fits.dark_matter().draw(0).bags) == 40
    monkeypatch.setenv("UPTONOISE_DATA", str(tmp_path / "nowhere"))
    monkeypatch.chdir(tmp_path)
    assert fits.aerosol(quick=False).name == "misr1-like"


def doubled(number):
    if number == 3:
        raise KeyboardInterrupt
    return [2 * number, 0.1 + number]


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    header, path = {"experiment": "a", "runs": 3}, tmp_path / "a.unfinished.jsonl"
    tasks = [Task(f"task {number}", doubled, (number,)) for number in range(5)]
    with pytest.raises(KeyboardInterrupt):
        Runner("a", Kept(path, header), workers=1).map(tasks)
    assert len(path.read_text().splitlines()) == 4
    with path.open("a") as file:
        file.write('{"key": "task 3", "fou')  # cut off in the middle of a line
    kept = Kept(path, header)
    assert kept.n_resumed == 3
    others = [task for task in tasks if task.arguments != (3,)]
    assert Runner("a", kept, workers=1).map(others) == [[0, 0.1], [2, 1.1], [4, 2.1], [8, 4.1]]
    assert Kept(path, header).results["task 4"] == [8, 4.1]
    with pytest.raises(ValueError, match="interrupted run with runs 3; run that again to end it, or delete the file"):
        Kept(path, header | {"runs": 4})


def test_a_resumed_run_gives_the_same_table(tmp_path, monkeypatch):
    def draw(generator):
        return generator.normal(size=20), generator.normal(0.5, size=20)

    def t_test(X, Y, random_state):
        return stats.ttest_ind(X, Y)

    few = RejectionExperiment("made-up", "", [Cell({"N": 20}, draw, {"t": t_test})])
    through = few.run(tmp_path / "through", repetitions=50, workers=1)
    done = []

    def stops(self, key, found, seconds):
        if done:
            raise KeyboardInterrupt
        done.append(key)
        keep(self, key, found, seconds)

    keep = _experiment.Kept.add
    with monkeypatch.context() as patch:
        patch.setattr(_experiment.Kept, "add", stops)
        with pytest.raises(KeyboardInterrupt):
            few.run(tmp_path / "resumed", repetitions=50, workers=1)
    assert (tmp_path / "resumed" / "made-up.unfinished.jsonl").exists()
    resumed = few.run(tmp_path / "resumed", repetitions=50, workers=1)
    assert resumed.read_bytes() == through.read_bytes()
    assert json.loads(resumed.with_suffix(".json").read_text())["tasks_resumed"] == 1


def test_a_quick_run_does_not_overwrite_a_full_one(tmp_path):
    (tmp_path / "same-phase.csv").write_text("of a full run\n")
    with pytest.raises(FileExistsError, match="give another folder"):
        experiment("same-phase").run(tmp_path, quick=True)
    assert (tmp_path / "same-phase.csv").read_text() == "of a full run\n"
