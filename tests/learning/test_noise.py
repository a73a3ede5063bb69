"""Noise on bags against closed forms, and the error of fitted models against it."""

import json
import pickle

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import kstest, norm, t
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise import plots
from uptonoise.datasets import make_gamma_bags
from uptonoise.learning import RobustnessCurve, add_noise, robustness_curve
from uptonoise.learning.noise import KINDS

# The median absolute value of noise of variance 1; of Cauchy noise, by definition, that of the Gaussian.
MEDIANS = {
    "gaussian": norm.ppf(0.75),
    "laplace": np.log(2) / np.sqrt(2),
    "cauchy": norm.ppf(0.75),
    "t": t.ppf(0.75, 3) / np.sqrt(3),
    "mixture": brentq(lambda x: 0.8 * norm.cdf(2 * x) + 0.2 * norm.cdf(x / 2) - 0.75, 0, 5),
    "uniform": np.sqrt(3) / 2,
}


@pytest.fixture(scope="module")
def bags():
    """Two columns of very different scales, in bags of 20 to 60 rows."""
    rng = np.random.default_rng(0)
    samples = [rng.exponential(size=(size, 2)) * [1.0, 100.0] for size in rng.integers(20, 60, size=50)]
    ids = [f"bag {number}" for number in range(50)]
    return un.Bags(samples, ids=ids, labels=rng.normal(size=50).tolist(), columns=["length", "width"])


def added(bags, level, kind="gaussian", **options):
    return add_noise(bags, level, kind, **options).values - bags.values


@pytest.mark.parametrize("kind", KINDS)
def test_medians_of_bags_are_those_of_uniform_variances(kind):
    zeros = un.Bags(np.zeros((300, 4_000, 2)))
    noise = added(zeros, 3.0, kind, variances=[1.0, 25.0], random_state=1).reshape(300, 4_000, 2)
    variances = (np.median(np.abs(noise), axis=1) / MEDIANS[kind]) ** 2 / [3.0, 75.0]
    for of_column in variances.T:
        assert kstest(of_column, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(variances.T)[0, 1]) < 0.2  # each column has a draw of its own
    assert np.abs(np.median(noise, axis=1) / noise.std(axis=1)).max() < 0.1


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"cauchy", "t"}))
def test_variance_of_noise_is_half_the_level(kind, bags):
    pooled = bags.values.var(axis=0)
    noise = np.stack([added(bags, 2.0, kind, random_state=seed) for seed in range(100)])
    np.testing.assert_allclose(noise.var(axis=(0, 1)), pooled, rtol=0.05)


