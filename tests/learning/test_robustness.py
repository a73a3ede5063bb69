import json
import pickle

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise import plots
from uptonoise.datasets import make_gamma_bags
from uptonoise.learning import RobustnessCurve, robustness_curve
from uptonoise.learning.noise import KINDS


@pytest.fixture(scope="module")
def bags():
    """Two columns of very different scales, in bags of 20 to 60 rows."""
    rng = np.random.default_rng(0)
    samples = [rng.exponential(size=(size, 2)) * [1.0, 100.0] for size in rng.integers(20, 60, size=50)]
    ids = [f"bag {number}" for number in range(50)]
    return un.Bags(samples, ids=ids, labels=rng.normal(size=50).tolist(), columns=["length", "width"])


@pytest.fixture(scope="module")
def regression():
    bags, _ = make_gamma_bags(120, n_rows=(20, 40), noise=0.0, random_state=0)
    return un.plrr(random_state=0, scale_factors=[1.0]).fit(bags[:80]), bags[80:]


@pytest.fixture(scope="module")
def classification():
    rng = np.random.default_rng(0)
    classes = np.array(["ill", "well", "well"] * 40)
    bags = un.Bags([rng.gamma(1 if one == "ill" else 4, size=(30, 1)) for one in classes], labels=classes)
    model = un.make_bag_classifier(n_frequencies=20, scale_factors=[1.0], Cs=[1.0, 10.0], random_state=0)
    return model.fit(bags[:60], classes[:60]), bags[60:]


def test_clean_error_in_every_repeat_and_the_error_of_the_mean(regression):
    model, bags = regression
    curve = robustness_curve(model, bags, levels=[1, 0, 0.5], n_repeats=6)
    assert curve.levels.tolist() == [1, 0, 0.5]
    assert curve.errors.shape == (3, 6)
    clean = root_mean_squared_error(bags.labels, model.predict(bags))
    np.testing.assert_array_equal(curve.errors[1], clean)
    # The mean of equal numbers is that number only up to rounding.
    np.testing.assert_allclose([curve.mean[1], curve.low[1], curve.high[1]], clean, rtol=1e-12)
    assert curve.baseline == pytest.approx(bags.labels.std())
    assert curve.metric == "RMSE"
    assert len(set(curve.errors[0])) == 6
    np.testing.assert_allclose([curve.low, curve.high], np.quantile(curve.errors, [0.05, 0.95], axis=1))


def test_error_of_a_known_model_has_its_closed_form(rng):
    """Where the target is the mean of the bag, the squared error is level * v / (2 * rows) on average."""
    bags = un.Bags(rng.normal(size=(400, 25, 1)))
    means = un.MeanFeatures().fit_transform(bags)[:, 0]
    model = make_pipeline(un.MeanFeatures(), LinearRegression()).fit(bags, means)
    curve = robustness_curve(model, bags, means, levels=[0, 1, 4], n_repeats=50, variances=[2.0], kind="laplace")
    np.testing.assert_allclose((curve.errors**2).mean(axis=1), np.array([0, 1, 4]) * 2.0 / 50, rtol=0.03, atol=1e-20)
    np.testing.assert_allclose(curve.errors[2], 2 * curve.errors[1])  # one direction of noise at all levels


def test_same_seed_same_curve_whatever_the_jobs(regression):
    model, bags = regression
    curve = robustness_curve(model, bags, n_repeats=4, random_state=7)
    assert curve == robustness_curve(model, bags, n_repeats=4, random_state=7)
    with joblib.parallel_config(backend="threading"):
        assert curve == robustness_curve(model, bags, n_repeats=4, random_state=7, n_jobs=3)
    assert curve != robustness_curve(model, bags, n_repeats=4, random_state=8)
    np.testing.assert_array_equal(
        robustness_curve(model, bags, n_repeats=2, random_state=7).errors, curve.errors[:, :2]
    )
    few = robustness_curve(model, bags, levels=[2, 10], n_repeats=4, random_state=7)
    np.testing.assert_array_equal(few.errors, curve.errors[[3, 6]])


