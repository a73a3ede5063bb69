"""The paper's experiments and ours, a module for each figure or table: ``uptonoise reproduce NAME``.

A module that does not begin with an underscore is an experiment: its docstring says what the paper shows, and its
``EXPERIMENT`` runs and draws it. So a new one is a new file, and nothing else.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uptonoise.experiments._experiment import Experiment

NAMES = tuple(
    sorted(module.name.replace("_", "-") for module in iter_modules(__path__) if not module.name.startswith("_"))
)
"""The names of all experiments."""


def load(name: str) -> Experiment:
    """Return an experiment by its name.

    Examples
    --------
    >>> from uptonoise.experiments import load
    >>> load("chi2-power").repetitions
    1000
    >>> load("chi2-pow")
    Traceback (most recent call last):
        ...
    ValueError: there is no experiment 'chi2-pow'; did you mean chi2-power?
    """
    if name not in NAMES:
        from difflib import get_close_matches

        near = get_close_matches(name, NAMES, 1, cutoff=0.3)
        hint = f"did you mean {near[0]}?" if near else "uptonoise reproduce --list names all"
        raise ValueError(f"there is no experiment {name!r}; {hint}")
    experiment: Experiment = import_module(f"{__name__}.{name.replace('-', '_')}").EXPERIMENT
    return experiment


def title(name: str) -> str:
    """Return the first line of what an experiment says about itself, without importing what it needs."""
    source = Path(__path__[0], f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
