"""Classification where classes differ in shape and each bag has its own noise level (beyond the paper).

A bag of 200 rows is chi-squared with 2 or 8 degrees of freedom, less its mean and over its standard deviation, so that
the classes have the same mean and variance; each bag has Gaussian noise of a variance that is uniform between 0 and 1.
400 bags to fit, 1,000 to test, as they are and with noise of larger variances (the signal has variance 1). The peer is
logistic regression on Fourier features of bags (mean embeddings); it is tuned by 3-fold cross-validation over 4 scales
and its penalties, and so are the networks over 4 settings: 2 scales and 2 penalties, or in the phase network plain
or shrunk phases and 2 penalties.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.experiments._figures import dots
from uptonoise.experiments._seeded import Problem, SeededExperiment
from uptonoise.experiments.networks import PLAIN
from uptonoise.learning import make_bag_classifier
from uptonoise.nets import FourierNetClassifier, PhaseNetClassifier

_FREEDOMS = np.array([2.0, 8.0])
_TRAINED = (0.0, 1.0)
_SHIFTED = {"noise as in training": _TRAINED, "noise 1 to 2": (1.0, 2.0), "noise 2 to 4": (2.0, 4.0)}
_NETWORKS: dict[str, Any] = {"n_frequencies": 40, "n_epochs": 30}
_PENALTIES = [1e-3, 1e-2]
_GRID: dict[str, Any] = {"scale_factor": [1.0, 2.0], "output_penalty": _PENALTIES}
_PHASE_GRID: dict[str, Any] = {"shrinkage": [0.0, 30.0], "output_penalty": _PENALTIES}


def noisy_classes(
    generator: np.random.Generator, n_bags: int, noise: tuple[float, float], n_rows: int = 200
) -> tuple[Bags, NDArray[np.int64]]:
    """Return bags of two classes of the same mean and variance, with noise of a variance in a range in each bag."""
    labels = generator.integers(2, size=n_bags)
    freedom = _FREEDOMS[labels][:, None, None]
    rows: Floats = (generator.chisquare(freedom, size=(n_bags, n_rows, 1)) - freedom) / np.sqrt(2 * freedom)
    sd = np.sqrt(generator.uniform(*noise, size=(n_bags, 1, 1)))
    return Bags(rows + sd * generator.standard_normal(rows.shape)), labels


def models(seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the models to compare, by name."""
    common = PLAIN | {"progress": False, "random_state": seed} | options
    noisy = common | {"noise_augmentation": 2.0}
    return {
        "mean embedding, logistic regression": make_bag_classifier("fourier", n_frequencies=75, random_state=seed),
        "Fourier network": GridSearchCV(FourierNetClassifier(**common), _GRID, cv=3),
        "phase network": GridSearchCV(PhaseNetClassifier(**common), _PHASE_GRID, cv=3),
        "phase network, plain phases": GridSearchCV(PhaseNetClassifier(**common), _GRID, cv=3),
        "phase network, against noise": GridSearchCV(PhaseNetClassifier(**noisy), _GRID, cv=3),
    }


def accuracy(
    seed: int, model: str, n_fit: int = 400, n_test: int = 1_000, options: dict[str, Any] = _NETWORKS
) -> dict[str, float]:
    """Return the share of bags that a model gets right, as in training and with other noise."""
    generator = np.random.default_rng(seed)
    bags, labels = noisy_classes(generator, n_fit, _TRAINED)
    fitted = models(seed, options)[model].fit(bags, labels)
    accuracies = {}
    for measure, noise in _SHIFTED.items():
        others, true = noisy_classes(generator, n_test, noise)
        accuracies[measure] = float(np.mean(fitted.predict(others) == true))
    return accuracies


MODELS = tuple(models(0, {}))

EXPERIMENT = SeededExperiment(
    "network-classes",
    __doc__.splitlines()[0],
    [Problem("shapes", MODELS, accuracy, {"networks": _NETWORKS, "grids": [_GRID, _PHASE_GRID]})],
    quick_problems=[
        Problem("shapes", MODELS, partial(accuracy, n_fit=60, n_test=60, options={"n_frequencies": 10, "n_epochs": 2}))
    ],
    draw=dots(("problem", "model"), None, "share of bags that are classified right"),
    uses_gpu=True,
)
