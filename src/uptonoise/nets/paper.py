"""The settings of the paper's networks (its appendix G.2), and what it tunes."""

from __future__ import annotations

from typing import Any

PAPER_SETTINGS: dict[str, Any] = {
    "normalisation": "batch",
    "batch_size": 10,
    "n_epochs": 120,
    "decay": None,
    "validation_fraction": 0.0,
    "solve_output": False,
}


def paper_grid() -> list[dict[str, list[Any]]]:
    """Return what the paper tunes by 3-fold cross-validation, as a grid of 8 settings for ``GridSearchCV``.

    The paper names the parameters (learning rate, a penalty for each layer, number of frequencies) and not their
    values, which are ours.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, ParameterGrid
    >>> from uptonoise.nets import PhaseNetRegressor, paper_grid
    >>> search = GridSearchCV(PhaseNetRegressor.paper(random_state=0), paper_grid(), cv=3)
    >>> len(ParameterGrid(paper_grid()))
    8
    """
    penalties = [(1e-3, 1e-3), (1e-2, 1e-2)]
    return [
        {
            "learning_rate": [0.003, 0.03],
            "n_frequencies": [30, 60],
            "frequency_penalty": [of_frequencies],
            "output_penalty": [of_output],
        }
        for of_frequencies, of_output in penalties
    ]
