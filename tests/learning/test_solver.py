import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

import uptonoise as un


def gamma_bags(n_bags=60, seed=0, d=2, sizes=(5, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(first="phase", second=None, **options):
    settings = {"n_frequencies": 15, "n_second": 20, "scale_factors": (0.5, 2.0), "second_scale_factors": (1.0, 3.0)}
    return un.BagRidgeCV(first, second, random_state=0, **(settings | options))


@pytest.mark.parametrize(
    ("first", "second"), [("phase", None), ("fourier", None), ("mean", "fourier"), ("phase", "fourier")]
)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_model_is_scikit_learns_ridge_on_the_same_features(first, second, intercept):
    bags, y = gamma_bags()
    model = small(first, second, steady=False, fit_intercept=intercept).fit(bags, y)
    reference = Ridge(alpha=model.best_params_["alpha"], fit_intercept=intercept, solver="svd")
    reference.fit(model.transform(bags), y)
    others, _ = gamma_bags(seed=1)
    np.testing.assert_allclose(model.predict(others), reference.predict(model.transform(others)), rtol=1e-6)


@pytest.mark.parametrize("cv", [KFold(4), ShuffleSplit(3, random_state=0), PredefinedSplit([-1] * 40 + [0] * 20)])
def test_errors_of_folds_are_those_of_fits_one_by_one(cv):
    bags, y = gamma_bags()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(bags))
    model = small(cv=cv, scale_factors=(1.5,), alphas=(1e-3, 1.0)).fit(bags, y, sample_weight=weights)
    F = model.transform(bags)
    for place, alpha in enumerate((1e-3, 1.0)):
        for number, (train, test) in enumerate(cv.split(np.arange(len(bags)))):
            fitted = Ridge(alpha=alpha, solver="svd").fit(F[train], y[train], sample_weight=weights[train])
            error = np.average((y[test] - fitted.predict(F[test])) ** 2, weights=weights[test])
            assert -model.cv_results_[f"split{number}_test_score"][place] == pytest.approx(error, rel=1e-6)
