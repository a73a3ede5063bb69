"""Kernel ridge regression on bags with exact mean embeddings: the distribution regression of DR-ABC.

With K the Gaussian kernel between embeddings of the n bags of training, predictions are K(X, train) (K + alpha)^-1 y.
Leaving one bag out changes its prediction by r_i / (1 - H_ii), r the residual and H = K (K + alpha)^-1, so that one
eigendecomposition judges all penalties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.typing import Floats
from uptonoise.fourier import embedding_kernel, median_scale
from uptonoise.learning import as_bags, checked_numbers, checked_targets

_ALPHAS = tuple(np.geomspace(1e-6, 1e2, 17).tolist())


class KernelBagRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression with a Gaussian kernel between the exact mean embeddings of bags.

    It takes a time proportional to the rows of training times the rows to predict from.

    Parameters
    ----------
    scale_factors : sequence of float
        The lengths of the kernel between rows to try, in units of the median heuristic.
    alphas : sequence of float
        The penalties to try. Both are chosen by leaving one bag out.

    Attributes
    ----------
    best_params_ : dict
        The scale factor and the penalty that had the smallest error.
    best_score_ : float
        Minus that error, a mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import KernelBagRidge
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.uniform(1, 6, size=80)
    >>> bags = rng.gamma(shapes[:, None, None], size=(80, 40, 1))
    >>> KernelBagRidge().fit(bags[:60], shapes[:60]).score(bags[60:], shapes[60:]) > 0.8
    True
    """

    def __init__(self, scale_factors: Sequence[float] = (0.5, 1.0, 2.0), alphas: Sequence[float] = _ALPHAS) -> None:
        self.scale_factors = scale_factors
        self.alphas = alphas

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Choose scale and penalty, and fit on all bags.

        Parameters
        ----------
        X : Bags, list of arrays, or 3-D array
            The bags.
        y : array of shape (n_bags,) or (n_bags, n_targets)
            The targets.

        Returns
        -------
        self
        """
        bags = as_bags(X)
        targets = checked_targets(y, len(bags), vary=False)
        table = targets[:, None] if targets.ndim == 1 else targets
        mean = table.mean(axis=0)
        median = float(median_scale(bags))
        best, alphas = np.inf, checked_numbers("alphas", self.alphas).tolist()
        for factor in checked_numbers("scale_factors", self.scale_factors).tolist():
            scale = median * factor
            inner = embedding_kernel(bags, scale=scale)
            norms = np.diag(inner)
            apart = np.maximum(norms[:, None] + norms - 2 * inner, 0.0)
            length = float(np.sqrt(np.median(apart[np.triu_indices(len(bags), 1)]) / 2)) or 1.0
            values, vectors = np.linalg.eigh(np.exp(-apart / (2 * length**2)))
            rotated = vectors.T @ (table - mean)
            for alpha in alphas:
                damped = 1 / (np.maximum(values, 0) + alpha)
                weights = vectors @ (rotated * damped[:, None])
                # r_i / (1 - H_ii) = weight_i / (inverse of K + alpha)_ii
                error = float(np.mean((weights / (vectors**2 @ damped)[:, None]) ** 2))
                if error < best:
                    best, self.dual_coef_, self.best_score_ = error, weights, -error
                    self.scale_, self.second_scale_ = scale, length
                    self.best_params_ = {"scale_factor": factor, "alpha": alpha}
        self.bags_, self.intercept_, self._y_is_flat = bags, mean, targets.ndim == 1
        self.n_features_in_ = bags.n_columns
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the target of each bag: an array with the shape of the targets of fit."""
        check_is_fitted(self)
        kernel = embedding_kernel(X, self.bags_, scale=self.scale_, second="gaussian", second_scale=self.second_scale_)
        predicted = kernel @ self.dual_coef_ + self.intercept_
        return np.asarray(predicted[:, 0] if self._y_is_flat else predicted)
