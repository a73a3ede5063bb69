"""Generated bad calls to all that learns, watches or simulates: parameters, bags, targets and options of methods."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bad_calls import VALUES, faults_of, options_of, tricky_samples, value_of
from scipy import stats
from sklearn.preprocessing import StandardScaler

import uptonoise as un

RNG = np.random.default_rng(0)
BAGS = un.Bags([RNG.gamma(1 + i % 4, size=(6, 2)) for i in range(16)])
Y = np.arange(16.0)
CLASSES = np.array(["a", "b"] * 8)
ROWS = RNG.normal(size=(60, 2))
W = np.array([[0.5, 1.0], [1.0, -0.3], [0.2, 0.1]])
SMALL = {"n_frequencies": 3, "random_state": 0}
RIDGE = {**SMALL, "scale_factors": (1.0, 2.0), "alphas": (0.1, 1.0), "cv": 2}
NET = {**SMALL, "n_epochs": 1, "device": "cpu", "progress": False}
TRICKY = {name: sample for name, sample in tricky_samples().items() if name != "a generator of bags"}
PRIOR = {"rate": stats.gamma(2.0)}


def simulator(theta, rng):
    return rng.exponential(theta, size=(5, 1))


# What makes a model with parameters, and its targets.
MODELS = {
    "BagRegressor": (lambda **params: un.BagRegressor(**SMALL | params), Y),
    "BagClassifier": (lambda **params: un.BagClassifier(**SMALL | params), CLASSES),
    "BagRidgeCV": (lambda **params: un.BagRidgeCV(**RIDGE | params), Y),
    "BagSummary": (lambda **params: un.BagSummary(**SMALL | params), None),
    "PhaseFeatures": (lambda **params: un.PhaseFeatures(**SMALL | params), None),
    "FourierFeatures": (lambda **params: un.FourierFeatures(**SMALL | params), None),
    "MeanFeatures": (lambda **params: un.MeanFeatures(**params), None),
    "RowTransformer": (lambda **params: un.RowTransformer(**{"transformer": StandardScaler()} | params), None),
    "NoiseAugmented": (
        lambda **params: un.NoiseAugmented(**{"transformer": un.plrr(**RIDGE), "random_state": 0} | params),
        Y,
    ),
    "KernelBagRidge": (lambda **params: un.inference.KernelBagRidge(**params), Y),
}
NETS = {
    "PhaseNetRegressor": (lambda **params: un.nets.PhaseNetRegressor(**NET | params), Y),
    "FourierNetClassifier": (lambda **params: un.nets.FourierNetClassifier(**NET | params), CLASSES),
}
FUNCTIONS = {
    "add_noise": (lambda **options: un.add_noise(**{"bags": BAGS, "level": 1.0} | options), un.add_noise),
    "make_bag_classifier": (
        lambda **options: un.make_bag_classifier(
            **{"n_frequencies": 3, "scale_factors": (1.0,), "Cs": (1.0,), "cv": 2} | options
        ).fit(BAGS, CLASSES),
        un.make_bag_classifier,
    ),
    "robustness_curve": (
        lambda **options: un.robustness_curve(
            **{"model": ridge_model(), "bags": BAGS, "y": Y, "levels": (0, 1), "n_repeats": 2, "progress": False}
            | options
        ),
        un.robustness_curve,
    ),
    "embedding_kernel": (lambda **options: un.embedding_kernel(BAGS, **options), un.embedding_kernel),
    "fourier_kernel": (lambda **options: un.fourier_kernel(BAGS, **{"frequencies": W} | options), un.fourier_kernel),
    "phase_kernel": (lambda **options: un.phase_kernel(BAGS, **{"frequencies": W} | options), un.phase_kernel),
    "pairwise_mmd": (lambda **options: un.pairwise_mmd(BAGS, **{"frequencies": W} | options), un.pairwise_mmd),
    "pairwise_phd": (lambda **options: un.pairwise_phd(BAGS, **{"frequencies": W} | options), un.pairwise_phd),
    "phase": (lambda **options: un.phase(ROWS, **{"frequencies": W} | options), un.phase),
    "Monitor": (lambda **options: un.Monitor(**{"reference": ROWS} | options).update(ROWS[:20]), un.Monitor),
    "Monitor.update": (lambda **options: un.Monitor(ROWS).update(**{"batch": ROWS[:20]} | options), un.Monitor.update),
    "Monitor.extend_reference": (
        lambda **options: un.Monitor(ROWS).extend_reference(**{"rows": ROWS} | options),
        un.Monitor.extend_reference,
    ),
    "Monitor.has_seen": (lambda **options: un.Monitor(ROWS).has_seen(**{"name": "a"} | options), un.Monitor.has_seen),
    "Sketch.for_groups": (lambda **options: un.Sketch.for_groups(BAGS, **options), un.Sketch.for_groups),
    "Bags.to_frame": (lambda **options: BAGS.to_frame(**options), un.Bags.to_frame),
    "predict_interval": (
        lambda **options: regressor().predict_interval(BAGS, **options),
        un.BagRegressor.predict_interval,
    ),
    "score": (lambda **options: regressor().score(BAGS, **{"y": Y} | options), un.BagRegressor.score),
    "fit": (lambda **options: un.BagRegressor(**SMALL).fit(BAGS, **{"y": Y} | options), un.BagRegressor.fit),
    "fit of a ridge": (lambda **options: un.BagRidgeCV(**RIDGE).fit(BAGS, **{"y": Y} | options), un.BagRidgeCV.fit),
    "BagRidgeCV.paper": (lambda **options: un.BagRidgeCV.paper(**{"name": "plrr"} | options), un.BagRidgeCV.paper),
    "symmetric_noise": (
        lambda **options: un.datasets.symmetric_noise(**{"n_rows": 4, "n_columns": 2, "sd": 1.0} | options),
        un.datasets.symmetric_noise,
    ),
    "make_chi2_samples": (lambda **o: un.datasets.make_chi2_samples(**o), un.datasets.make_chi2_samples),
    "make_gamma_bags": (lambda **o: un.datasets.make_gamma_bags(**{"n_bags": 5} | o), un.datasets.make_gamma_bags),
    "make_aerosol_like": (
        lambda **o: un.datasets.make_aerosol_like(**{"n_bags": 5} | o),
        un.datasets.make_aerosol_like,
    ),
    "make_misr1_like": (lambda **o: un.datasets.make_misr1_like(**{"n_bags": 5} | o), un.datasets.make_misr1_like),
    "make_dark_matter_like": (
        lambda **o: un.datasets.make_dark_matter_like(**{"n_clusters": 5} | o),
        un.datasets.make_dark_matter_like,
    ),
    "make_demo_pairs": (lambda **o: un.datasets.make_demo_pairs(**o), un.datasets.make_demo_pairs),
    "simulate": (
        lambda **o: un.inference.simulate(**{"prior": PRIOR, "simulator": simulator, "n": 5} | o),
        un.inference.simulate,
    ),
    "moments": (lambda **o: un.inference.moments(**{"bag": ROWS} | o), un.inference.moments),
    "quantile_powers": (lambda **o: un.inference.quantile_powers(**{"bag": ROWS} | o), un.inference.quantile_powers),
    "padded": (lambda **o: un.inference.padded(BAGS, **o), un.inference.padded),
    "calibration": (
        lambda **o: un.inference.calibration(**{"abc": rejection(), "n": 3, "n_draws": 9, "progress": False} | o),
        un.inference.calibration,
    ),
    "posterior": (
        lambda **o: rejection().posterior(**{"observed": ROWS[:5, :1] ** 2} | o),
        un.inference.PhaseABC.posterior,
    ),
    "Posterior.interval": (lambda **o: posterior().interval(**o), un.inference.Posterior.interval),
    "Posterior.quantile": (lambda **o: posterior().quantile(**{"q": 0.5} | o), un.inference.Posterior.quantile),
    "Posterior.resample": (lambda **o: posterior().resample(**{"n": 5} | o), un.inference.Posterior.resample),
    "Posterior.cdf": (lambda **o: posterior().cdf(**{"theta": 1.0} | o), un.inference.Posterior.cdf),
    "Posterior.of": (
        lambda **o: un.inference.Posterior.of(**{"theta": Y, "weights": Y + 1} | o),
        un.inference.Posterior.of,
    ),
    "PhaseABC": (
        lambda **o: un.inference.PhaseABC(**ABC_OPTIONS | {"n_training": 30} | o).fit(),
        un.inference.PhaseABC,
    ),
    "RejectionABC": (lambda **o: un.inference.RejectionABC(**ABC_OPTIONS | o).fit(), un.inference.RejectionABC),
}
ABC_OPTIONS = {"prior": PRIOR, "simulator": simulator, "n_particles": 40, "progress": False, "random_state": 0}
# Simulators return as many rows as one asks for.
AS_ASKED = {
    ("a billion", option)
    for option in ("n_rows", "n_columns", "n_bags", "n_clusters", "n_lines_of_sight", "n", "n_particles", "n_training")
} | {("a billion", option) for option in ("n_draws", "n_repeats", "n_epochs", "repeats")}
# A function of somebody else's raises what it likes; workers take seconds to start, and files lie where they are told.
AS_ASKED |= {("a function", option) for option in ("kernel", "prior")} | {("negative", "n_jobs")}
FILES = {"cache"}


@cache
def ridge_model():
    return un.plrr(**RIDGE).fit(BAGS, Y)


@cache
def regressor():
    return un.BagRegressor(**SMALL).fit(BAGS, Y)


@cache
def rejection():
    return un.inference.RejectionABC(**ABC_OPTIONS, keep_rows=True).fit()


@cache
def posterior():
    return rejection().posterior(np.ones((5, 1)))


def used(model, X, y):
    """Fit a model, and return what it predicts or makes of the same bags."""
    model.fit(X, y) if y is not None else model.fit(X)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def parameter_calls(models=MODELS):
    """Yield models with one bad parameter each."""
    for name, (make, y) in models.items():
        for parameter in make().get_params(deep=False):
            for kind in VALUES:
                if (kind, parameter) not in AS_ASKED:
                    yield (
                        f"{name}({parameter}={kind})",
                        lambda m=make, t=y, p=parameter, k=kind: used(m(**{p: value_of(k)}), BAGS, t),
                    )


def option_calls():
    """Yield functions and methods with one bad option each."""
    for name, (function, signature) in FUNCTIONS.items():
        for option in options_of(signature):
            for kind in VALUES:
                if (kind, option) not in AS_ASKED and option not in FILES:
                    yield f"{name}({option}={kind})", lambda f=function, o=option, k=kind: f(**{o: value_of(k)})


def bag_calls(models=MODELS):
    """Yield models that are fitted to bags, or asked about bags, that are none or look harmless."""
    samples = TRICKY | {name: value for name, value in VALUES.items() if name != "an iterator"}
    for name, (make, y) in models.items():
        fitted = make()
        fitted.fit(BAGS, y) if y is not None else fitted.fit(BAGS)
        ask = fitted.predict if hasattr(fitted, "predict") else fitted.transform
        for kind, sample in samples.items():
            yield f"{name}.fit({kind})", lambda m=make, t=y, s=sample: used(m(), s, t)
            yield f"{name}.fit(bags of {kind})", lambda m=make, t=y, s=sample: used(m(), [s] * len(Y), t)
            yield f"{name} of {kind}", lambda a=ask, s=sample: a(s)
            yield f"{name} of bags of {kind}", lambda a=ask, s=sample: a([ROWS, s])
    for kind, sample in samples.items():
        yield f"Monitor({kind})", lambda s=sample: un.Monitor(s).update(ROWS[:20])
        yield f"Monitor.update({kind})", lambda s=sample: un.Monitor(ROWS).update(s)
        yield f"Monitor.update(X, {kind})", lambda s=sample: un.Monitor().update(ROWS[:30], s)
        yield f"check of {kind}", lambda s=sample: regressor().check(s).noise
        yield f"paired {kind}", lambda s=sample: un.compare(ROWS, s, paired=True)
        yield f"Bags of {kind} compared", lambda s=sample: un.compare(BAGS, [ROWS, s, ROWS])
        yield f"posterior of {kind}", lambda s=sample: rejection().posterior(s).mean()


def target_calls(models=MODELS):
    """Yield models with targets that are none, and with some that are extreme."""
    targets = {name: value for name, value in VALUES.items() if name != "an iterator"} | {
        "with NaN": np.where(Y == 3, np.nan, Y),
        "infinite": np.where(Y == 3, np.inf, Y),
        "equal": np.ones(16),
        "huge": Y * 1e300,
        "tiny": Y * 1e-300,
        "of several columns": np.stack([Y, Y], axis=1),
        "text": Y.astype(str),
        "mixed": np.array([1, "a"] * 8, dtype=object),
        "dates": Y.astype("datetime64[s]"),
        "complex": Y * 1j,
        "all different": np.array([f"class {i}" for i in range(16)]),
        "of one class": np.array(["a"] * 16),
        "with one of a class": np.array(["a"] * 15 + ["b"]),
        "too few": Y[:5],
    }
    for name, (make, y) in models.items():
        if y is not None:
            for kind, target in targets.items():
                yield f"{name}.fit(y={kind})", lambda m=make, t=target: used(m(), BAGS, t)


FAMILIES = {
    "parameters": parameter_calls,
    "options": option_calls,
    "bags": bag_calls,
    "targets": target_calls,
    "parameters of networks": lambda: parameter_calls(NETS),
    "bags of networks": lambda: bag_calls(NETS),
    "targets of networks": lambda: target_calls(NETS),
}
# Classes of results and warnings, what is only one of the models above by another name, and what has no arguments.
ELSEWHERE = {"BagCheck", "Comparison", "GroupComparison", "MonitorState", "RobustnessCurve", "TwoSampleResult"} | {
    "ggrr", "glrr", "lgrr", "pgrr", "plrr", "show_versions", "datasets", "inference", "nets", "plots", "scan_dask"
}  # fmt: skip


def test_every_public_name_is_in_a_sweep():
    text = "".join((Path(__file__).parent / name).read_text() for name in ("test_bad_calls.py", Path(__file__).name))
    public = {
        name
        for name in un.__all__
        if not (inspect.isclass(getattr(un, name)) and issubclass(getattr(un, name), Warning))
    }
    assert [name for name in sorted(public - ELSEWHERE) if f"un.{name}" not in text] == []


@pytest.mark.parametrize("family", [name for name in FAMILIES if "networks" not in name])
def test_some_bad_calls(family):
    calls = list(FAMILIES[family]())
    assert not faults_of(calls[7 :: max(1, len(calls) // 20)])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", range(4))
def test_all_bad_calls(family, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not faults_of(list(FAMILIES[family]())[part::4])
