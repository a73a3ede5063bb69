"""Networks on bags whose frequencies are learnt from labels (the paper's Appendix D), in torch.

Plain torch modules, and scikit-learn estimators above them. They need ``pip install "uptonoise[torch]"``.
"""

try:
    import torch as _torch
except ImportError as error:
    raise ImportError('uptonoise.nets needs torch; pip install "uptonoise[torch]" brings it') from error

from uptonoise.nets.classifiers import FourierNetClassifier, PhaseNetClassifier
from uptonoise.nets.layers import FourierLayer, PhaseLayer
from uptonoise.nets.parameters import paper_grid
from uptonoise.nets.regressors import FourierNetRegressor, PhaseNetRegressor

__all__ = [
    "FourierLayer",
    "FourierNetClassifier",
    "FourierNetRegressor",
    "PhaseLayer",
    "PhaseNetClassifier",
    "PhaseNetRegressor",
    "paper_grid",
]