@pytest.mark.slow  # processes take seconds to start; threads are tested above
def test_processes_give_the_same_curve(regression):
    model, bags = regression
    curve = robustness_curve(model, bags, n_repeats=2, random_state=7)
    assert curve == robustness_curve(model, bags, n_repeats=2, random_state=7, n_jobs=2)


def test_several_targets_are_averaged(regression):
    _, bags = regression
    targets = np.column_stack([bags.labels, 10 * bags.labels**2])
    both = make_pipeline(un.MeanFeatures(), Ridge()).fit(bags, targets)
    each = [make_pipeline(un.MeanFeatures(), Ridge()).fit(bags, one) for one in targets.T]
    curve = robustness_curve(both, bags, targets, n_repeats=3)
    of_each = [robustness_curve(model, bags, one, n_repeats=3) for model, one in zip(each, targets.T, strict=True)]
    np.testing.assert_allclose(curve.errors, np.mean([one.errors for one in of_each], axis=0))
    assert curve.baseline == pytest.approx(np.mean([one.baseline for one in of_each]))


def test_classifiers_have_a_share_of_wrong_classes(classification):
    search, bags = classification
    assert isinstance(search, GridSearchCV)
    for model in (search, search.best_estimator_):
        curve = robustness_curve(model, bags, levels=[0, 5], n_repeats=5)
        assert curve.metric == "error rate"
        np.testing.assert_allclose(curve.errors[0], 1 - accuracy_score(bags.labels, model.predict(bags)))
        assert curve.baseline == pytest.approx(1 / 3)
        assert curve.mean[1] > curve.mean[0]
        assert curve.baseline_name == "predicting the most common class"
    given = robustness_curve(search, un.Bags(list(bags)), list(bags.labels), levels=[0, 5], n_repeats=5)
    assert given == curve


def test_level_zero_alone(regression):
    model, bags = regression
    assert robustness_curve(model, bags, levels=0, n_repeats=3).errors.shape == (1, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_curve_of_every_kind(kind, regression):
    model, bags = regression
    curve = robustness_curve(model, bags, levels=[0, 1], n_repeats=2, kind=kind)
    assert curve.kind == kind
    assert np.isfinite(curve.errors).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": [0, -1]}, "levels must be one or more finite numbers that are not negative"),
        ({"levels": []}, "levels must be one or more"),
        ({"levels": [np.nan]}, "levels must be one or more"),
        ({"levels": [[1.0]]}, "levels must be one or more"),
        ({"levels": ["high"]}, "levels must hold real numbers"),
        ({"kind": "pink"}, "kind must be one of"),
        ({"n_repeats": 0}, "n_repeats must be a positive integer"),
        ({"n_repeats": 2.5}, "n_repeats must be a positive integer"),
        ({"y": [1.0, 2.0]}, "y must have one target for each of 40 bags; got shape"),
        ({"y": 1.0}, "y must have one target"),
        ({"y": ["a"] * 40}, "y must hold real numbers"),
        ({"y": [np.nan] + [1.0] * 39}, "y must be finite; got nan for bag 0"),
        ({"variances": [1.0, 2.0]}, "variances must be"),
        ({"random_state": "seed"}, "random_state must be"),
    ],
)
def test_bad_curves(regression, options, message):
    model, bags = regression
    with pytest.raises(ValueError, match=message):
        robustness_curve(model, bags, **options)


def test_classes_must_be_one_a_bag(classification):
    model, bags = classification
    with pytest.raises(ValueError, match="y must have one class for each of 60 bags"):
        robustness_curve(model, bags, bags.labels[:, None])
    with pytest.raises(ValueError, match="y must be given where the bags have no labels"):
        robustness_curve(model, list(bags))


@pytest.mark.parametrize(
    "model", [un.plrr(), un.make_bag_classifier(), make_pipeline(un.MeanFeatures(), LogisticRegression())]
)
def test_models_that_are_not_fitted(model, regression):
    name = type(model).__name__
    with pytest.raises(NotFittedError, match=f"model must be fitted, and this {name} is not: call its fit"):
        robustness_curve(model, regression[1])


