import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, ParameterGrid, cross_val_score

from uptonoise import nets

from .helpers import BAGS, CLASSIFIERS, REGRESSORS, Y, gamma_bags, small


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
    assert len(ParameterGrid(nets.paper_grid())) == 4
    for one in ParameterGrid(nets.paper_grid()):
        nets.PhaseNetClassifier.paper().set_params(**one)


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
        ({"noise_augmentation": -1.0}, "noise_augmentation must be a noise size that is not negative"),
        ({"noise_augmentation": (0.5, 1.0)}, "one noise size for a network.*GridSearchCV tries several"),
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
        ({"device": 10**30}, "device must be"),
        ({"hidden": np.array([4.0, 2.0])}, "each width in hidden must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        small(nets.PhaseNetRegressor, **options).fit(BAGS, Y)
