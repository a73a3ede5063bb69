"""The settings of the paper's networks (its appendix G.2, and its authors' public code), and what it tunes."""

from __future__ import annotations

from typing import Any

PAPER_SETTINGS: dict[str, Any] = {
    "hidden": (),
    "scale": "median",
    "learning_rate": 0.03,
    "normalisation": "batch",
    "batch_size": 10,
    "n_epochs": 120,
    "decay": None,
    "schedule": "cumulative",
    "epsilon": 1e-3,
    "validation_fraction": 0.0,
    "solve_output": False,
    "noise_augmentation": None,
    "steady": False,
}


def paper_grid() -> list[dict[str, list[Any]]]:
    """Return what the paper tunes by 3-fold cross-validation, as a grid of 4 settings for ``GridSearchCV``.

    The paper names the parameters (learning rate, a penalty for each layer, number of frequencies) and not their
    values, which are ours, but for the 60 frequencies of its authors' public code.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, ParameterGrid
    >>> from uptonoise.nets import PhaseNetRegressor, paper_grid
    >>> search = GridSearchCV(PhaseNetRegressor.paper(random_state=0), paper_grid(), cv=3)
    >>> len(ParameterGrid(paper_grid()))
    4
    """
    return [
        {
            "learning_rate": [0.003, 0.03],
            "n_frequencies": [60],
            "frequency_penalty": [penalty],
            "output_penalty": [penalty],
        }
        for penalty in (1e-3, 1e-2)
    ]