@pytest.mark.parametrize(("model", "got"), [(KMeans(), "a KMeans"), (un.BagRidgeCV, "the class"), ("plrr", "a str")])
def test_models_that_do_not_predict_targets(model, got, regression):
    with pytest.raises(ValueError, match=f"model must be a fitted regressor or classifier .*; got {got}"):
        robustness_curve(model, regression[1])


@pytest.fixture
def curve():
    errors = np.array([[0.5, 0.5], [0.75, 1.0]])
    return RobustnessCurve(levels=np.array([0.0, 2.0]), errors=errors, baseline=1.5, metric="RMSE", kind="cauchy")


def test_forms_of_a_curve(curve):
    frame = curve.to_frame()
    assert list(frame.columns) == ["level", "mean", "low", "high", "baseline"]
    assert frame["mean"].tolist() == [0.5, 0.875]
    assert frame["baseline"].tolist() == [1.5, 1.5]
    assert curve.to_frame("polars").shape == (2, 5)
    assert json.loads(json.dumps(curve.to_dict()))["errors"] == [[0.5, 0.5], [0.75, 1.0]]
    assert pickle.loads(pickle.dumps(curve)) == curve
    assert hash(pickle.loads(pickle.dumps(curve))) == hash(curve)
    assert curve != "a curve"
    assert "cauchy noise, 2 repeats (predicting the mean: 1.5)" in repr(curve)
    assert repr(curve).splitlines()[-1].split() == ["2", "0.875", "0.7625", "0.9875"]


def test_progress_is_shown_where_asked_for(regression, capsys):
    model, bags = regression
    robustness_curve(model, bags, levels=[1], n_repeats=3, progress=True)
    assert "| 3/3 " in capsys.readouterr().err
    robustness_curve(model, bags, levels=[1], n_repeats=3)
    assert capsys.readouterr().err == ""


def test_plot_of_several_curves_on_one_axes(curve):
    ax = Figure(layout="constrained").subplots()
    worse = RobustnessCurve(
        levels=curve.levels[::-1], errors=4 * curve.errors[::-1], baseline=1.5, metric="RMSE", kind="cauchy"
    )
    assert curve.plot(ax, label="a $1$") is ax
    assert worse.plot(ax=ax, label="b") is ax
    ax.figure.canvas.draw()
    assert plt.get_fignums() == []
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"a \$1\$", "b", "predicting the mean"]
    first, baseline, second = ax.get_lines()
    assert first.get_ydata().tolist() == [0.5, 0.875]
    assert second.get_xdata().tolist() == [0.0, 2.0]  # in order of levels
    assert second.get_ydata().tolist() == [2.0, 3.5]
    assert baseline.get_ydata()[0] == 1.5
    assert first.get_color() != second.get_color()
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > worse.high.max()


@pytest.mark.parametrize("size", [(6, 4), (1.5, 1)])
def test_plot_of_one_level_and_of_an_error_rate(size):
    one = RobustnessCurve(
        levels=np.array([1.0]), errors=np.array([[0.1, 0.2]]), baseline=0.5, metric="error rate", kind="t"
    )
    ax = one.plot(Figure(figsize=size).subplots())
    ax.figure.canvas.draw()
    assert ax.get_ylabel().replace("\n", " ").startswith("error rate")
    assert ax.get_legend().get_texts()[-1].get_text() == "predicting the most common class"


def test_plot_makes_a_figure(curve):
    plt.switch_backend("agg")
    ax = plots.plot(curve)
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_title(loc="left") == "Error with cauchy noise"
    plt.close(ax.figure)


def test_levels_beyond_what_a_model_was_fitted_against_are_told():
    bags, _ = make_gamma_bags(60, 30, noise=0.0, random_state=0)
    model = un.plrr(noise_augmentation=1.0, scale_factors=(1.0,), random_state=0).fit(bags)
    with pytest.warns(UserWarning, match="from 0 to 1; got `levels` up to 3"):
        un.robustness_curve(model, bags, levels=[0, 3], n_repeats=2)
    un.robustness_curve(model, bags, levels=[0, 1], n_repeats=2)