def test_rows_of_uniform_noise_are_bounded():
    noise = added(un.Bags(np.zeros((10, 1_000, 1))), 4.0, "uniform", variances=[1.0], random_state=0)
    assert np.abs(noise).max() <= np.sqrt(12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_noise_at_every_level(kind, bags):
    one = added(bags, 1.0, kind, random_state=3)
    np.testing.assert_allclose(added(bags, 9.0, kind, random_state=3), 3 * one, atol=1e-9 * np.abs(one).max())
    assert add_noise(bags, 0.0, kind, random_state=3) == bags
    assert add_noise(bags, 1.0, kind, random_state=3) == add_noise(bags, 1.0, kind, random_state=3)
    assert add_noise(bags, 1.0, kind, random_state=3) != add_noise(bags, 1.0, kind, random_state=4)


def test_all_but_the_values_is_kept(bags):
    before = bags.values.copy()
    noisy = add_noise(bags, 1.0, random_state=0)
    assert noisy.ids.tolist() == bags.ids.tolist()
    assert noisy.labels.tolist() == bags.labels.tolist()
    assert noisy.columns == ("length", "width")
    assert noisy.named
    assert noisy.sizes.tolist() == bags.sizes.tolist()
    np.testing.assert_array_equal(bags.values, before)
    assert not noisy.values.flags.writeable


def test_bags_without_labels_and_lists_of_arrays(rng):
    samples = [rng.normal(size=(5, 1)), rng.normal(size=(8, 1))]
    noisy = add_noise(samples, 1.0, random_state=0)
    assert noisy == add_noise(un.Bags(samples), 1.0, random_state=0)
    assert noisy.labels is None


def test_float32_stays(rng):
    bags = un.Bags(rng.normal(size=(5, 20, 2)).astype(np.float32))
    assert add_noise(bags, 1.0, random_state=0).values.dtype == np.float32


def test_given_variances_replace_those_of_the_bags(bags):
    noise = added(bags, 1.0, variances=[4.0, 0.0], random_state=0)
    own = added(bags, 1.0, random_state=0)
    np.testing.assert_allclose(noise[:, 0], own[:, 0] * 2 / bags.values[:, 0].std(), atol=1e-12)
    assert (noise[:, 1] == 0).all()


def test_constant_columns_get_no_noise(rng):
    values = rng.normal(size=(20, 30, 3))
    values[..., 1] = 0.1  # whose computed variance is not 0
    assert values.reshape(-1, 3).var(axis=0)[1] > 0
    noise = added(un.Bags(values), 1.0, random_state=0)
    assert (noise[:, 1] == 0).all()
    assert (noise[:, [0, 2]] != 0).all()


def test_phases_stay_where_noise_is_positive_definite():
    bags = un.Bags(np.random.default_rng(0).exponential(size=(1, 400_000, 1)))
    W = np.array([[2.5]])
    clean = np.angle(un.ecf(bags, W))
    # Uniform noise on (-a, a) turns the sign where pi < a w < 2 pi, which most variances give here.
    for kind, turned in (("gaussian", False), ("laplace", False), ("cauchy", False), ("t", False), ("uniform", True)):
        noisy = np.angle(un.ecf(add_noise(bags, 1.0, kind, variances=[1.6], random_state=0), W))
        gap = np.abs(np.angle(np.exp(1j * (noisy - clean)))).item()
        assert gap == pytest.approx(np.pi if turned else 0.0, abs=0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": -1.0}, "level must be a finite number that is not negative; got -1.0"),
        ({"level": np.nan}, "level must be"),
        ({"level": np.inf}, "level must be"),
        ({"level": "much"}, "level must be"),
        ({"level": [1.0]}, "level must be"),
        ({"level": 1.0, "kind": "pink"}, "kind must be one of gaussian, .*uniform; got 'pink'"),
        ({"level": 1.0, "kind": None}, "kind must be"),
        ({"level": 1.0, "variances": [1.0]}, "variances must be .* each of 2 columns"),
        ({"level": 1.0, "variances": [1.0, -1.0]}, "variances must be"),
        ({"level": 1.0, "variances": [1.0, np.nan]}, "variances must be"),
        ({"level": 1.0, "variances": ["a", "b"]}, "variances must hold real numbers"),
        ({"level": 1e308, "variances": [1e308, 1.0]}, "level=1e\\+308 makes noise too large"),
        ({"level": 1.0, "random_state": -1}, "random_state must be"),
    ],
)
def test_bad_noise(bags, options, message):
    with pytest.raises(ValueError, match=message):
        add_noise(bags, **{"random_state": 0} | options)


def test_values_without_a_variance():
    with pytest.raises(ValueError, match="bags must have columns of finite variance"):
        add_noise([np.array([[-1e200], [1e200]])], 1.0)
    with pytest.raises(ValueError, match="bags"):
        add_noise(np.zeros((3, 2)), 1.0)


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
    assert curve.mean[1] == curve.low[1] == curve.high[1] == pytest.approx(clean, rel=1e-12)
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
    assert curve == robustness_curve(model, bags, n_repeats=4, random_state=7, n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        assert curve == robustness_curve(model, bags, n_repeats=4, random_state=7, n_jobs=3)
    assert curve != robustness_curve(model, bags, n_repeats=4, random_state=8)
    np.testing.assert_array_equal(
        robustness_curve(model, bags, n_repeats=2, random_state=7).errors, curve.errors[:, :2]
    )
    few = robustness_curve(model, bags, levels=[2, 10], n_repeats=4, random_state=7)
    np.testing.assert_array_equal(few.errors, curve.errors[[3, 6]])


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
    assert "3/3" in capsys.readouterr().err
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
    with pytest.warns(UserWarning, match="from 0 to 1; got levels up to 3"):
        un.robustness_curve(model, bags, levels=[0, 3], n_repeats=2)
    un.robustness_curve(model, bags, levels=[0, 1], n_repeats=2)
